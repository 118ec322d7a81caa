"""What a message to the model consists of: text, system text, attachments, settings, reuse.

Takes JSON values, gives typed payloads. Does not know how a turn runs.
"""

from typing import Annotated, Literal

from pydantic import Field

from py_core.bridge.message_shape import LARGEST_PAGE_INTEGER, Message
from py_core.bridge.retrieval_messages import IntentCorrection
from py_core.records.fields import LARGEST_TEXT_CHARS

LARGEST_TOP_K = 1024
MOST_ATTACHMENTS = 8
LONGEST_NAME_CHARS = 200


class GenerationSettings(Message):
    """How the answer is drawn; temperature 0 is greedy."""

    temperature: float = Field(default=0.0, ge=0.0, le=10.0, allow_inf_nan=False)
    top_k: int = Field(default=40, ge=1, le=LARGEST_TOP_K)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0, allow_inf_nan=False)
    max_tokens: int = Field(default=256, ge=1, le=1_000_000)
    seed: int = Field(default=1, ge=0, le=LARGEST_PAGE_INTEGER)


class AttachedText(Message):
    """Foreign text that comes with a message; it is quoted and never obeyed."""

    name: str = Field(max_length=LONGEST_NAME_CHARS)
    text: str = Field(max_length=LARGEST_TEXT_CHARS)


class ChatSendPayload(Message):
    """One user message. An empty system text means: the template's own default."""

    text: str
    system: str = ""
    attachments: tuple[AttachedText, ...] = Field(default=(), max_length=MOST_ATTACHMENTS)
    settings: GenerationSettings = GenerationSettings()
    intent: IntentCorrection | None = None
    """What the user changed in what this message looks for."""

    replaces_last: bool = False
    """Take the place of the last pair: regenerate it, or send it edited."""

    kv_reuse: Literal["prefix", "splice_approximate"] = "prefix"
    kv_check: bool = False
    """Measure what moved rows change; costs a prefill."""


class IntentPreviewPayload(Message):
    """A message that is not sent yet."""

    text: Annotated[str, Field(max_length=LARGEST_TEXT_CHARS)]
    system: str = ""
    intent: IntentCorrection | None = None


class DriftData(Message):
    """How far an answer from moved rows is from the exact one, over so many greedy tokens."""

    logit_difference: float
    first_changed_token: int | None
    tokens: int


class ReuseData(Message):
    """What was reused besides the common beginning."""

    restored_tokens: int
    prefix_discarded: Literal["", "unreadable", "damaged", "foreign", "no_memory"]
    spliced_tokens: int
    is_splice_refused: bool
    drift: DriftData | None
