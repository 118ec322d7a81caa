"""Run a model's operations in the kernel module.

Takes a port and a model's tensors. Gives the operations of `kernels.ops.OpSet`.
Does not know prompts or sampling, nor where the module runs.

A call that comes back with a lost thread is made again by this thread alone, on the same rows and
in memory that the lost thread does not know: the answer is the same.
"""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TypeVar

import numpy as np

from kernels.arrays import F32, I32
from kernels.errors import ErrorCode, kernel_error
from kernels.kv_cache import KvCache
from kernels.model_config import ModelConfig
from kernels.ops import LoadProgress, TensorSource
from kernels.simd.kv_storage import SimdKvStorage, choose_kind
from kernels.simd.placed_model import PlacedModel, place_steps
from kernels.simd.port import KernelPort
from kernels.simd.records import CacheKind
from kernels.simd.scratch import TOKEN_LIMIT
from kernels.simd.team_choice import TeamChoice
from kernels.simd.team_pace import TeamPace
from kernels.simd.workspace import Workspace

Rows = TypeVar("Rows", F32, I32)
_MAX_HEAD_DIM = 256
_TILE_TOKENS = 4
_UNIT_POSITIONS = 1_500_000
"""Query rows times positions of one call's attention, about 12 ms on one browser core."""
_UNIT_TOKENS = TOKEN_LIMIT
"""Tokens times layers of one call, about 17 ms on one browser core."""


def find_shape_fault(config: ModelConfig) -> str | None:
    """Tell why the kernels cannot run a shape, as half a sentence, or None."""
    for field in ("hidden_size", "head_dim", "ffn_size"):
        if getattr(config, field) % 4:
            return f"{field} {getattr(config, field)} is no multiple of 4"
    if config.head_dim > _MAX_HEAD_DIM:
        return f"head_dim {config.head_dim} is over {_MAX_HEAD_DIM}"
    return None


