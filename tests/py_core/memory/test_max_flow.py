"""Our own maximum flow equals an independent implementation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_core.memory.max_flow import FlowGraph

NODES = 8
EDGES = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(0, 50)).filter(
        lambda edge: edge[0] != edge[1]
    ),
    max_size=30,
    unique_by=lambda edge: edge[:2],
)


@settings(max_examples=150, deadline=None)
@given(EDGES)
def test_flow_and_smallest_source_side_equal_networkx(edges):
    """The amount is the maximum, and the side is that of the residual graph."""
    nx = pytest.importorskip("networkx")
    ours = FlowGraph(NODES, edges)
    theirs = nx.DiGraph()
    theirs.add_nodes_from(range(NODES))
    theirs.add_weighted_edges_from(edges, weight="capacity")
    residual = nx.algorithms.flow.edmonds_karp(theirs, 0, NODES - 1)

    assert ours.saturate(0, NODES - 1) == residual.graph["flow_value"]
    open_edges = [
        (begin, end)
        for begin, end, data in residual.edges(data=True)
        if data["capacity"] > data["flow"]
    ]
    reached = nx.descendants(nx.DiGraph([*open_edges, (0, 0)]), 0) | {0}
    assert ours.find_source_side(0) == reached


@settings(max_examples=60, deadline=None)
@given(EDGES, st.randoms(use_true_random=False))
def test_order_of_edges_changes_nothing(edges, shuffler):
    """The smallest source side is unique."""
    shuffled = list(edges)
    shuffler.shuffle(shuffled)
    sides = []
    for order in (edges, shuffled):
        graph = FlowGraph(NODES, order)
        graph.saturate(0, NODES - 1)
        sides.append(graph.find_source_side(0))
    assert sides[0] == sides[1]


def test_a_textbook_network_has_its_known_flow():
    """Cormen et al., figure of the flow network with value 23."""
    edges = [
        (0, 1, 16), (0, 2, 13), (2, 1, 4), (1, 3, 12), (3, 2, 9), (2, 4, 14), (4, 3, 7),
        (3, 5, 20), (4, 5, 4),
    ]  # fmt: skip
    graph = FlowGraph(6, edges)

    assert graph.saturate(0, 5) == 23
    assert graph.find_source_side(0) == {0, 1, 2, 4}
