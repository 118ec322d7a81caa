"""What the ledger knows of a record without opening it: enough to list, search and repair.

Takes a record, gives its head; a head is written as one short JSON list, so that fifty thousand of
them are read in one go. The standing lives only here, the record itself is never rewritten.
Does not know who may change what.
"""

import json
from dataclasses import astuple, dataclass, replace
from enum import StrEnum

from py_core.records.kinds import Record, Retraction, ShortTermSummary, SupersessionLink
from py_core.unicode_text import fold_case

LONGEST_HEAD_TEXT_CHARS = 2_000


class Standing(StrEnum):
    """Where a record stands in the ledger; only active ones ever reach a compiler."""

    ACTIVE = "active"
    PENDING = "pending"
    """An inference that waits for the user."""

    WITHDRAWN = "withdrawn"
    """A record it was made from is gone or was corrected."""

    SUPERSEDED = "superseded"
    """A newer record stands in its place; kept for the history."""

    REJECTED = "rejected"
    """The user said no; kept so that it is not suggested again."""


Claim = tuple[str, str]
"""A slot and its value."""


@dataclass(frozen=True, slots=True)
class Head:
    """One record in short.

    Attributes:
        sequence: the revision at which it was first written. It orders records by writing, also
            when a clock jumps back.
        claims: slots that can contradict each other; lists are left out.
        made_by: who made it, for records that are made of others.
        targets: the records that a link or a retraction speaks of.
        withdrawn_by: the records whose change withdrew it.
        text: the plain text, cut.
    """

    record_id: str
    kind: str
    standing: Standing
    sequence: int
    tenant: str
    subject: str
    scope: str
    scope_id: str
    source: str
    sensitivity: str
    observed_at: str
    recorded_at: str
    confidence_ppm: int
    review_status: str
    retention_rule: str
    keep_until: str
    derived_from: tuple[str, ...]
    supersedes: tuple[str, ...]
    targets: tuple[str, ...]
    withdrawn_by: tuple[str, ...]
    claims: tuple[Claim, ...]
    content_identity: str
    normalization_hash: str
    made_by: str
    text_chars: int
    text: str

    @property
    def folded_text(self) -> str:
        """The text as it is searched."""
        return fold_case(self.text)

    @property
    def is_active(self) -> bool:
        """Whether it may reach a compiler."""
        return self.standing is Standing.ACTIVE

    def stand(self, standing: Standing, withdrawn_by: tuple[str, ...] = ()) -> "Head":
        """Give the head with another standing."""
        return replace(self, standing=standing, withdrawn_by=withdrawn_by)


def make_head(record: Record, standing: Standing, sequence: int) -> Head:
    """Put a record in short."""
    text, keep_until = record.plain_text, record.retention.keep_until
    return Head(
        record_id=record.record_id,
        kind=record.kind,
        standing=standing,
        sequence=sequence,
        tenant=record.tenant_binding,
        subject=record.subject,
        scope=record.scope.value,
        scope_id=record.scope_id,
        source=record.source,
        sensitivity=record.sensitivity.value,
        observed_at=record.observation_time.isoformat(),
        recorded_at=record.written_at.isoformat(),
        confidence_ppm=record.confidence_ppm,
        review_status=record.review_status.value,
        retention_rule=record.retention.rule,
        keep_until=keep_until.isoformat() if keep_until else "",
        derived_from=record.derived_from,
        supersedes=record.supersedes,
        targets=_find_targets(record),
        withdrawn_by=(),
        claims=tuple((fact.slot, fact.value) for fact in record.facts if not fact.is_list),
        content_identity=record.content_identity or "",
        normalization_hash=record.normalization_hash or "",
        made_by=record.payload.summariser if isinstance(record, ShortTermSummary) else "",
        text_chars=len(text),
        text=text[:LONGEST_HEAD_TEXT_CHARS],
    )


def write_head(head: Head) -> str:
    """Write a head as a JSON list in the order of its fields."""
    return json.dumps(astuple(head), ensure_ascii=False, separators=(",", ":"))


def read_heads(texts: list[str]) -> list[Head]:
    """Read many heads with one call of the parser, which is what makes it fast."""
    rows = json.loads(f"[{','.join(texts)}]")
    return [_read_row(row) for row in rows]


def _read_row(row: list[object]) -> Head:
    values = [tuple(map(_freeze, item)) if isinstance(item, list) else item for item in row]
    values[2] = Standing(str(values[2]))
    return Head(*values)  # type: ignore[arg-type]  # our own writing, in the order of the fields


def _freeze(item: object) -> object:
    return tuple(item) if isinstance(item, list) else item


def _find_targets(record: Record) -> tuple[str, ...]:
    match record:
        case Retraction():
            return (record.payload.target_id,)
        case SupersessionLink():
            return (record.payload.newer_id, record.payload.older_id)
        case _:
            return ()
