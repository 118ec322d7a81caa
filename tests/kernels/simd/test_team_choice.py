"""The number of threads is the fastest that was timed, and nothing waits for threads."""

from kernels.simd.port import KernelPort
from kernels.simd.team_choice import TeamChoice


class Threads:
    """Starts teams that are there when the test says so; a team's address is its size times 100."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self.started: list[int] = []
        self.is_ready = False
        self.is_dismissed = False

    def start_team(self, seats: int) -> None:
        """Note the size."""
        self.started.append(seats)

    def ready_team(self) -> int:
        """Give the address of the last one."""
        return self.started[-1] * 100 if self.is_ready and not self.is_dismissed else 0

    def dismiss_team(self) -> None:
        """Note it."""
        self.is_dismissed = True


def choose(seats: int, seconds: dict[int, float]) -> tuple[TeamChoice, Threads]:
    """Make a choice where a sample with so many seats (0: alone) takes so many seconds."""
    threads, now = Threads(seats), [0.0]

    def run_sample(team: int) -> bool:
        now[0] += seconds[team // 100]
        return True

    port: KernelPort = threads  # type: ignore[assignment]
    return TeamChoice(port, run_sample, lambda: now[0]), threads


def settle(choice: TeamChoice) -> int:
    """Step until it is settled."""
    team = 0
    for _ in range(10):
        team = choice.settle()
    assert choice.is_settled
    return team


def test_a_single_core_starts_nothing():
    """There is nothing to choose."""
    choice, threads = choose(1, {})
    assert choice.is_settled
    assert threads.started == []


def test_while_threads_are_starting_one_thread_computes():
    """No team is used and nothing is timed."""
    choice, threads = choose(2, {})
    assert [choice.settle() for _ in range(3)] == [0, 0, 0]
    assert threads.started == [2]
    assert choice.seats == 1


def test_the_fastest_number_wins():
    """Eight are tried first, then four, then two; four is started again, being the best."""
    choice, threads = choose(8, {0: 40, 8: 30, 4: 2, 2: 20})
    threads.is_ready = True
    assert settle(choice) == 400
    assert threads.started == [8, 4, 2, 4]
    assert choice.seats == 4


def test_threads_that_do_not_help_are_ended():
    """As on a machine whose cores are busy with other work."""
    choice, threads = choose(2, {0: 2, 2: 40})
    threads.is_ready = True
    assert settle(choice) == 0
    assert threads.is_dismissed
    assert choice.seats == 1


def test_the_first_work_is_not_kept_waiting_for_a_timing():
    """All threads take part in it as they are; only the next work times them."""
    choice, threads = choose(2, {0: 40, 2: 20})
    threads.is_ready = True
    assert choice.settle() == 200
    assert not choice.is_settled
    assert settle(choice) == 200


def test_threads_that_are_a_little_slower_just_now_are_kept():
    """The machine may have been busy during the timing; single tokens are timed again later."""
    choice, threads = choose(2, {0: 2, 2: 3})
    threads.is_ready = True
    assert settle(choice) == 200
    assert not threads.is_dismissed