class SimdOps:
    """The operations of one model in the module's memory.

    Args:
        config: the model's header.
        port: where the module runs; closed together with the op set.
        cache_kind: how keys and values are kept; codes need head widths that are multiples of 8.
        uses_team: whether threads may share the work where the port has them.

    Raises:
        KernelError: `invalid_setting` for a shape that the kernels cannot run.
    """

    def __init__(
        self,
        config: ModelConfig,
        port: KernelPort,
        *,
        cache_kind: CacheKind = CacheKind.F32,
        uses_team: bool = True,
    ) -> None:
        if fault := find_shape_fault(config):
            text = f"the simd engine cannot run this model: {fault}; use the numpy engine"
            raise kernel_error(ErrorCode.INVALID_SETTING, "op_set", text)
        self._config = config
        self._port = port
        self._cache_kind = choose_kind(config, cache_kind)
        self._uses_team = uses_team
        self._placed: PlacedModel | None = None
        self._choice: TeamChoice | None = None
        self._space: Workspace | None = None
        self._positions = (-1, 0)
        self._team = 0
        self._pace = TeamPace()
        self.has_lost_a_thread = False
        """Whether the work was ever taken over from a lost thread."""

    @property
    def name(self) -> str:
        """The kind of this op set."""
        return "simd"

    @property
    def config(self) -> ModelConfig:
        """The loaded model's header."""
        return self._config

    @property
    def weight_bytes(self) -> int:
        """Bytes that the loaded weights hold now."""
        return self._placed.weight_bytes if self._placed else 0

    @property
    def seats(self) -> int:
        """Threads that share the work now."""
        return self._choice.seats if self._choice else 1

    @property
    def is_cut_invariant(self) -> bool:
        """Yes: every sum has one written order."""
        return True

    def load(self, model: TensorSource) -> Iterator[LoadProgress]:
        """Place the weights tensor by tensor; threads start meanwhile."""
        if self._uses_team:
            self._choice = TeamChoice(self._port, self._run_sample)
        self._placed = yield from place_steps(self._port, model)
        self._space = Workspace(self._port, self._config)

    def new_cache(self, capacity_tokens: int) -> KvCache:
        """Make an empty cache with room for `capacity_tokens`, at most the model's context."""
        capacity = max(1, min(capacity_tokens, self._config.max_context))
        storage = SimdKvStorage(self._port, self._config, capacity, self._cache_kind)
        return KvCache(storage, max_context=self._config.max_context)

    def chunk_tokens(self, start: int) -> int:
        """Tell how many tokens a block call should take."""
        by_attention = _UNIT_POSITIONS // (self._config.head_count * max(1, start))
        tiles = by_attention // _TILE_TOKENS
        return max(_TILE_TOKENS, min(TOKEN_LIMIT, tiles * _TILE_TOKENS))

    def embed(self, ids: I32) -> F32:
        """Look up token rows: `[T] -> [T, H]`."""
        self._seat_team()
        if len(ids) > TOKEN_LIMIT:
            return _by_parts(lambda part, _: self.embed(part), ids)
        model, space = self._require()
        self._port.call("embed", model, space.put_ids(ids), len(ids), space.target)
        return space.take(len(ids))

    def attention_block(self, layer: int, hidden: F32, cache: KvCache, start: int) -> F32:
        """Norm, attention, residual: `[T, H] -> [T, H]`."""
        if len(hidden) > TOKEN_LIMIT:
            return _by_parts(
                lambda part, at: self.attention_block(layer, part, cache, start + at), hidden
            )
        tokens, storage = len(hidden), self._prepare_attention(cache, start, len(hidden))
        model, space = self._require()
        space.put(hidden)
        block = (model, space.scratch.record, tokens, layer, space.source, space.target)
        if self._port.call("attention_block", *block, storage.record, start):
            self._recover()
            return self.attention_block(layer, hidden, cache, start)
        return space.take(tokens)

    def layers_per_call(self, tokens: int, start: int) -> int:
        """Tell how many layers keep a call about as short as one layer of a full chunk is."""
        by_attention = _UNIT_POSITIONS // (self._config.head_count * tokens * (start + tokens))
        return max(1, min(self._config.layer_count, _UNIT_TOKENS // tokens, by_attention))

    def layers(self, span: range, hidden: F32, cache: KvCache, start: int) -> F32:
        """Whole layers in one call: `[T, H] -> [T, H]`."""
        if len(hidden) > TOKEN_LIMIT:
            return _by_parts(lambda part, at: self.layers(span, part, cache, start + at), hidden)
        tokens, storage = len(hidden), self._prepare_attention(cache, start, len(hidden))
        model, space = self._require()
        space.put(hidden)
        rows = (space.source, space.target, storage.record, start)
        is_team = bool(self._team) and (tokens > 1 or self._pace.wants_team())
        space.scratch.use_team(self._team if is_team else 0)
        begin, record = perf_counter(), space.scratch.record
        if self._port.call("layers", model, record, tokens, span.start, span.stop, *rows):
            self._recover()
            return self.layers(span, hidden, cache, start)
        if tokens == 1:
            self._pace.note(perf_counter() - begin, is_team=is_team)
        return space.retake(tokens)

    def feed_forward_block(self, layer: int, hidden: F32) -> F32:
        """Norm, SwiGLU, residual: `[T, H] -> [T, H]`."""
        if len(hidden) > TOKEN_LIMIT:
            return _by_parts(lambda part, _: self.feed_forward_block(layer, part), hidden)
        model, space = self._require()
        space.put(hidden)
        block = (model, space.scratch.record, len(hidden), layer, space.source, space.target)
        if self._port.call("feed_forward_block", *block):
            self._recover()
            return self.feed_forward_block(layer, hidden)
        return space.take(len(hidden))

    def logits(self, hidden: F32) -> F32:
        """Final norm and output product: `[T, H] -> [T, V]`."""
        rows = [self._logits_of(row) for row in hidden]
        return rows[0][np.newaxis] if len(rows) == 1 else np.stack(rows)

    def _prepare_attention(self, cache: KvCache, start: int, tokens: int) -> SimdKvStorage:
        """Make room for the scores, and turn the rotary table to the positions of this call."""
        model, space = self._require()
        storage = _storage_of(cache)
        space.scratch.fit(storage.room)
        if self._positions != (start, tokens):
            self._port.call("set_positions", model, space.scratch.record, start, tokens)
            self._positions = (start, tokens)
        return storage

    def close(self) -> None:
        """Let go of the weights and of the module."""
        self._placed = None
        self._space = None
        self._choice = None
        self._port.close()

    def _logits_of(self, row: F32) -> F32:
        model, space = self._require()
        space.put(row)
        record = space.scratch.record
        if self._port.call("logits", model, record, 1, space.source, space.logits):
            self._recover()
            return self._logits_of(row)
        return space.take_logits()

    def _seat_team(self) -> None:
        """Use a team once it is there and faster than this thread alone."""
        if self._choice is not None and not self._choice.is_settled:
            _, space = self._require()
            self._team = self._choice.settle()
            space.scratch.use_team(self._team)

    def _run_sample(self, team: int) -> bool:
        """Compute logits of whatever lies in a buffer of hidden states."""
        model, space = self._require()
        space.scratch.use_team(team)
        record = space.scratch.record
        return not self._port.call("logits", model, record, 1, space.source, space.logits)

    def _recover(self) -> None:
        """Go on with this thread alone, in buffers that the lost thread does not know."""
        _, lost = self._require()
        if self._choice is not None:
            self._choice.give_up()
        self.has_lost_a_thread = True
        self._team = 0
        limit = lost.scratch.position_limit
        self._space = Workspace(self._port, self._config, positions=limit)
        self._positions = (-1, 0)

    def _require(self) -> tuple[int, Workspace]:
        if self._placed is None or self._space is None:
            text = "no weights are loaded; load them first"
            raise kernel_error(ErrorCode.MODEL_NOT_LOADED, "ops", text)
        return self._placed.record, self._space


def _by_parts(run: Callable[[Rows, int], F32], rows: Rows) -> F32:
    """Run a block on as many rows at a time as it takes; it hears where they begin."""
    firsts = range(0, len(rows), TOKEN_LIMIT)
    return np.concatenate([run(rows[at : at + TOKEN_LIMIT], at) for at in firsts])


def _storage_of(cache: KvCache) -> SimdKvStorage:
    if not isinstance(cache.storage, SimdKvStorage):
        raise kernel_error(
            ErrorCode.INVALID_SETTING,
            "cache",
            "the cache was made by another op set; make one with new_cache",
        )
    return cache.storage
