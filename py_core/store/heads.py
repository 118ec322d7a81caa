"""What the ledger knows of a record without opening it: enough to list, search and repair.

Takes a record, gives its head; a head is written as one short JSON list, and many together in
packs. The standing lives only here, the record itself is never rewritten. Does not know who may
change what.
"""

import json
from enum import IntEnum, StrEnum
from operator import itemgetter
from typing import Any

from py_core.records.kinds import Record, Retraction, ShortTermSummary, SupersessionLink

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


class _Place(IntEnum):
    """Where a value stands in the row of a head."""

    RECORD_ID = 0
    KIND = 1
    STANDING = 2
    SEQUENCE = 3
    TENANT = 4
    SUBJECT = 5
    SCOPE = 6
    SOURCE = 7
    REVIEW_STATUS = 8
    NORMALIZATION_HASH = 9
    CONTENT_IDENTITY = 10
    TEXT_CHARS = 11
    TEXT = 12
    LINKS = 13
    CLAIMS = 14
    SCOPE_ID = 15
    SENSITIVITY = 16
    OBSERVED_AT = 17
    CONFIDENCE = 18
    RETENTION = 19
    KEEP_UNTIL = 20
    MADE_BY = 21


ROW_LENGTH = len(_Place)
NUMBER_PLACES = (int(_Place.SEQUENCE), int(_Place.TEXT_CHARS), int(_Place.CONFIDENCE))
SEQUENCE_PLACE = int(_Place.SEQUENCE)

FACETS = itemgetter(
    _Place.STANDING, _Place.KIND, _Place.SUBJECT, _Place.SCOPE, _Place.SOURCE, _Place.REVIEW_STATUS
)  # fmt: skip
"""Gives standing, kind, subject, scope, source and review status of a row."""

_LINK_NAMES = ("derived_from", "supersedes", "targets", "withdrawn_by")
# Before there were packs, the last places of a row were one JSON list of their own.
_NESTED_LENGTH = 16
_NESTED_PLACES = (0, 1, 2, 4, 5, 6, 7)

TEXT_PLACE = int(_Place.TEXT)

HeadRow = tuple[Any, ...]


class Head:
    """One record in short; links and claims stay JSON until somebody looks at them."""

    __slots__ = ("row",)

    def __init__(self, row: HeadRow) -> None:
        """Stand on a row."""
        self.row = row

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Head) and self.row == other.row

    def __hash__(self) -> int:
        return hash(self.record_id)

    @property
    def record_id(self) -> str:
        """The id of the record."""
        return str(self.row[_ID])

    @property
    def kind(self) -> str:
        """The kind of the record."""
        return str(self.row[_KIND])

    @property
    def standing(self) -> Standing:
        """Where it stands in the ledger."""
        return Standing(self.row[_STANDING])

    @property
    def is_active(self) -> bool:
        """Whether it may reach a compiler."""
        return bool(self.row[_STANDING] == _ACTIVE)

    @property
    def sequence(self) -> int:
        """The revision at which it was first written.

        It orders records by writing, also when a clock jumps back.
        """
        return int(self.row[_SEQUENCE])

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return str(self.row[_Place.TENANT])

    @property
    def subject(self) -> str:
        """What it is about."""
        return str(self.row[_Place.SUBJECT])

    @property
    def scope(self) -> str:
        """How wide it holds."""
        return str(self.row[_Place.SCOPE])

    @property
    def source(self) -> str:
        """Who says it."""
        return str(self.row[_Place.SOURCE])

    @property
    def review_status(self) -> str:
        """What a person has decided about it."""
        return str(self.row[_Place.REVIEW_STATUS])

    @property
    def normalization_hash(self) -> str:
        """The hash of its plain text."""
        return str(self.row[_Place.NORMALIZATION_HASH])

    @property
    def content_identity(self) -> str:
        """The hash of its payload; that of the deleted record for a tombstone."""
        return str(self.row[_Place.CONTENT_IDENTITY])

    @property
    def text_chars(self) -> int:
        """The length of its plain text."""
        return int(self.row[_Place.TEXT_CHARS])

    @property
    def text(self) -> str:
        """The plain text, cut."""
        return str(self.row[_Place.TEXT])

    @property
    def derived_from(self) -> tuple[str, ...]:
        """The records it was made of."""
        return self._read_links()[0]

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The records it stands in the place of."""
        return self._read_links()[1]

    @property
    def targets(self) -> tuple[str, ...]:
        """The records that a link or a retraction speaks of."""
        return self._read_links()[2]

    @property
    def withdrawn_by(self) -> tuple[str, ...]:
        """The records whose change withdrew it, or that replaced it."""
        return self._read_links()[3]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Slots that can contradict each other; lists are left out."""
        text = self.row[_Place.CLAIMS]
        return tuple((slot, value) for slot, value in json.loads(text)) if text else ()

    @property
    def observed_at(self) -> str:
        """When it was observed, in ISO form and UTC."""
        return str(self.row[_Place.OBSERVED_AT])

    @property
    def scope_id(self) -> str:
        """Which project, goal or task the scope means."""
        return str(self.row[_Place.SCOPE_ID])

    @property
    def confidence_ppm(self) -> int:
        """How sure it is."""
        return int(self.row[_Place.CONFIDENCE])

    @property
    def retention_rule(self) -> str:
        """How long it is kept."""
        return str(self.row[_Place.RETENTION])

    @property
    def keep_until(self) -> str:
        """The end of its time in ISO form and UTC, or empty."""
        return str(self.row[_Place.KEEP_UNTIL])

    @property
    def made_by(self) -> str:
        """Who made it, for records that are made of others."""
        return str(self.row[_Place.MADE_BY])

    def stand(self, standing: Standing, withdrawn_by: tuple[str, ...] = ()) -> "Head":
        """Give the head with another standing."""
        row = list(self.row)
        row[_STANDING] = standing.value
        row[_Place.LINKS] = _write_links((*self._read_links()[:3], withdrawn_by))
        return Head(tuple(row))

    def _read_links(self) -> tuple[tuple[str, ...], ...]:
        text = self.row[_LINKS]
        return tuple(map(tuple, json.loads(text))) if text else _NO_LINKS


