"""A record on its way into the prompt, and a piece of the prompt.

Takes a record, gives a candidate that knows its shelf and review; every step that learns more
makes a changed copy. Does not know steps or drafts.
"""

from dataclasses import dataclass
from typing import Any

from py_core.compiler.authority import Tier
from py_core.compiler.policy import Level
from py_core.records.fields import Fact, Lane, ReviewStatus
from py_core.records.kinds import (
    Record,
    Retraction,
    RoleTaggedMessage,
    SupersessionLink,
    Tombstone,
    find_lane,
)

ACTING_KINDS = (Tombstone, SupersessionLink, Retraction)

_REVIEW_RANK = {
    ReviewStatus.PROMOTED: 2,
    ReviewStatus.NOT_REQUIRED: 1,
    ReviewStatus.PENDING: 0,
    ReviewStatus.REJECTED: 0,
    ReviewStatus.QUARANTINED: 0,
}


# Without slots: a changed copy is then one copy of a dictionary, four times as fast, and a
# compilation makes some for every record.
@dataclass(frozen=True)
class Candidate:
    """A record with what the steps have learned about it.

    The record is never changed; `text` and `facts` are what may be shown of it.
    """

    record: Record
    record_id: str
    plain_text: str
    text: str
    facts: tuple[Fact, ...]
    lane: Lane
    review_rank: int
    """How far a person stands behind the record; more is better."""

    is_turn: bool
    is_acting: bool
    """Whether the record only acts on others."""

    provenance: tuple[str, ...]
    tier: Tier | None = None
    ranked_tier: Tier = Tier.UNTRUSTED
    """The tier, or the last one for records that have none."""

    flags: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    """Rows that stay with this one: it is never shown without them."""

    score: int = 0
    level: Level = "raw"
    row_text: str = ""

    def changed(self, **values: Any) -> "Candidate":  # noqa: ANN401 - the fields have many types
        """Give a copy with other values in some fields."""
        copy = object.__new__(Candidate)
        copy.__dict__.update(self.__dict__)
        copy.__dict__.update(values)
        return copy

    def with_tier(self, tier: Tier | None) -> "Candidate":
        """Give the candidate in its tier."""
        return self.changed(tier=tier, ranked_tier=Tier.UNTRUSTED if tier is None else tier)

    def flagged(self, *flags: str) -> "Candidate":
        """Give the candidate with more flags, each once."""
        return self.changed(flags=tuple(dict.fromkeys((*self.flags, *flags)))) if flags else self


def make_candidate(record: Record) -> Candidate:
    """Begin with a record as it was read."""
    return Candidate(
        record=record,
        record_id=record.record_id,
        plain_text=record.plain_text,
        text=record.text,
        facts=record.facts,
        lane=find_lane(record),
        review_rank=_REVIEW_RANK[record.review_status],
        is_turn=isinstance(record, RoleTaggedMessage),
        is_acting=isinstance(record, ACTING_KINDS),
        provenance=(record.record_id,),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of token ids with the text that they stand for; control tokens have none."""

    name: str
    tier: Tier
    text: str
    ids: tuple[int, ...]
    candidate: Candidate | None = None
