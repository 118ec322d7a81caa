"""The messages about a model as a whole: plan its memory, load it, free it, its facts.

Takes JSON values, gives typed payloads and values. Does not know files or engines.
"""

from typing import Literal

from pydantic import Field

from py_core.bridge.message_shape import Message, Nothing, RequestEnvelope, Sha256

CacheFormat = Literal["f32", "int16", "int8"]


class ModelLoadPayload(Message):
    """A file that the worker's JavaScript has opened and checked by sha256, and its engine."""

    handle: str
    name: str
    file_bytes: int = Field(ge=0)
    sha256: Sha256
    op_set: Literal["auto", "numpy", "simd"] = "auto"
    kv_cache: CacheFormat = "int16"
    format: Literal["slm", "gguf"] = "slm"
    known_checksum: Literal["verified", "not verifiable"] | None = None


class ModelLoad(RequestEnvelope):
    """Load a model; the old one stays until the new one is there."""

    kind: Literal["model.load"]
    payload: ModelLoadPayload


class ModelPlanAsked(RequestEnvelope):
    """Tell what loading a model would take; the file stays open for the load itself."""

    kind: Literal["model.plan"]
    payload: ModelLoadPayload


class ModelFree(RequestEnvelope):
    """Give the memory of the model back."""

    kind: Literal["model.free"]
    payload: Nothing


class TokenizerFacts(Message):
    """What the loaded tokenizer says of itself."""

    kind: str
    vocab_size: int
    identity: Sha256


class ModelFacts(Message):
    """What the loaded file's header says; nothing in here is guessed."""

    name: str
    context_tokens: int
    prompt_limit_tokens: int
    output_limit_tokens: int
    kv_bytes_per_token: int
    kv_bytes_total: int
    kv_bytes_used: int
    file_bytes: int
    parameters: int
    dtype: str
    tokenizer: TokenizerFacts
    sha256: Sha256
    checksum: Literal["verified", "not verifiable"]
    op_set: str
    kv_cache: CacheFormat
    threads: int
    heap_bytes: int
    licence: str
    origin: str
    chat_template: Literal["chatml", "plain"]


class ModelPlan(Message):
    """What loading a model would take, by purpose, and what the memory would be then."""

    name: str
    op_set: str
    kv_cache: CacheFormat
    weight_bytes: int
    tokenizer_bytes: int
    kv_bytes_first: int
    kv_bytes_total: int
    scratch_bytes_first: int
    scratch_bytes: int
    load_bytes: int
    embedder_bytes: int
    heap_bytes: int
    heap_bytes_after: int
    heap_bytes_full: int
    limit_bytes: int
    fits: bool


class ModelFreed(Message):
    """Whether there was a model to free."""

    was_loaded: bool
    heap_bytes: int
