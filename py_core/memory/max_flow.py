"""Maximum flow with integer capacities, and the smallest source side of a minimum cut.

Takes directed edges between numbered nodes, gives the nodes that the source still reaches when the
flow is full. That set is the same for every maximum flow, so the answer does not depend on the
order of edges. Dinic's algorithm, iterative. The packages that offer this are 2 MB (networkx) and
more, with an import that a tab would feel; the tests compare with networkx. Does not know records.
"""

from collections import deque
from collections.abc import Iterable

UNBOUNDED = 2**62

Edge = tuple[int, int, int]
"""From, to, capacity."""


class FlowGraph:
    """Edges in pairs: each edge has its reverse at the index with the last bit flipped."""

    def __init__(self, node_count: int, edges: Iterable[Edge]) -> None:
        """Take the edges; parallel ones add up."""
        self._edges_of: list[list[int]] = [[] for _ in range(node_count)]
        self._target: list[int] = []
        self._room: list[int] = []
        for begin, end, capacity in edges:
            for node, target, room in ((begin, end, capacity), (end, begin, 0)):
                self._edges_of[node].append(len(self._target))
                self._target.append(target)
                self._room.append(room)

    def saturate(self, source: int, sink: int) -> int:
        """Push as much as goes from source to sink and give the amount."""
        pushed = 0
        while (levels := self._find_levels(source))[sink] >= 0:
            next_edge = [0] * len(self._edges_of)
            while path := self._find_path(source, sink, levels, next_edge):
                amount = min(self._room[edge] for edge in path)
                for edge in path:
                    self._room[edge] -= amount
                    self._room[edge ^ 1] += amount
                pushed += amount
        return pushed

    def find_source_side(self, source: int) -> frozenset[int]:
        """Give the nodes that the source still reaches: the smallest source side."""
        levels = self._find_levels(source)
        return frozenset(node for node, level in enumerate(levels) if level >= 0)

    def _find_levels(self, source: int) -> list[int]:
        levels = [-1] * len(self._edges_of)
        levels[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for edge in self._edges_of[node]:
                target = self._target[edge]
                if self._room[edge] > 0 and levels[target] < 0:
                    levels[target] = levels[node] + 1
                    queue.append(target)
        return levels

    def _find_path(
        self, source: int, sink: int, levels: list[int], next_edge: list[int]
    ) -> list[int]:
        """Walk down the levels; a node whose edges are used up is never entered again."""
        path: list[int] = []
        node = source
        while node != sink:
            edge = self._find_open_edge(node, levels, next_edge)
            if edge is not None:
                path.append(edge)
                node = self._target[edge]
            elif path:
                node = self._target[path.pop() ^ 1]
                next_edge[node] += 1
            else:
                return []
        return path

    def _find_open_edge(self, node: int, levels: list[int], next_edge: list[int]) -> int | None:
        edges = self._edges_of[node]
        while next_edge[node] < len(edges):
            edge = edges[next_edge[node]]
            if self._room[edge] > 0 and levels[self._target[edge]] == levels[node] + 1:
                return edge
            next_edge[node] += 1
        return None
