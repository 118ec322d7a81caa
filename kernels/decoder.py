"""Run a decoder-only transformer over token ids.

Takes ids, a cache and an op set that holds the weights.
Gives logits, and pauses between blocks so that the caller can do other work or give up.
Does not know which op set it drives, nor how the next id is chosen.
"""

from collections.abc import Generator, Iterator, Sequence

import numpy as np

from kernels.arrays import F32
from kernels.errors import ErrorCode, kernel_error
from kernels.kv_cache import FIRST_CAPACITY_TOKENS, KvCache
from kernels.model_config import ModelConfig
from kernels.ops import LayeredOps, OpSet


class Decoder:
    """One loaded model, ready to read tokens."""

    def __init__(self, config: ModelConfig, ops: OpSet) -> None:
        self.config = config
        self.ops = ops
        # Asking a protocol costs as much as the rest of a token's way through Python.
        self._layered = ops if isinstance(ops, LayeredOps) else None

    def new_cache(self, capacity_tokens: int = FIRST_CAPACITY_TOKENS) -> KvCache:
        """Make an empty cache for this model."""
        return self.ops.new_cache(min(capacity_tokens, self.config.max_context))

    def forward(self, ids: Sequence[int], cache: KvCache) -> F32:
        """Read `ids` after what is cached and give the logits `[V]` after the last one."""
        return drain(self.forward_steps(ids, cache))

    def forward_steps(
        self, ids: Sequence[int], cache: KvCache, *, cut: int = 0
    ) -> Generator[None, None, F32]:
        """Read `ids` chunk by chunk, yielding between blocks; return logits `[V]`.

        The cache grows by whole chunks: it may be closed at any yield and stays true. With a cut,
        no chunk holds ids from both sides of it, so the rows before it depend on nothing behind.

        Raises:
            KernelError: `invalid_length` for no ids, `invalid_token_id` for an id outside the
                vocabulary, `context_exceeded` when the ids do not fit.
        """
        self._check(ids)
        cache.reserve(cache.length + len(ids))
        hidden: F32 = np.empty((0, self.config.hidden_size), dtype=np.float32)
        for chunk in self.chunks(ids, cache, cut=cut):
            hidden = yield from self.hidden_steps(chunk, cache)  # [T, H]
            yield
        return np.asarray(self.ops.logits(hidden[-1:])[0])  # [V]

    def rows_steps(self, ids: Sequence[int], cache: KvCache) -> Generator[None, None, F32]:
        """Read a few ids in one chunk and give the logits after each of them: `[T, V]`."""
        self._check(ids)
        hidden = yield from self.hidden_steps(ids, cache)  # [T, H]
        return np.asarray(self.ops.logits(hidden))  # [T, V]

    def hidden_steps(self, ids: Sequence[int], cache: KvCache) -> Generator[None, None, F32]:
        """Read one chunk through all layers and commit it; return hidden states `[T, H]`."""
        start = cache.length
        cache.reserve(start + len(ids))
        hidden = self.ops.embed(np.asarray(ids, dtype=np.int32))  # [T, H]
        if self._layered is not None:
            hidden = yield from self._layers_at_once(self._layered, hidden, cache)
        else:
            hidden = yield from self._block_by_block(hidden, cache)
        cache.commit(ids)
        return hidden

    def _layers_at_once(
        self, ops: LayeredOps, hidden: F32, cache: KvCache
    ) -> Generator[None, None, F32]:
        start, count = cache.length, self.config.layer_count
        size = ops.layers_per_call(len(hidden), start)
        for first in range(0, count, size):
            span = range(first, min(first + size, count))
            hidden = ops.layers(span, hidden, cache, start)  # [T, H]
            if span.stop < count:
                yield
        return hidden

    def _block_by_block(self, hidden: F32, cache: KvCache) -> Generator[None, None, F32]:
        start, count = cache.length, self.config.layer_count
        for layer in range(count):
            hidden = self.ops.attention_block(layer, hidden, cache, start)  # [T, H]
            if len(hidden) > 1:
                yield  # a single token's half layer is too short to be worth a pause
            hidden = self.ops.feed_forward_block(layer, hidden)  # [T, H]
            if layer + 1 < count:
                yield
        return hidden

    def chunks(
        self, ids: Sequence[int], cache: KvCache, *, cut: int = 0
    ) -> Iterator[Sequence[int]]:
        """Cut `ids` into what one block call should take, as the cache grows between them."""
        done = 0
        while done < len(ids):
            size = max(1, self.ops.chunk_tokens(cache.length))
            if done < cut:
                size = min(size, cut - done)
            yield ids[done : done + size]
            done += size

    def _check(self, ids: Sequence[int]) -> None:
        if not ids:
            raise kernel_error(
                ErrorCode.INVALID_LENGTH, "ids", "There are no tokens to read; give at least one."
            )
        worst = next((token for token in ids if not 0 <= token < self.config.vocab_size), None)
        if worst is not None:
            raise kernel_error(
                ErrorCode.INVALID_TOKEN_ID,
                "ids",
                f"Token id {worst} is outside the vocabulary of {self.config.vocab_size}.",
            )


def drain(steps: Generator[None, None, F32]) -> F32:
    """Run a computation to its end without pausing and give its result."""
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return np.asarray(finished.value)