# Looked up once: an attribute of an enum costs more than all the rest of a property.
_ID, _KIND = int(_Place.RECORD_ID), int(_Place.KIND)
_STANDING, _SEQUENCE = int(_Place.STANDING), int(_Place.SEQUENCE)
_LINKS = int(_Place.LINKS)
_ACTIVE = Standing.ACTIVE.value
_NO_LINKS: tuple[tuple[str, ...], ...] = ((),) * len(_LINK_NAMES)


def make_head(record: Record, standing: Standing, sequence: int) -> Head:
    """Put a record in short."""
    text, keep_until = record.plain_text, record.retention.keep_until
    claims = [(fact.slot, fact.value) for fact in record.facts if not fact.is_list]
    links = (record.derived_from, record.supersedes, _find_targets(record), ())
    return Head(
        (
            record.record_id,
            record.kind,
            standing.value,
            sequence,
            record.tenant_binding,
            record.subject,
            record.scope.value,
            record.source,
            record.review_status.value,
            record.normalization_hash or "",
            record.content_identity or "",
            len(text),
            text[:LONGEST_HEAD_TEXT_CHARS],
            _write_links(links),
            _dump(claims) if claims else "",
            record.scope_id,
            record.sensitivity.value,
            record.observation_time.isoformat(),
            record.confidence_ppm,
            record.retention.rule,
            keep_until.isoformat() if keep_until else "",
            record.payload.summariser if isinstance(record, ShortTermSummary) else "",
        )
    )


def write_head(head: Head) -> str:
    """Write a head as a JSON list."""
    return _dump(head.row)


def read_heads(texts: list[str]) -> list[Head]:
    """Read many heads with one call of the parser, which is what makes it fast."""
    return [Head(_unfold(row)) for row in json.loads(f"[{','.join(texts)}]")]


def _unfold(row: list[Any]) -> HeadRow:
    if len(row) != _NESTED_LENGTH:
        return tuple(row)
    nested = json.loads(row[-1])
    return (*row[:-1], *(nested[place] for place in _NESTED_PLACES))


def _write_links(links: tuple[tuple[str, ...], ...]) -> str:
    return _dump(links) if any(links) else ""


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _find_targets(record: Record) -> tuple[str, ...]:
    match record:
        case Retraction():
            return (record.payload.target_id,)
        case SupersessionLink():
            return (record.payload.newer_id, record.payload.older_id)
        case _:
            return ()
