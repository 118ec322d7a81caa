"""Find the number of threads that computes fastest here, by a short timing.

Takes a port and a function that runs a sample of the model's work with a team or alone.
Gives the team to use now, step by step: it never waits for threads that are still starting, and
the first work is not kept waiting for a timing. Does not know models. Numbers of threads are tried
by halves, from all that the machine has.
"""

from collections.abc import Callable
from time import perf_counter

from kernels.simd.port import KernelPort

_REPEATS = 3
_TOO_SLOW = 2.0
"""A team that takes so many times as long as one thread is ended. One that is only a little slower
is kept: the machine may be busy just now, and `team_pace` decides for each token."""


class TeamChoice:
    """Tries each number of threads once, then settles.

    Args:
        port: starts and ends the threads.
        run_sample: does some work with the team at an address, or alone for 0; gives false when
            the team lost a thread.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        port: KernelPort,
        run_sample: Callable[[int], bool],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._port = port
        self._run_sample = run_sample
        self._clock = clock
        self._untried = _halves(port.seats)
        self._times: dict[int, float] = {}
        self._now_trying = 1
        self._is_first = True
        self.is_settled = not self._untried
        if self._untried:
            self._try_next()

    @property
    def seats(self) -> int:
        """Threads of the team in use."""
        return self._now_trying if self.is_settled else 1

    def settle(self) -> int:
        """Make the next step if its threads are there; give the team to use from now on."""
        team = self._port.ready_team()
        if self.is_settled or not team:
            return team if self.is_settled else 0
        if self._is_first:
            self._is_first = False
            return team  # most often the best; the timing follows with the next work
        if self._now_trying in self._times:
            self.is_settled = True
            return team
        if 1 not in self._times:
            self._times[1] = self._time(0)
        self._times[self._now_trying] = self._time(team)
        if self._untried:
            self._try_next()
            return 0
        return self._take_best(team)

    def give_up(self) -> None:
        """Go on alone: the team failed."""
        self.is_settled, self._now_trying = True, 1
        self._port.dismiss_team()

    def _take_best(self, team: int) -> int:
        alone = self._times.pop(1)
        best = min(self._times, key=lambda seats: (self._times[seats], seats))
        if self._times[best] > _TOO_SLOW * alone:
            self.give_up()
            return 0
        if best == self._now_trying:
            self.is_settled = True
            return team
        self._now_trying = best
        self._port.start_team(best)
        return 0

    def _try_next(self) -> None:
        self._now_trying = self._untried.pop(0)
        self._port.start_team(self._now_trying)

    def _time(self, team: int) -> float:
        """Give the best of a few times in seconds; infinite when the team lost a thread."""
        best = float("inf")
        for _ in range(_REPEATS):
            begin = self._clock()
            if not self._run_sample(team):
                return float("inf")
            best = min(best, self._clock() - begin)
        return best


def _halves(seats: int) -> list[int]:
    found = []
    while seats > 1:
        found.append(seats)
        seats //= 2
    return found
