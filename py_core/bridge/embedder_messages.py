"""The messages about the embedder: load it, free it, look at it.

Takes JSON values, gives typed payloads and values. Does not know files or vectors.
"""

from typing import Literal

from pydantic import Field

from py_core.bridge.message_shape import Message, Nothing, RequestEnvelope, Sha256


class EmbedderLoadPayload(Message):
    """A file that the worker's JavaScript has opened and checked by sha256."""

    handle: str
    name: str
    file_bytes: int = Field(ge=0)
    sha256: Sha256


class EmbedderLoad(RequestEnvelope):
    """Load an embedder beside the model; records are then found by meaning too."""

    kind: Literal["embedder.load"]
    payload: EmbedderLoadPayload


class EmbedderFree(RequestEnvelope):
    """Find records by words alone again."""

    kind: Literal["embedder.free"]
    payload: Nothing


class EmbedderFactsAsked(RequestEnvelope):
    """Ask how far the embedder is."""

    kind: Literal["embedder.facts"]
    payload: Nothing


EmbedderRequest = EmbedderLoad | EmbedderFree | EmbedderFactsAsked
EMBEDDER_KINDS = frozenset({"embedder.load", "embedder.free", "embedder.facts"})


class EmbedderFacts(Message):
    """Where the embedder is; `vectors` and `missing` count records."""

    stage: Literal["off", "loading", "ready", "failed"]
    reason: Literal["", "file_refused", "memory_short", "stopped"]
    text: str
    name: str
    op_set: str
    weight_bytes: int
    vectors: int
    missing: int
    heap_bytes: int
