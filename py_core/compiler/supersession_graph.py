"""The directed graph of "newer stands in the place of older".

Takes edges between record ids, gives those that may act and the groups that run in a circle.
Iterative, in time linear in nodes and edges. Does not know records or tiers.
"""

from collections.abc import Iterable, Mapping

Edges = Mapping[str, tuple[str, ...]]


def gather_edges(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """Collect (newer, older) pairs into sorted successor lists, each edge once."""
    found: dict[str, set[str]] = {}
    for newer, older in pairs:
        found.setdefault(newer, set()).add(older)
        found.setdefault(older, set())
    return {node: tuple(sorted(found[node])) for node in sorted(found)}


def find_components(edges: Edges) -> dict[str, str]:
    """Give every node the smallest id of its strongly connected component.

    Two passes: nodes in the order in which a depth-first walk leaves them, then a walk of the
    reversed graph in the reverse of that order.
    """
    reverse: dict[str, list[str]] = {node: [] for node in edges}
    for node, targets in edges.items():
        for target in targets:
            reverse[target].append(node)
    component: dict[str, str] = {}
    for root in reversed(_leave_order(edges)):
        if root in component:
            continue
        members, stack = [], [root]
        component[root] = root
        while stack:
            node = stack.pop()
            members.append(node)
            for source in reverse[node]:
                if source not in component:
                    component[source] = root
                    stack.append(source)
        name = min(members)
        component.update(dict.fromkeys(members, name))
    return component


def find_cycles(component: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Give the components of two nodes and more, each sorted, in the order of their names."""
    members: dict[str, list[str]] = {}
    for node, name in component.items():
        members.setdefault(name, []).append(node)
    return [tuple(sorted(group)) for _, group in sorted(members.items()) if len(group) > 1]


def topological_order(edges: Edges) -> list[str]:
    """Order the nodes of a graph without circles so that newer stands before older."""
    return list(reversed(_leave_order(edges)))


def _leave_order(edges: Edges) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()
    for root in edges:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(edges[root]))]
        while stack:
            node, targets = stack[-1]
            fresh = next((target for target in targets if target not in seen), None)
            if fresh is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(fresh)
                stack.append((fresh, iter(edges[fresh])))
    return order
