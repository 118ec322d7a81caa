"""What all messages have in common: frozen, strict, closed, with a version and an id.

Takes nothing, gives the bases of every message and the types of ids and hashes. Does not know any
kind of message.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

LARGEST_PAGE_INTEGER = 2**53 - 1

RequestId = Annotated[int, Field(ge=1, le=LARGEST_PAGE_INTEGER)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Message(BaseModel):
    """Frozen, strict, and closed to fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Nothing(Message):
    """A payload without fields."""


class RequestEnvelope(Message):
    """What every message from the page carries."""

    v: Literal[1]
    id: RequestId


class AnswerEnvelope(Message):
    """What every message to the page carries: the id of its request."""

    v: Literal[1] = 1
    id: int
