"""Keep the keys and values of the tokens that a model has already read.

Takes token ids and, through its storage, the key and value rows of each layer.
Gives the longest reusable prefix, the numbers of the KV budget, and storage that grows by doubling.
Does not know how attention reads the rows, nor which text the ids stand for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.arrays import F32
from kernels.errors import ErrorCode, kernel_error
from kernels.model_config import ModelConfig

FIRST_CAPACITY_TOKENS = 256

CacheFormat: TypeAlias = Literal["f32", "int16", "int8"]
"""How keys and values are kept: as they are, or as codes of 12 or 8 bits with one scale a row."""


Rows: TypeAlias = npt.NDArray[Any]
"""Float32 numbers or integer codes."""


@dataclass(frozen=True, slots=True)
class LayerRows:
    """A copy of one layer's first S positions, in no order but that of positions.

    Attributes:
        keys: `[K, S, D]`, float32, or integer codes.
        values: the same.
        key_scales: `[K, S]`, what a code is worth; none for float32.
        value_scales: the same.
    """

    keys: Rows
    values: Rows
    key_scales: F32 | None = None
    value_scales: F32 | None = None

    @property
    def arrays(self) -> list[Rows]:
        """All that there is, in the order of the fields."""
        scales = (self.key_scales, self.value_scales)
        return [self.keys, self.values, *(array for array in scales if array is not None)]


class KvStorage(Protocol):
    """Memory for the rows of all layers; an op set brings its own kind."""

    @property
    def format(self) -> CacheFormat:
        """How the rows are kept."""

    @property
    def capacity(self) -> int:
        """Token positions that fit without growing."""

    @property
    def bytes_per_token(self) -> int:
        """Bytes that one position takes over all layers."""

    def grow(self, capacity: int) -> None:
        """Make room for `capacity` positions and keep what is stored."""

    def read_layer(self, layer: int, count: int) -> LayerRows:
        """Copy the first `count` positions of a layer."""

    def write_layer(self, layer: int, rows: LayerRows) -> None:
        """Put rows where the first positions are; what lies behind them becomes scratch."""


class F32KvStorage:
    """Keys and values as float32, per layer `[K, capacity, D]`.

    One head's rows are contiguous, so attention over `S` tokens reads one block per head.
    """

    def __init__(self, config: ModelConfig, capacity: int) -> None:
        self._capacity = capacity
        self._shape = (config.kv_head_count, capacity, config.head_dim)
        self.keys: list[F32] = [self._empty(capacity) for _ in range(config.layer_count)]
        self.values: list[F32] = [self._empty(capacity) for _ in range(config.layer_count)]

    @property
    def format(self) -> CacheFormat:
        """Float32."""
        return "f32"

    @property
    def capacity(self) -> int:
        """Token positions that fit without growing."""
        return self._capacity

    @property
    def bytes_per_token(self) -> int:
        """Bytes that one position takes over all layers: `2 L K D * 4`."""
        heads, _, width = self._shape
        return 2 * len(self.keys) * heads * width * 4

    def grow(self, capacity: int) -> None:
        """Make room for `capacity` positions, one array at a time.

        Only one old array lives beside its successor, so the peak is the new size plus one layer.
        When memory runs out half-way the rows are all there, and growing may be tried again.
        """
        for arrays in (self.keys, self.values):
            for layer, old in enumerate(arrays):
                arrays[layer] = self._empty(capacity)
                arrays[layer][:, : self._capacity] = old[:, : self._capacity]
        self._capacity = capacity

    def write(self, layer: int, start: int, *, keys: F32, values: F32) -> None:
        """Store rows `[T, K, D]` of one layer from position `start` on."""
        end = start + len(keys)
        self.keys[layer][:, start:end] = keys.transpose(1, 0, 2)  # [K, T, D]
        self.values[layer][:, start:end] = values.transpose(1, 0, 2)  # [K, T, D]

    def read_layer(self, layer: int, count: int) -> LayerRows:
        """Copy the first `count` positions of a layer."""
        keys, values = self.keys[layer][:, :count], self.values[layer][:, :count]
        return LayerRows(keys.copy(), values.copy())

    def write_layer(self, layer: int, rows: LayerRows) -> None:
        """Put rows where the first positions are."""
        count = rows.keys.shape[1]
        self.keys[layer][:, :count] = rows.keys
        self.values[layer][:, :count] = rows.values

    def _empty(self, capacity: int) -> F32:
        heads, _, width = self._shape
        return np.empty((heads, capacity, width), dtype=np.float32)


class KvCache:
    """Book-keeping over a storage: which ids are computed in all layers.

    A position counts only after `commit`; rows written before that are scratch. So a run that is
    abandoned between two layers leaves the cache as it was.
    Rows that were moved from other positions are counted apart: those and all behind them are
    not what reading the ids would give.
    """

    def __init__(self, storage: KvStorage, *, max_context: int) -> None:
        self.storage = storage
        self.max_context = max_context
        self._ids: list[int] = []
        self._moved_from: int | None = None
        self._identity = ""

    @property
    def length(self) -> int:
        """Tokens whose rows are complete in every layer."""
        return len(self._ids)

    @property
    def ids(self) -> tuple[int, ...]:
        """Token ids in cache order."""
        return tuple(self._ids)

    @property
    def capacity(self) -> int:
        """Tokens that fit before the storage grows."""
        return self.storage.capacity

    @property
    def bytes_used(self) -> int:
        """Bytes of the rows that are complete."""
        return self.length * self.storage.bytes_per_token

    @property
    def bytes_allocated(self) -> int:
        """Bytes that the storage holds now."""
        return self.capacity * self.storage.bytes_per_token

    @property
    def bytes_total(self) -> int:
        """Bytes at full context: the KV budget."""
        return self.max_context * self.storage.bytes_per_token

    @property
    def exact_length(self) -> int:
        """Leading tokens whose rows are what reading the ids gives."""
        return self.length if self._moved_from is None else min(self._moved_from, self.length)

    def claim(self, identity: str) -> int:
        """Say whose rows are wanted; give how many tokens of another identity were forgotten."""
        forgotten = self.length if identity != self._identity else 0
        if forgotten:
            self.truncate(0)
        self._identity = identity
        return forgotten

    def reserve(self, length: int) -> None:
        """Make room for `length` tokens in all.

        Raises:
            KernelError: `context_exceeded` (code 11) when `length` is over the model's context.
        """
        if length > self.max_context:
            raise kernel_error(
                ErrorCode.CONTEXT_EXCEEDED,
                "max_context",
                f"{length} tokens do not fit the context of {self.max_context}; shorten the text.",
            )
        if length > self.capacity:
            self.storage.grow(min(self.max_context, max(length, 2 * self.capacity)))

    def commit(self, ids: Sequence[int]) -> None:
        """Count `ids` as cached, after every layer has written their rows."""
        self._ids.extend(int(token) for token in ids)

    def truncate(self, length: int) -> None:
        """Forget all tokens from position `length` on; the memory stays."""
        del self._ids[max(0, length) :]
        if self._moved_from is not None and self._moved_from >= self.length:
            self._moved_from = None

    def forget_moved(self) -> None:
        """Forget the tokens whose rows were moved, and all behind them."""
        self.truncate(self.exact_length)

    def commit_moved(self, ids: Sequence[int]) -> None:
        """Count `ids` as cached though their rows were read at other positions."""
        if self._moved_from is None:
            self._moved_from = self.length
        self.commit(ids)

    def common_prefix(self, ids: Sequence[int]) -> int:
        """Count the leading ids that are equal to the cached ones."""
        for position, (cached, wanted) in enumerate(zip(self._ids, ids, strict=False)):
            if cached != wanted:
                return position
        return min(self.length, len(ids))
