"""Generated memories with known truth: who was really made of whom, and what that cost.

Takes a seeded generator, gives a ledger of user statements and of layers made from them, some of
them by writers that hide their sources, together with the truth that no code under test sees: the
facts each record really carries. Every fact is a word of its own, said plainly or by an alias.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from py_core.memory.influence import Root
from py_core.memory.repair import Affected
from py_core.records.kinds import Record
from py_core.store.edits import Snapshot
from py_core.store.heads import Head
from tests.py_core.memory.heads import make_said, make_snapshot, make_summary, make_typed

FOREIGN_SHARE = 0.12
HIDDEN_EDGE_SHARE = 0.5
ALIAS_SHARE = 0.3
FAILING_SHARE = 0.05
MEDIAN_COST = 4.0
COST_SPREAD = 1.2
HIGHEST_VALUE = 10


@dataclass
class Truth:
    """What really is the case.

    Attributes:
        facts: record id to the facts it carries.
        invalid: facts that are deleted or corrected.
        costs: record id to the cost of rebuilding it.
        values: record id to its worth.
        failing: records whose successors do not pass the check.
    """

    facts: dict[str, frozenset[str]] = field(default_factory=dict)
    invalid: set[str] = field(default_factory=set)
    costs: dict[str, int] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    failing: set[str] = field(default_factory=set)

    def note(self, record_id: str, facts: frozenset[str], rng: np.random.Generator) -> None:
        """Draw the economy of a record; costs have the long tail of texts' lengths."""
        self.facts[record_id] = facts
        self.costs[record_id] = 1 + int(rng.lognormal(np.log(MEDIAN_COST), COST_SPREAD))
        self.values[record_id] = int(rng.integers(1, HIGHEST_VALUE + 1))
        if rng.random() < FAILING_SHARE:
            self.failing.add(record_id)


class PricedShop:
    """The economy of the truth, as the repair sees it."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth

    def find_cost(self, head: Head, support: tuple[str, ...]) -> int | None:
        """Give the drawn cost."""
        del support
        return self._truth.costs[head.record_id]

    def find_value(self, head: Head) -> int:
        """Give the drawn worth."""
        return self._truth.values[head.record_id]


def draw_ledger(rng: np.random.Generator) -> tuple[Snapshot, Truth]:
    """Draw 3 to 10 statements and up to 20 records made of them in layers."""
    truth, records = Truth(), list[Record]()
    for number in range(int(rng.integers(3, 11))):
        fact = f"fact{number}x"
        records.append(make_said(f"said-{number}", f"the user says {fact} today"))
        truth.note(records[-1].record_id, frozenset({fact}), rng)
    for number in range(int(rng.integers(4, 21))):
        count = int(rng.integers(1, min(4, len(records)) + 1))
        picked = sorted(rng.choice(len(records), size=count, replace=False))
        sources = [records[int(index)].record_id for index in picked]
        facts = frozenset().union(*(truth.facts[source] for source in sources))
        records.append(_draw_made(f"made-{number}", sources, facts, rng))
        truth.note(records[-1].record_id, facts, rng)
    return make_snapshot(*records), truth


def write_made(
    record_id: str, sources: list[str], facts: frozenset[str], spoken: str = ""
) -> Record:
    """Write a record of our own writer about facts."""
    return make_summary(record_id, f"note {record_id} on {spoken or say_facts(facts)}", sources)


def say_facts(facts: frozenset[str]) -> str:
    """Say facts plainly."""
    return " and ".join(sorted(facts))


def make_root(head: Head) -> Root:
    """Describe a record that changes, as the memory does."""
    return Root(head.record_id, head.tenant, head.sequence, head.text, head.normalization_hash)


def rebuild_made(
    truth: Truth, rng: np.random.Generator, stamp: str
) -> "tuple[RebuildMade, CheckMade]":
    """Give the two callbacks of publication."""
    return RebuildMade(truth, rng, stamp), CheckMade(truth)


@dataclass
class RebuildMade:
    """Writes successors from exactly the records it is given."""

    truth: Truth
    rng: np.random.Generator
    stamp: str

    def __call__(self, item: Affected, support: Mapping[str, Record]) -> Record | None:
        """Write the successor; the truth learns what is in it."""
        facts = frozenset().union(*(self.truth.facts[key] for key in support))
        record_id = f"{item.record_id}-{self.stamp}"
        self.truth.note(record_id, facts, self.rng)
        return write_made(record_id, sorted(support), facts)


@dataclass
class CheckMade:
    """Lets the drawn failures fail."""

    truth: Truth

    def __call__(self, record: Record, item: Affected) -> bool:
        """Tell whether the successor of a record passes."""
        del record
        return item.record_id not in self.truth.failing


def _draw_made(
    record_id: str, sources: list[str], facts: frozenset[str], rng: np.random.Generator
) -> Record:
    """Write a record of our own, or of a stranger that hides some or all of its sources."""
    spoken = "its alias" if rng.random() < ALIAS_SHARE else ""
    if rng.random() >= FOREIGN_SHARE:
        return write_made(record_id, sources, facts, spoken)
    shown = [source for source in sources if rng.random() >= HIDDEN_EDGE_SHARE]
    text = f"note {record_id} on {spoken or say_facts(facts)}"
    kind = "ShortTermSummary" if rng.random() < HIDDEN_EDGE_SHARE else "LongTermMemoryRecord"
    return make_typed(record_id, kind, text, source="import:elsewhere", derived_from=shown)
