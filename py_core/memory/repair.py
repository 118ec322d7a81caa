"""Withdraw first, then rebuild what is worth it: barrier, selection, publication.

Takes the ledger's heads and the records that change or go; gives a plan that a person can read, the
edit that withdraws everything at once, and, with rebuilt records, the edit that publishes them. A
rebuilt record never takes the place of an old one before it passed every check; whatever fails
stays withdrawn with all that needs it. Does not know how a record is rebuilt.

Source: MemoRepair (arXiv 2605.07242): cone, barrier, closure, ordered publication.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from py_core.memory.choose_repairs import Repairable, choose_repairs, find_executable
from py_core.memory.influence import Root, Spread, find_cone
from py_core.records.kinds import Record
from py_core.store.edits import Edit, Entry, Restand, Snapshot
from py_core.store.heads import Head, Standing

COST_WEIGHT_PPM = 170_000
"""How much of a value one unit of cost takes away."""

PPM = 1_000_000

Verdict = Literal["rebuild", "not_rebuildable", "not_worth_it", "has_no_sources"]


class RepairShop(Protocol):
    """What can be rebuilt, at what price, and what it is worth."""

    def find_cost(self, head: Head, support: tuple[str, ...]) -> int | None:
        """Cost of rebuilding from these sources; None when nobody can."""

    def find_value(self, head: Head) -> int:
        """Worth of having the record again."""


@dataclass(frozen=True, slots=True)
class Affected:
    """One withdrawn record and what becomes of it.

    Attributes:
        head: the record in short, as it was.
        support: the serving sources it would be rebuilt from; replaced ones by their new id.
        needs: the withdrawn records that must be published before it.
    """

    head: Head
    spread: Spread
    verdict: Verdict
    support: tuple[str, ...]
    needs: tuple[str, ...]
    cost: int
    value: int

    @property
    def record_id(self) -> str:
        """The id of the withdrawn record."""
        return self.head.record_id


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """The whole cone, each record behind those it needs; circles come last.

    Attributes:
        old_versions: records of the cone that had been replaced before; a deletion reaches them.
    """

    roots: tuple[Root, ...]
    affected: tuple[Affected, ...]
    old_versions: tuple[str, ...] = ()

    @property
    def to_rebuild(self) -> tuple[Affected, ...]:
        """Those that are worth it, in order."""
        return tuple(item for item in self.affected if item.verdict == "rebuild")

    @property
    def cone_ids(self) -> tuple[str, ...]:
        """All withdrawn records; the roots are not among them."""
        return tuple(item.record_id for item in self.affected)


def plan_repair(
    heads: Mapping[str, Head],
    roots: Iterable[Root],
    replacements: Mapping[str, str],
    shop: RepairShop,
) -> RepairPlan:
    """Find the cone and choose what to rebuild.

    Args:
        heads: the ledger as it is, roots still in it.
        roots: the records that change or go.
        replacements: id of a root to the id of the record that takes its place.
        shop: what can be rebuilt and at what price.
    """
    origins = tuple(sorted(set(roots), key=lambda root: root.record_id))
    cone = find_cone(heads, origins)
    # A replacement is new; that it is made from what it replaces does not withdraw it.
    cone = {key: spread for key, spread in cone.items() if key not in replacements.values()}
    old = tuple(key for key in cone if heads[key].standing is Standing.SUPERSEDED)
    cone = {key: spread for key, spread in cone.items() if key not in set(old)}
    gone = {root.record_id for root in origins} | cone.keys()
    new_ids = frozenset(replacements.values())

    def is_serving(key: str) -> bool:
        return key in new_ids or (key in heads and key not in gone and heads[key].is_active)

    def appraise(key: str) -> Affected:
        sources = dict.fromkeys(
            find_newest(source, heads, replacements) for source in heads[key].derived_from
        )
        needs = tuple(source for source in sources if source in cone)
        support = tuple(filter(is_serving, sources))
        return appraise_record(heads[key], cone[key], support, needs, shop)

    return RepairPlan(origins, _decide({key: appraise(key) for key in cone}), old)


def appraise_record(
    head: Head,
    spread: Spread,
    support: tuple[str, ...],
    needs: tuple[str, ...],
    shop: RepairShop,
) -> Affected:
    """Find out whether a withdrawn record could be made again, and for how much."""
    verdict: Verdict = "rebuild" if support or needs else "has_no_sources"
    cost = shop.find_cost(head, (*support, *needs)) if verdict == "rebuild" else None
    if verdict == "rebuild" and (cost is None or spread == "undeclared"):
        verdict = "not_rebuildable"
    return Affected(head, spread, verdict, support, needs, cost or 0, shop.find_value(head))


def find_newest(source: str, heads: Mapping[str, Head], replacements: Mapping[str, str]) -> str:
    """Follow a source to the record that stands in its place now; empty when it goes."""
    seen: set[str] = set()
    while source not in seen:
        seen.add(source)
        if source in replacements:
            return replacements[source]
        head = heads.get(source)
        if head is not None and head.standing is Standing.SUPERSEDED and head.withdrawn_by:
            source = head.withdrawn_by[0]
    return source


def make_barrier(plan: RepairPlan) -> Edit:
    """Withdraw the whole cone, in the same commit in which its roots change."""
    by = tuple(root.record_id for root in plan.roots)
    return Edit(
        restands=tuple(Restand(key, Standing.WITHDRAWN, by) for key in plan.cone_ids),
    )


Rebuild = Callable[[Affected, Mapping[str, Record]], Record | None]
"""Make the successor of a withdrawn record from its support, by id; None when it cannot be."""

Check = Callable[[Record, Affected], bool]
"""Tell whether a successor may be shown."""


def publish_repairs(
    plan: RepairPlan, snapshot: Snapshot, rebuild: Rebuild, check: Check
) -> tuple[Edit, dict[str, str]]:
    """Rebuild in order and publish what passes.

    Args:
        plan: the plan whose barrier is already committed.
        snapshot: the ledger now, with the records of all supports opened.
        rebuild: makes a successor.
        check: looks at it.

    Returns:
        The edit, and old id to new id of everything published.
    """
    records = dict(_list_serving(snapshot))
    published: dict[str, str] = {}
    for item in plan.to_rebuild:
        ids = [*item.support, *(published.get(need, "") for need in item.needs)]
        if not _is_gone(item, snapshot) or any(key not in records for key in ids):
            continue
        successor = rebuild(item, {key: records[key] for key in ids})
        if successor is not None and check(successor, item):
            records[successor.record_id] = successor
            published[item.record_id] = successor.record_id
    entries = tuple(Entry(records[new]) for new in published.values())
    restands = tuple(
        Restand(old, Standing.SUPERSEDED, (new,))
        for old, new in published.items()
        if old in snapshot.heads
    )
    return Edit(entries=entries, restands=restands), published


def _list_serving(snapshot: Snapshot) -> Iterable[tuple[str, Record]]:
    for key, record in snapshot.records.items():
        if key in snapshot.heads and snapshot.heads[key].is_active:
            yield key, record


def _is_gone(item: Affected, snapshot: Snapshot) -> bool:
    """Tell whether the place is free: the record is erased or still withdrawn."""
    head = snapshot.heads.get(item.record_id)
    return head is None or head.standing is Standing.WITHDRAWN


def _decide(items: Mapping[str, Affected]) -> tuple[Affected, ...]:
    """Give each item its verdict and put the items in an order of rebuilding."""
    offers = {
        key: Repairable(
            gain=item.value * PPM - item.cost * COST_WEIGHT_PPM,
            needs=item.needs,
            is_executable=item.verdict == "rebuild",
        )
        for key, item in items.items()
    }
    possible, chosen = find_executable(offers), choose_repairs(offers)
    decided = []
    for key in order_by_needs(items):
        item = items[key]
        if item.verdict == "rebuild" and key not in possible:
            item = replace(item, verdict="not_rebuildable")
        elif item.verdict == "rebuild" and key not in chosen:
            item = replace(item, verdict="not_worth_it")
        decided.append(item)
    return tuple(decided)


def order_by_needs(items: Mapping[str, Affected]) -> list[str]:
    """Order so that each record stands behind its needs; what runs in a circle comes last."""
    order: dict[str, None] = {}
    waiting = {key: len(set(items[key].needs)) for key in sorted(items)}
    dependants: dict[str, list[str]] = {}
    for key in waiting:
        for need in sorted(set(items[key].needs)):
            dependants.setdefault(need, []).append(key)
    ready = deque(key for key, count in waiting.items() if count == 0)
    while ready:
        key = ready.popleft()
        order[key] = None
        for dependant in dependants.get(key, ()):
            waiting[dependant] -= 1
            if waiting[dependant] == 0:
                ready.append(dependant)
    return [*order, *(key for key in waiting if key not in order)]
