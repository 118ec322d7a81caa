"""How withdrawn records are made again: summaries by rule, everything else by the user.

Takes a withdrawn record in short and its support; gives a successor, or none, and checks it. A
preference or fact is never made again without the user, whatever it was derived from. Does not
know how the choice between records is made.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from py_core.memory.changes import Stamp
from py_core.memory.influence import SHORTEST_ECHO_CHARS, Root
from py_core.memory.repair import Affected
from py_core.memory.sensitivity import scan
from py_core.memory.summary import find_unsupported, summarise
from py_core.records.kinds import Record
from py_core.store.heads import Head

CHARS_PER_COST = 400
PPM_PER_VALUE = 100_000
REVIEWED_VALUE = 5


class SummaryShop:
    """Prices of the rule: what is read costs, what is sure or reviewed is worth more."""

    def __init__(self, heads: Mapping[str, Head]) -> None:
        """Look up lengths in the heads."""
        self._heads = heads

    def find_cost(self, head: Head, support: tuple[str, ...]) -> int | None:
        """Price a summary by what has to be read; nothing else can be made by rule."""
        if head.kind != "ShortTermSummary":
            return None
        known = [self._heads[key].text_chars for key in support if key in self._heads]
        return 1 + sum(known) // CHARS_PER_COST

    def find_value(self, head: Head) -> int:
        """Give 1 to 10 by confidence, and more for what a person has reviewed."""
        bonus = REVIEWED_VALUE if head.review_status == "promoted" else 0
        return max(1, head.confidence_ppm // PPM_PER_VALUE) + bonus


@dataclass(frozen=True, slots=True)
class Rebuilder:
    """Makes successors by rule.

    Attributes:
        kept_ids: ids that still exist, so that a successor may name what it replaces.
    """

    stamp: Stamp
    kept_ids: Collection[str]

    def __call__(self, item: Affected, support: Mapping[str, Record]) -> Record | None:
        """Sum up what is left; the order of the sources is that of the old summary."""
        if item.head.kind != "ShortTermSummary":
            return None
        supersedes = [item.record_id] if item.record_id in self.kept_ids else []
        return summarise(list(support.values()), self.stamp, supersedes=supersedes)


@dataclass(frozen=True, slots=True)
class SuccessorCheck:
    """Refuses a successor that repeats what went, says what no source says, or holds a secret."""

    roots: Sequence[Root]
    deleted_identities: Collection[str]
    records: Mapping[str, Record]

    def __call__(self, record: Record, item: Affected) -> bool:
        """Tell whether a successor may be shown."""
        del item
        sources = [self.records[key] for key in record.derived_from if key in self.records]
        is_echo = any(
            len(root.text) >= SHORTEST_ECHO_CHARS and root.text in record.plain_text
            for root in self.roots
        )
        # Sources that are successors themselves are quotes of quotes; their own check has passed.
        is_whole = len(sources) == len(record.derived_from)
        is_supported = not is_whole or not find_unsupported(record.plain_text, sources)
        is_deleted = record.content_identity in self.deleted_identities
        return is_supported and not (is_echo or is_deleted or scan(record.plain_text))
