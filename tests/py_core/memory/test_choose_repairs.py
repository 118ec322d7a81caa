"""The selection is the best closure there is, and the smallest of the best."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from py_core.memory.choose_repairs import Repairable, choose_repairs, find_executable

NAMES = "abcdefg"


@st.composite
def offers(draw):
    """Draw up to seven records, needs pointing anywhere, circles included."""
    names = NAMES[: draw(st.integers(1, 7))]
    return {
        name: Repairable(
            gain=draw(st.integers(-10, 10)),
            needs=tuple(draw(st.sets(st.sampled_from(names), max_size=2)) - {name}),
            is_executable=draw(st.integers(0, 5)) > 0,
        )
        for name in names
    }


def list_closures(items):
    """Give every set of executable records that comes with what it needs."""
    usable = sorted(find_executable(items))
    for size in range(len(usable) + 1):
        for chosen in combinations(usable, size):
            if all(need in chosen for name in chosen for need in items[name].needs):
                yield frozenset(chosen)


@settings(max_examples=200, deadline=None)
@given(offers())
def test_no_closure_is_better_and_no_equal_one_is_smaller(items):
    """Compared with all closures, written out."""
    best = choose_repairs(items)
    gains = {chosen: sum(items[name].gain for name in chosen) for chosen in list_closures(items)}

    assert gains[best] == max(gains.values())
    assert all(best <= chosen for chosen, gain in gains.items() if gain == gains[best])


def test_a_good_record_pulls_in_what_it_needs():
    """A loss is taken for a larger gain behind it."""
    items = {"low": Repairable(-2, (), True), "high": Repairable(5, ("low",), True)}
    assert choose_repairs(items) == {"low", "high"}


def test_a_circle_is_never_rebuilt():
    """Two records that need each other have no first one."""
    items = {"a": Repairable(9, ("b",), True), "b": Repairable(9, ("a",), True)}
    assert choose_repairs(items) == frozenset()


def test_what_needs_something_that_cannot_be_rebuilt_stays_out():
    """Being executable is a property of the whole chain."""
    items = {"a": Repairable(9, (), False), "b": Repairable(9, ("a",), True)}
    assert find_executable(items) == frozenset()
