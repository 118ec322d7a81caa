"""The graph of replacements: order, circles, and no recursion limit."""

from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.supersession_graph import (
    find_components,
    find_cycles,
    gather_edges,
    topological_order,
)

names = st.integers(0, 12).map(str)
pair_lists = st.lists(st.tuples(names, names), max_size=40)


def reach(edges, start):
    """Give all nodes that can be reached."""
    seen, stack = set(), [start]
    while stack:
        for target in edges[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


@given(pair_lists)
def test_components_are_mutual_reachability(pairs):
    """Two nodes share a component exactly when each reaches the other."""
    edges = gather_edges(pairs)
    component = find_components(edges)
    for one in edges:
        for other in edges:
            mutual = other in reach(edges, one) and one in reach(edges, other)
            assert (component[one] == component[other]) == (mutual or one == other)


@given(pair_lists)
def test_newer_stands_before_older_once_circles_are_gone(pairs):
    """A topological order of the links that hold."""
    component = find_components(gather_edges(pairs))
    kept = [(a, b) for a, b in pairs if component[a] != component[b]]
    place = {node: index for index, node in enumerate(topological_order(gather_edges(kept)))}
    assert all(place[newer] < place[older] for newer, older in kept)


def test_a_chain_of_a_hundred_thousand_needs_no_stack():
    """Iterative walks: no recursion limit is met."""
    pairs = [(f"{i:06}", f"{i + 1:06}") for i in range(100_000)]
    assert topological_order(gather_edges(pairs))[0] == "000000"


def test_circles_are_named_by_their_members():
    """Each circle once, sorted."""
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("x", "y"), ("y", "x")]
    cycles = find_cycles(find_components(gather_edges(pairs)))
    assert cycles == [("a", "b", "c"), ("x", "y")]
