"""State what a set of operations must offer so that the decoder can run on it.

Takes a model's weights once, then arrays of hidden states.
Gives hidden states and logits; one instance holds one loaded model.
Does not know sampling, prompts, or where the model's bytes come from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kernels.arrays import F32, I32
from kernels.dtypes import StoredTensor
from kernels.kv_cache import KvCache
from kernels.model_config import ModelConfig


class TensorSource(Protocol):
    """What loading needs of a model file: its header, and tensors by name."""

    @property
    def config(self) -> ModelConfig:
        """The header."""

    def read_tensor(self, name: str) -> StoredTensor:
        """Give one tensor as it is stored."""

    def read_f32(self, name: str) -> F32:
        """Give one tensor dequantised; the caller may keep the array."""


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """`done` of `total` parts of the model are loaded, the last one being `name`."""

    done: int
    total: int
    name: str


class OpSet(Protocol):
    """The operations of one loaded model.

    Shapes: T tokens in this call, H hidden width, V vocabulary. Blocks may return their argument
    changed in place; the caller never uses the old reference again.
    """

    @property
    def name(self) -> str:
        """Which kind this is: "numpy" or "simd"."""

    @property
    def config(self) -> ModelConfig:
        """The loaded model's header."""

    @property
    def weight_bytes(self) -> int:
        """Bytes that the loaded weights hold now."""

    @property
    def seats(self) -> int:
        """Threads that share the work now."""

    @property
    def is_cut_invariant(self) -> bool:
        """Whether every bit is the same however tokens are cut into calls."""

    def load(self, model: TensorSource) -> Iterator[LoadProgress]:
        """Take the weights tensor by tensor; usable after the iterator is exhausted."""

    def new_cache(self, capacity_tokens: int) -> KvCache:
        """Make an empty cache with room for `capacity_tokens`, at most the model's context."""

    def chunk_tokens(self, start: int) -> int:
        """Tell how many tokens one block call should take after `start` cached ones.

        Chosen so that one call stays under about 50 ms where this op set is meant to run.
        """

    def embed(self, ids: I32) -> F32:
        """Look up token rows: `[T] -> [T, H]`, a fresh array."""

    def attention_block(self, layer: int, hidden: F32, cache: KvCache, start: int) -> F32:
        """Norm, attention with rotary positions from `start`, residual: `[T, H] -> [T, H]`.

        Writes the new key and value rows to the cache's storage, which has room; commits nothing.
        """

    def feed_forward_block(self, layer: int, hidden: F32) -> F32:
        """Norm, SwiGLU, residual: `[T, H] -> [T, H]`."""

    def logits(self, hidden: F32) -> F32:
        """Final norm and output product: `[T, H] -> [T, V]`."""

    def close(self) -> None:
        """Let go of the weights."""


@runtime_checkable
class LayeredOps(OpSet, Protocol):
    """Operations that run several layers in one call, where a call costs more than a block."""

    def layers_per_call(self, tokens: int, start: int) -> int:
        """Tell how many layers one call should take, at least 1, so that it stays short."""

    def layers(self, span: range, hidden: F32, cache: KvCache, start: int) -> F32:
        """Attention and feed-forward blocks of consecutive layers: `[T, H] -> [T, H]`."""
