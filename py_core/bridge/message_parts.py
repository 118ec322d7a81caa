"""What every message is made of: the strict base and the two envelopes.

Takes nothing, gives types. Knows no kind of message.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LARGEST_PAGE_INTEGER = 2**53 - 1

RequestId = Annotated[int, Field(ge=1, le=LARGEST_PAGE_INTEGER)]


class Message(BaseModel):
    """Frozen, strict, and closed to fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class RequestEnvelope(Message):
    """What every message from the page carries."""

    v: Literal[1]
    id: RequestId


class AnswerEnvelope(Message):
    """What every message to the page carries: the id of its request."""

    v: Literal[1] = 1
    id: int


class Nothing(Message):
    """A payload without fields."""
