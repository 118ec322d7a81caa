"""Hits that are versions of one memory, and hits that disagree.

Takes records, gives groups by canonical key with a survivor each, and the slots on which records
of one subject differ. Nothing is flattened: the suppressed stay linked and a disagreement is
handed on as it is. What supersedes what is decided by the compiler; this is what search knows.

The key is made of subject, scope, scope id, source and a fingerprint of the facts, so that two
wordings of the same facts are one memory.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from py_core.identity import content_hash
from py_core.records.fields import PromotionState, ReviewStatus
from py_core.records.kinds import Record
from py_core.unicode_text import fold_case, plain_form

UPDATE_TAGS: Final = frozenset(("update", "updated", "supersedes", "correction"))
_REVIEW_RANK: Final = {
    ReviewStatus.PROMOTED: 2,
    ReviewStatus.NOT_REQUIRED: 1,
    ReviewStatus.PENDING: 0,
    ReviewStatus.REJECTED: 0,
    ReviewStatus.QUARANTINED: 0,
}


@dataclass(frozen=True, slots=True)
class HitGroup:
    """Records that say the same; the survivor speaks for all."""

    key: str
    survivor_id: str
    linked_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Records of one subject that give a slot different values, the likely current one first."""

    subject: str
    slot: str
    record_ids: tuple[str, ...]
    is_declared_update: bool
    """The first one says of itself that it replaces the others."""


def make_key(record: Record) -> str:
    """Give the canonical key of a memory."""
    return _hash_marks(_list_marks(record))


def group_hits(records: Iterable[Record]) -> tuple[HitGroup, ...]:
    """Group by canonical key; only groups of two or more are given."""
    groups: dict[_Marks, list[Record]] = {}
    for record in records:
        groups.setdefault(_list_marks(record), []).append(record)
    found = []
    for marks, group in groups.items():
        if len(group) > 1:
            first, *others = sorted(group, key=_survival)
            linked = tuple(record.record_id for record in others)
            found.append(HitGroup(_hash_marks(marks), first.record_id, linked))
    return tuple(sorted(found, key=lambda group: group.key))


_Marks = tuple[str, str, str, str, tuple[tuple[str, str], ...], str]


def _list_marks(record: Record) -> _Marks:
    """Give what two wordings of one memory share: facts, or the text where there are none."""
    facts = tuple(sorted((fact.slot, _fold(fact.value)) for fact in record.facts))
    text = "" if facts else fold_case(record.plain_text)
    return (
        _fold(record.subject),
        record.scope.value,
        record.scope_id,
        _fold(record.source),
        facts,
        text,
    )


def _hash_marks(marks: _Marks) -> str:
    subject, scope, scope_id, source, facts, text = marks
    return content_hash(
        {
            "subject": subject,
            "scope": scope,
            "scope_id": scope_id,
            "source": source,
            "facts": [list(fact) for fact in facts] if facts else text,
        }
    )


def find_contradictions(records: Iterable[Record]) -> tuple[Contradiction, ...]:
    """Find slots to which records of one subject and scope give different values."""
    slots: dict[tuple[str, str, str, str], list[tuple[Record, str]]] = {}
    for record in records:
        for fact in record.facts:
            if not fact.is_list:
                place = (_fold(record.subject), record.scope.value, record.scope_id, fact.slot)
                slots.setdefault(place, []).append((record, _fold(fact.value)))
    found = []
    for (subject, _, _, slot), claims in sorted(slots.items()):
        if len({value for _, value in claims}) > 1:
            ordered = _order_claims([record for record, _ in claims])
            names = tuple(dict.fromkeys(record.record_id for record in ordered))
            found.append(Contradiction(subject, slot, names, is_update(ordered[0])))
    return tuple(found)


def is_update(record: Record) -> bool:
    """Tell whether a record says that it replaces earlier ones."""
    tags = {_fold(tag) for tag in record.tags}
    return bool(record.supersedes) or not tags.isdisjoint(UPDATE_TAGS)


def _order_claims(records: Sequence[Record]) -> list[Record]:
    """Put declared updates first, then the newer, the reviewed, the surer."""
    return sorted(
        records,
        key=lambda r: (
            not is_update(r),
            -r.observation_time.timestamp(),
            -_REVIEW_RANK[r.review_status],
            -r.confidence_ppm,
            r.record_id,
        ),
    )


def _survival(record: Record) -> tuple[int, int, int, float, str]:
    is_promoted = record.promotion_state is PromotionState.PROMOTED
    return (
        -_REVIEW_RANK[record.review_status],
        -int(is_promoted),
        -record.confidence_ppm,
        -record.observation_time.timestamp(),
        record.record_id,
    )


@lru_cache(maxsize=4_096)
def _fold(text: str) -> str:
    return fold_case(plain_form(text))
