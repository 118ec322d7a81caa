"""Packing: lanes by share, one fixed order, and never a loss when the room grows."""

from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.packing import pack_beginning, weave_lanes

SHARES = {"status": 600_000, "handoff": 400_000}

items = st.lists(st.tuples(st.integers(1, 50), st.sampled_from(["status", "handoff"])), max_size=30)


def weave(given_items):
    """Weave items of (cost, lane) in their order of rank."""
    lanes: dict[str, list[tuple[int, tuple[int, int]]]] = {"status": [], "handoff": []}
    for rank, (cost, lane) in enumerate(given_items):
        lanes[lane].append((rank, (rank, cost)))
    return list(weave_lanes(lanes, SHARES, lambda item: item[1]))


def test_lanes_alternate_by_their_shares():
    """60 to 40 with items of one size gives three of the one to two of the other."""
    given_items = [(10, "status")] * 6 + [(10, "handoff")] * 4
    order = ["status" if rank < 6 else "handoff" for rank, _ in weave(given_items)]
    assert order == ["status", "handoff"] * 2 + ["status"] + ["status", "handoff"] * 2 + ["status"]


def test_a_lane_that_runs_out_leaves_its_share():
    """Unused quota returns to the other lane."""
    woven = weave([(10, "handoff"), (10, "handoff"), (10, "handoff")])
    assert [rank for rank, _ in woven] == [0, 1, 2]


def test_costs_are_only_asked_for_what_is_taken():
    """A record that is never reached is never counted."""
    asked = []

    def cost(item):
        asked.append(item)
        return 10

    lanes = {"status": [(rank, rank) for rank in range(1000)], "handoff": []}
    packed = pack_beginning(weave_lanes(lanes, SHARES, cost), 25, cost)
    assert packed.chosen == (0, 1)
    assert packed.blocked == 2
    assert max(asked) <= 2


@given(items, st.integers(0, 400), st.integers(0, 200))
def test_a_larger_room_holds_all_that_a_smaller_one_held(given_items, room, growth):
    """Monotone packing, for every order, cost and room."""
    woven = weave(given_items)
    small = pack_beginning(woven, room, lambda item: item[1])
    large = pack_beginning(woven, room + growth, lambda item: item[1])
    assert large.chosen[: len(small.chosen)] == small.chosen
    assert small.cost_tokens <= room


@given(items)
def test_weaving_loses_and_adds_nothing(given_items):
    """Every item comes out once, and each lane keeps its order."""
    woven = weave(given_items)
    assert sorted(rank for rank, _ in woven) == list(range(len(given_items)))
    for lane in SHARES:
        ranks = [rank for rank, _ in woven if given_items[rank][1] == lane]
        assert ranks == sorted(ranks)
