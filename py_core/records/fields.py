"""The kinds of values that records are made of.

Takes nothing, gives annotated types whose limits pydantic checks at the edge, once. Does not know
which record has which field.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from py_core.unicode_text import has_visible_text

LARGEST_TEXT_CHARS = 262_144
LARGEST_VALUE_CHARS = 512
LARGEST_PPM = 1_000_000
MOST_LINKS = 1_024


class Strict(BaseModel):
    """Frozen, strict, and closed to fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class WrongFieldError(ValueError):
    """A value that a check of our own refused; names the field when it is one of several."""

    def __init__(self, *, expected: str, field: str = "") -> None:
        """Keep the field's name: pydantic gives such errors the path of the whole model."""
        super().__init__(expected)
        self.field = field


def _require_visible(text: str) -> str:
    if not has_visible_text(text):
        raise WrongFieldError(expected="expected at least one visible character")
    return text


def _to_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(UTC)
    except OverflowError as error:
        raise WrongFieldError(
            expected="expected a time within the years 1 to 9999 in UTC"
        ) from error


Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$")]
Identity = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+/-]{0,199}$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Slot = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]
Ppm = Annotated[int, Field(ge=0, le=LARGEST_PPM)]
Text = Annotated[str, Field(max_length=LARGEST_TEXT_CHARS), AfterValidator(_require_visible)]
ShortText = Annotated[str, Field(max_length=LARGEST_VALUE_CHARS), AfterValidator(_require_visible)]
Label = Annotated[str, Field(max_length=LARGEST_VALUE_CHARS)]
Time = Annotated[AwareDatetime, AfterValidator(_to_utc)]
Links = Annotated[tuple[Identifier, ...], Field(max_length=MOST_LINKS)]


class Sensitivity(StrEnum):
    """How far a record may be seen, from everybody to nobody but the cleared."""

    PUBLIC = "public"
    INTERNAL = "internal"
    CONFIDENTIAL = "confidential"
    SECRET = "secret"


class Scope(StrEnum):
    """What a record is about, widest first."""

    WORKSPACE = "workspace"
    PROJECT = "project"
    GOAL = "goal"
    TASK = "task"
    USER = "user"
    AGENT = "agent"


class ReviewStatus(StrEnum):
    """What a person has decided about a record."""

    NOT_REQUIRED = "not_required"
    PENDING = "pending"
    PROMOTED = "promoted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class PromotionState(StrEnum):
    """Whether a record may act as durable memory."""

    NOT_REQUIRED = "not_required"
    PENDING_REVIEW = "pending_review"
    PROMOTED = "promoted"
    REJECTED = "rejected"
    QUARANTINED = "quarantined"


class MemoryType(StrEnum):
    """What a memory is, in the words of the hosted contract."""

    FACT = "fact"
    DECISION = "decision"
    STATUS = "status"
    PROCEDURE = "procedure"
    RISK = "risk"
    EVIDENCE = "evidence"
    HANDOFF = "handoff"
    NOTE = "note"


class Lane(StrEnum):
    """Running state or durable knowledge: two shelves with their own quotas and ages."""

    STATUS = "status"
    HANDOFF = "handoff"


class Fact(Strict):
    """One claim: a slot has a value. Slots that hold a list never contradict themselves."""

    slot: Slot
    value: ShortText
    is_list: bool = False
