"""The fifteen kinds of records, and their union.

Takes JSON values, gives one frozen record of the kind that `kind` names. Does not know tiers.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from py_core.records.envelope import Envelope
from py_core.records.fields import Lane, MemoryType, WrongFieldError
from py_core.records.payloads import (
    DiagnosticPayload,
    LongTermPayload,
    MessagePayload,
    PointerPayload,
    RetractionPayload,
    RetrievalHitPayload,
    SessionFactPayload,
    SummaryPayload,
    SupersessionPayload,
    SystemPolicyPayload,
    TextPayload,
    TombstonePayload,
    ToolResultPayload,
    TrustedMetadataPayload,
    UntrustedPayload,
)


class SystemPolicyRecord(Envelope):
    """An instruction of the system or the application."""

    kind: Literal["SystemPolicyRecord"] = "SystemPolicyRecord"
    payload: SystemPolicyPayload


class RoleTaggedMessage(Envelope):
    """A message of the user or the assistant."""

    kind: Literal["RoleTaggedMessage"] = "RoleTaggedMessage"
    payload: MessagePayload


class UserPreferenceAssertion(Envelope):
    """A lasting trait of the user; counts once the user confirmed it."""

    kind: Literal["UserPreferenceAssertion"] = "UserPreferenceAssertion"
    payload: TextPayload


class SessionFact(Envelope):
    """State of the running session."""

    kind: Literal["SessionFact"] = "SessionFact"
    payload: SessionFactPayload


class Retraction(Envelope):
    """The user takes something back."""

    kind: Literal["Retraction"] = "Retraction"
    payload: RetractionPayload


class TrustedMetadata(Envelope):
    """Data from a verified channel."""

    kind: Literal["TrustedMetadata"] = "TrustedMetadata"
    payload: TrustedMetadataPayload


class ToolResult(Envelope):
    """Output of a tool."""

    kind: Literal["ToolResult"] = "ToolResult"
    payload: ToolResultPayload


class ShortTermSummary(Envelope):
    """A summary of recent turns; `derived_from` names them."""

    kind: Literal["ShortTermSummary"] = "ShortTermSummary"
    payload: SummaryPayload


class LongTermMemoryRecord(Envelope):
    """A durable fact, kept with consent."""

    kind: Literal["LongTermMemoryRecord"] = "LongTermMemoryRecord"
    payload: LongTermPayload


class MemoryPointer(Envelope):
    """A semantic address in another memory."""

    kind: Literal["MemoryPointer"] = "MemoryPointer"
    payload: PointerPayload


class Tombstone(Envelope):
    """A deletion. It shares the content identity of what was deleted and never loses it."""

    kind: Literal["Tombstone"] = "Tombstone"
    payload: TombstonePayload

    @model_validator(mode="after")
    def _require_target(self) -> Self:
        if self.content_identity is None and not self.supersedes:
            raise WrongFieldError(
                field="content_identity", expected="expected the hash of what was deleted"
            )
        return self

    def _identify_payload(self) -> str | None:
        return None

    def _identify_text(self) -> str | None:
        return None


class SupersessionLink(Envelope):
    """An edge: one record stands in the place of another."""

    kind: Literal["SupersessionLink"] = "SupersessionLink"
    payload: SupersessionPayload


class RetrievalHit(Envelope):
    """What a search found, from whichever store."""

    kind: Literal["RetrievalHit"] = "RetrievalHit"
    payload: RetrievalHitPayload


class UntrustedContentBlock(Envelope):
    """Foreign text."""

    kind: Literal["UntrustedContentBlock"] = "UntrustedContentBlock"
    payload: UntrustedPayload


class CompilerDiagnostic(Envelope):
    """A note of the compiler; never part of a prompt."""

    kind: Literal["CompilerDiagnostic"] = "CompilerDiagnostic"
    payload: DiagnosticPayload


Record = (
    SystemPolicyRecord
    | RoleTaggedMessage
    | UserPreferenceAssertion
    | SessionFact
    | Retraction
    | TrustedMetadata
    | ToolResult
    | ShortTermSummary
    | LongTermMemoryRecord
    | MemoryPointer
    | Tombstone
    | SupersessionLink
    | RetrievalHit
    | UntrustedContentBlock
    | CompilerDiagnostic
)
AnyRecord = Annotated[Record, Field(discriminator="kind")]

RECORD_CLASSES: tuple[type[Envelope], ...] = (
    SystemPolicyRecord,
    RoleTaggedMessage,
    UserPreferenceAssertion,
    SessionFact,
    Retraction,
    TrustedMetadata,
    ToolResult,
    ShortTermSummary,
    LongTermMemoryRecord,
    MemoryPointer,
    Tombstone,
    SupersessionLink,
    RetrievalHit,
    UntrustedContentBlock,
    CompilerDiagnostic,
)


def find_lane(record: Record) -> Lane:
    """Tell on which shelf a record lies: running state or durable knowledge."""
    match record:
        case SessionFact():
            return Lane.STATUS
        case RetrievalHit():
            memory_type = record.payload.memory_type
            return record.payload.lane or _lane_of(memory_type)
        case LongTermMemoryRecord():
            return _lane_of(record.payload.memory_type)
        case _:
            return Lane.HANDOFF


def _lane_of(memory_type: MemoryType) -> Lane:
    return Lane.STATUS if memory_type is MemoryType.STATUS else Lane.HANDOFF
