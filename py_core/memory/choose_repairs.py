"""Which withdrawn records are worth rebuilding, decided by one minimum cut.

Takes records with a gain and the withdrawn records each is made of, gives the set with the largest
total gain in which every record comes with those it is made of (a maximum-weight closure). Among
equal sets it is the smallest one. Does not know texts or how anything is rebuilt.

Source: MemoRepair (arXiv 2605.07242), section on repair selection; closure by a minimum cut.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from py_core.memory.max_flow import UNBOUNDED, Edge, FlowGraph


@dataclass(frozen=True, slots=True)
class Repairable:
    """One withdrawn record.

    Attributes:
        gain: its value minus the weighted cost of rebuilding it; negative when not worth it.
        needs: the withdrawn records that must come back with it.
        is_executable: whether it can be rebuilt at all.
    """

    gain: int
    needs: tuple[str, ...]
    is_executable: bool


def find_executable(items: Mapping[str, Repairable]) -> frozenset[str]:
    """Give those that can be rebuilt with everything they need; a circle never can."""
    waiting = {key: len(set(item.needs)) for key, item in items.items()}
    dependants: dict[str, list[str]] = {}
    for key, item in items.items():
        for need in set(item.needs):
            dependants.setdefault(need, []).append(key)
    ready = [key for key, count in waiting.items() if count == 0 and items[key].is_executable]
    found: set[str] = set()
    while ready:
        key = ready.pop()
        found.add(key)
        for dependant in dependants.get(key, ()):
            waiting[dependant] -= 1
            if waiting[dependant] == 0 and items[dependant].is_executable:
                ready.append(dependant)
    return frozenset(found)


def choose_repairs(items: Mapping[str, Repairable]) -> frozenset[str]:
    """Choose the closure of largest gain.

    Example:
        a summary of gain 5 that needs another of gain -2 comes with it: total 3.
    """
    usable = sorted(find_executable(items))
    number = {key: index + 2 for index, key in enumerate(usable)}
    source, sink = 0, 1
    edges = list(_list_edges(items, number))
    graph = FlowGraph(len(usable) + 2, edges)
    graph.saturate(source, sink)
    kept = graph.find_source_side(source)
    return frozenset(key for key in usable if number[key] in kept)


def _list_edges(items: Mapping[str, Repairable], number: Mapping[str, int]) -> Iterable[Edge]:
    for key, node in number.items():
        gain = items[key].gain
        if gain > 0:
            yield (0, node, gain)
        elif gain < 0:
            yield (node, 1, -gain)
        for need in sorted(set(items[key].needs)):
            yield (node, number[need], UNBOUNDED)
