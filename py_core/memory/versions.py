"""All versions of one memory: what it replaced and what replaced it.

Takes heads and one of them, gives the ids of its whole chain. A chain that bites its own tail, as a
foreign file may bring one, ends where it began. Does not know which version counts.
"""

from collections.abc import Iterable, Mapping

from py_core.store.head_table import as_table
from py_core.store.heads import Head, Standing


def find_versions(heads: Mapping[str, Head], head: Head) -> tuple[str, ...]:
    """Give the ids of all versions that are still there, sorted; the record's own among them."""
    table = as_table(heads)
    found, waiting = {head.record_id}, [head.record_id]
    while waiting:
        current = heads[waiting.pop()]
        replaced_by = current.withdrawn_by if current.standing is Standing.SUPERSEDED else ()
        newer = [
            other.record_id
            for other in table.newer_than(current.record_id)
            if other.kind != "Tombstone"
        ]
        for near in (*current.supersedes, *newer, *replaced_by):
            if near in heads and near not in found:
                found.add(near)
                waiting.append(near)
    return tuple(sorted(found))


def find_circle(links: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Give the ids of a circle in "newer names older", or none."""
    done: set[str] = set()
    for begin in sorted(links):
        path: dict[str, None] = {}
        stack = [(begin, False)]
        while stack:
            node, is_left = stack.pop()
            if is_left:
                path.pop(node)
                done.add(node)
            elif node in path:
                names = list(path)
                return tuple(names[names.index(node) :])
            elif node not in done:
                path[node] = None
                stack.append((node, True))
                stack += [(older, False) for older in sorted(links.get(node, ()))]
    return ()
