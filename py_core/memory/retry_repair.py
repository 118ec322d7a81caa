"""Rebuild later what was withdrawn and not rebuilt then.

Takes the heads and the ids that a person picked, gives a plan in the form of a repair: what can be
made again from what is there now, and why the rest cannot. Worth decides nothing here, for the
person has asked. Does not know how anything is rebuilt.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from py_core.memory.choose_repairs import Repairable, find_executable
from py_core.memory.influence import Root, Spread, is_undeclared
from py_core.memory.repair import (
    Affected,
    RepairPlan,
    RepairShop,
    appraise_record,
    find_newest,
    order_by_needs,
)
from py_core.store.head_table import as_table
from py_core.store.heads import Head, Standing


def list_withdrawn(heads: Mapping[str, Head]) -> tuple[str, ...]:
    """Give the ids of all withdrawn records, sorted."""
    withdrawn = as_table(heads).with_standing(Standing.WITHDRAWN)
    return tuple(sorted(head.record_id for head in withdrawn))


def plan_retry(
    heads: Mapping[str, Head], record_ids: Iterable[str], shop: RepairShop
) -> RepairPlan:
    """Find out which of these can be made again, with the withdrawn records they are made of."""
    wanted = _add_needs(heads, record_ids)
    items = {key: _appraise(key, heads, wanted, shop) for key in sorted(wanted)}
    offers = {
        key: Repairable(gain=1, needs=item.needs, is_executable=item.verdict == "rebuild")
        for key, item in items.items()
    }
    possible = find_executable(offers)
    affected = tuple(
        items[key]
        if items[key].verdict != "rebuild" or key in possible
        else replace(items[key], verdict="not_rebuildable")
        for key in order_by_needs(items)
    )
    return RepairPlan(_list_roots(heads, items.values()), affected)


def _add_needs(heads: Mapping[str, Head], record_ids: Iterable[str]) -> frozenset[str]:
    """Add the withdrawn sources, and theirs."""
    found: set[str] = set()
    waiting = list(record_ids)
    while waiting:
        key = waiting.pop()
        if key in found or key not in heads or heads[key].standing is not Standing.WITHDRAWN:
            continue
        found.add(key)
        waiting += [find_newest(source, heads, {}) for source in heads[key].derived_from]
    return frozenset(found)


def _appraise(
    key: str, heads: Mapping[str, Head], wanted: Collection[str], shop: RepairShop
) -> Affected:
    head = heads[key]
    sources = dict.fromkeys(find_newest(source, heads, {}) for source in head.derived_from)
    needs = tuple(source for source in sources if source in wanted)
    support = tuple(source for source in sources if source in heads and heads[source].is_active)
    spread: Spread = "undeclared" if is_undeclared(head) else "declared"
    return appraise_record(head, spread, support, needs, shop)


def _list_roots(heads: Mapping[str, Head], items: Iterable[Affected]) -> tuple[Root, ...]:
    """Give what withdrew them, as far as its words are still here: no successor may repeat them."""
    causes = {cause for item in items for cause in item.head.withdrawn_by if cause in heads}
    return tuple(
        Root(key, heads[key].tenant, heads[key].sequence, heads[key].text)
        for key in sorted(causes)
        if not heads[key].is_active
    )
