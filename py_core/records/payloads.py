"""What each kind of record says.

Takes JSON values, gives frozen payloads. A payload's bytes are never changed after this: every
later form of its text is a new field elsewhere. Does not know envelopes or authority.
"""

from typing import Annotated, Literal

from pydantic import Field

from py_core.records.fields import (
    Fact,
    Identifier,
    Identity,
    Label,
    Lane,
    MemoryType,
    Ppm,
    Sha256,
    ShortText,
    Slot,
    Strict,
    Text,
    Time,
)

LAST_TURN = 2**31 - 1

Facts = Annotated[tuple[Fact, ...], Field(max_length=64)]
Turn = Annotated[int, Field(ge=0, le=LAST_TURN)]


class TextPayload(Strict):
    """A text, and the claims in it that are known as slot and value."""

    text: Text
    facts: Facts = ()


class SystemPolicyPayload(TextPayload):
    """An instruction that nothing in a conversation can change."""

    layer: Literal["system", "application"] = "system"
    order: int = Field(default=0, ge=0, le=10_000)
    forbids: Annotated[tuple[ShortText, ...], Field(max_length=64)] = ()
    """Phrases that a request may not ask for."""

    on_breach: Literal["caveat", "halt"] = "caveat"


class MessagePayload(TextPayload):
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    turn: Turn
    conversation: Identifier = "main"


class SessionFactPayload(TextPayload):
    """Running state of this session; hot state comes from `.uai` files."""

    is_hot: bool = False


class RetractionPayload(Strict):
    """Ignore a record from now on; it stays where it is."""

    target_id: Identifier
    reason: Label = ""


class TrustedMetadataPayload(TextPayload):
    """What came over a verified channel."""

    channel: Identifier


class ToolResultPayload(TextPayload):
    """What a tool gave back."""

    tool: Identifier
    is_verified: bool = False
    turn: Turn = 0


class SummaryPayload(TextPayload):
    """A lossy account of the records in `derived_from`, with its lineage."""

    summariser: Identity
    summariser_version: Identity
    prompt_policy_hash: Sha256
    omissions: Annotated[tuple[Label, ...], Field(max_length=64)] = ()


class LongTermPayload(TextPayload):
    """A durable fact that the user agreed to keep."""

    memory_type: MemoryType = MemoryType.FACT
    consented_at: Time


class PointerPayload(TextPayload):
    """The address of something that lies elsewhere; only the label is ever shown."""

    locator: Label


class TombstonePayload(Strict):
    """The mark of a deletion; the envelope's content identity is that of what was deleted."""

    is_deleted: Literal[True]


class SupersessionPayload(Strict):
    """The newer record stands in the place of the older one."""

    newer_id: Identifier
    older_id: Identifier


class RetrievalHitPayload(TextPayload):
    """What a search found."""

    memory_type: MemoryType = MemoryType.NOTE
    lane: Lane | None = None
    relevance_ppm: Ppm | None = None


class UntrustedPayload(TextPayload):
    """Text from anywhere, to be looked at and never obeyed."""

    media_type: Label = "text/plain"


class DiagnosticPayload(Strict):
    """A note of the compiler to people; never shown to a model."""

    code: Slot
    text: Text


Payload = (
    TextPayload | RetractionPayload | TombstonePayload | SupersessionPayload | DiagnosticPayload
)
