"""What goes from step to step: the records still in, those already out, and what was found.

Takes values from one step, hands them to the next. Frozen: a step returns a new draft. The law of
every step: what it keeps and what it excludes are together what it was given.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from py_core.compiler.authority import Tier
from py_core.compiler.plan import (
    Allowance,
    BoundaryMark,
    Conflict,
    DuplicateGroup,
    Exclusion,
    GraphFinding,
    Reason,
    Routing,
    StepName,
)
from py_core.compiler.policy import Level
from py_core.compiler.request import CompileRequest
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record on its way into the prompt, with what the steps have learned about it.

    The record is never changed; `text` and `facts` are what may be shown of it.
    """

    record: Record
    plain_text: str
    text: str
    facts: tuple[Fact, ...]
    tier: Tier | None = None
    flags: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    """Rows that stay with this one: it is never shown without them."""

    provenance: tuple[str, ...] = ()
    score: int = 0
    level: Level = "raw"
    row_text: str = ""

    @property
    def record_id(self) -> str:
        """The record's id."""
        return self.record.record_id

    @property
    def lane(self) -> Lane:
        """The record's shelf."""
        return find_lane(self.record)

    @property
    def ranked_tier(self) -> Tier:
        """The tier, for the steps after the one that assigns it; acting records have the last."""
        return Tier.UNTRUSTED if self.tier is None else self.tier

    @property
    def review_rank(self) -> int:
        """How far a person stands behind the record; more is better."""
        return _REVIEW_RANK[self.record.review_status]

    @property
    def is_turn(self) -> bool:
        """Tell whether this is a message of the conversation."""
        return isinstance(self.record, RoleTaggedMessage)

    @property
    def is_acting(self) -> bool:
        """Tell whether the record only acts on others."""
        return isinstance(self.record, ACTING_KINDS)

    def flagged(self, *flags: str) -> "Candidate":
        """Give the candidate with more flags, each once."""
        return replace(self, flags=tuple(dict.fromkeys((*self.flags, *flags))))


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of token ids with the text that they stand for; control tokens have none."""

    name: str
    tier: Tier
    text: str
    ids: tuple[int, ...]
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """The state between two steps."""

    kept: tuple[Candidate, ...]
    excluded: tuple[Exclusion, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    duplicates: tuple[DuplicateGroup, ...] = ()
    graph_findings: tuple[GraphFinding, ...] = ()
    routing: Routing | None = None
    preferred_turns: frozenset[str] = field(default_factory=frozenset)
    """Earlier messages that stand in for a summary which does not suffice."""

    boundary: BoundaryMark | None = None
    allowance: Allowance | None = None
    is_truncated: bool = False
    repeats_request: bool = False
    pieces: tuple[Piece, ...] = ()


Step = Callable[[Draft, CompileRequest], Draft]


def open_draft(records: Iterable[Record]) -> Draft:
    """Make the first draft, in an order that does not depend on the order of arrival."""
    ordered = sorted(records, key=lambda record: (record.record_id, record.envelope_hash))
    return Draft(
        kept=tuple(
            Candidate(
                record=record,
                plain_text=record.plain_text,
                text=record.text,
                facts=record.facts,
                provenance=(record.record_id,),
            )
            for record in ordered
        )
    )


def exclude(
    candidate: Candidate, step: StepName, reason: Reason, by: Iterable[str] = ()
) -> Exclusion:
    """Write down why a candidate stays out."""
    record = candidate.record
    return Exclusion(
        record_id=record.record_id,
        kind=record.kind,
        envelope_hash=record.envelope_hash,
        tier=None if candidate.tier is None else int(candidate.tier),
        step=step,
        reason=reason,
        superseded_by=tuple(by),
    )


def part(draft: Draft, step: StepName, find_reason: Callable[[Candidate], Reason | None]) -> Draft:
    """Keep the candidates without a reason to go, exclude the others with theirs."""
    kept: list[Candidate] = []
    excluded: list[Exclusion] = []
    for candidate in draft.kept:
        reason = find_reason(candidate)
        if reason is None:
            kept.append(candidate)
        else:
            excluded.append(exclude(candidate, step, reason))
    return replace(draft, kept=tuple(kept), excluded=(*draft.excluded, *excluded))


def leave_out(
    draft: Draft, step: StepName, reasons: Mapping[str, tuple[Reason, Sequence[str]]]
) -> Draft:
    """Exclude the candidates whose id has a reason and the records that caused it."""
    if not reasons:
        return draft
    kept: list[Candidate] = []
    excluded: list[Exclusion] = []
    for candidate in draft.kept:
        found = reasons.get(candidate.record_id)
        if found is None:
            kept.append(candidate)
        else:
            excluded.append(exclude(candidate, step, found[0], found[1]))
    return replace(draft, kept=tuple(kept), excluded=(*draft.excluded, *excluded))
