"""Run a model's operations in the kernel module.

Takes a port and a model's tensors. Gives the operations of `kernels.ops.OpSet`.
Does not know prompts or sampling, nor where the module runs.

A call copies its rows of hidden states out of the module's memory, so every array that is given
away stays true. It copies rows in only when they are not those that the last call gave.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kernels.arrays import F32, I32
from kernels.errors import ErrorCode, kernel_error
from kernels.kv_cache import KvCache
from kernels.model_config import ModelConfig
from kernels.model_names import OUTPUT, OUTPUT_NORM, TOKEN_EMBEDDINGS, layer_name
from kernels.ops import LoadProgress, TensorSource
from kernels.simd.kv_storage import SimdKvStorage
from kernels.simd.panels import place_matrix, place_vector
from kernels.simd.port import KernelPort
from kernels.simd.records import CacheKind, LayerRecord, MatrixRecord, ModelRecord, pack
from kernels.simd.rotary_frequencies import rotary_frequencies
from kernels.simd.scratch import TOKEN_LIMIT, Scratch
from kernels.simd.team_choice import TeamChoice

_MAX_HEAD_DIM = 256
_UNIT_POSITIONS = 120_000
"""Query rows times positions of one attention call, about 20 ms on one browser core."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Addresses of a model that is ready."""

    model: int
    scratch: Scratch
    hidden: tuple[int, int]
    """Two buffers [TOKEN_LIMIT, H]: a block reads one and writes the other."""
    logits: int
    ids: int
    weight_bytes: int


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
        cache_kind: how keys and values are kept.

    Raises:
        KernelError: `invalid_setting` for a shape that the kernels cannot run.
    """

    def __init__(
        self, config: ModelConfig, port: KernelPort, cache_kind: CacheKind = CacheKind.F32
    ) -> None:
        if fault := find_shape_fault(config):
            text = f"the simd engine cannot run this model: {fault}; use the numpy engine"
            raise kernel_error(ErrorCode.INVALID_SETTING, "op_set", text)
        self._config = config
        self._port = port
        self._cache_kind = cache_kind if config.head_dim % 8 == 0 else CacheKind.F32
        self._loaded: _Loaded | None = None
        self._choice: TeamChoice | None = None
        self.has_lost_a_thread = False
        self._last: F32 | None = None
        self._side = 0
        self._positions = (-1, 0)

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
        return self._loaded.weight_bytes if self._loaded else 0

    def load(self, model: TensorSource) -> Iterator[LoadProgress]:
        """Place tensor by tensor, the largest first: its copy is freed while memory is small."""
        config = self._config
        total = config.layer_count + 2
        embedding = place_matrix(self._port, model.read_tensor(TOKEN_EMBEDDINGS))
        output = embedding
        if not config.tied_output:
            output = place_matrix(self._port, model.read_tensor(OUTPUT))
        yield LoadProgress(1, total, TOKEN_EMBEDDINGS)
        layers = []
        for index in range(config.layer_count):
            layers.append(_place_layer(self._port, model, index))
            yield LoadProgress(index + 2, total, f"layers.{index}")
        norm = place_vector(self._port, model.read_f32(OUTPUT_NORM))
        placed = self._port.used_bytes
        self._loaded = self._prepare(embedding, output, layers, norm, weight_bytes=placed)
        yield LoadProgress(total, total, OUTPUT_NORM)

    def new_cache(self, capacity_tokens: int) -> KvCache:
        """Make an empty cache with room for `capacity_tokens`, at most the model's context."""
        capacity = max(1, min(capacity_tokens, self._config.max_context))
        storage = SimdKvStorage(self._port, self._config, capacity, self._cache_kind)
        return KvCache(storage, max_context=self._config.max_context)

    def chunk_tokens(self, start: int) -> int:
        """Tell how many tokens a block call should take."""
        by_attention = _UNIT_POSITIONS // (self._config.head_count * max(1, start))
        return max(4, min(TOKEN_LIMIT, by_attention // 4 * 4))

    def embed(self, ids: I32) -> F32:
        """Look up token rows: `[T] -> [T, H]`."""
        hidden = np.empty((len(ids), self._config.hidden_size), dtype=np.float32)
        loaded = self._require()
        self._seat_team(loaded)
        for start in range(0, len(ids), TOKEN_LIMIT):
            part = np.ascontiguousarray(ids[start : start + TOKEN_LIMIT], dtype="<i4")
            self._port.write(loaded.ids, part)
            self._port.call("embed", loaded.model, loaded.ids, len(part), loaded.hidden[self._side])
            self._port.read(loaded.hidden[self._side], hidden[start : start + len(part)])
        self._last = hidden if len(ids) <= TOKEN_LIMIT else None
        return hidden

    def attention_block(self, layer: int, hidden: F32, cache: KvCache, start: int) -> F32:
        """Norm, attention, residual: `[T, H] -> [T, H]`."""
        if len(hidden) > TOKEN_LIMIT:
            parts = [
                self.attention_block(layer, hidden[at : at + TOKEN_LIMIT], cache, start + at)
                for at in range(0, len(hidden), TOKEN_LIMIT)
            ]
            return np.concatenate(parts)
        loaded, tokens, storage = self._require(), len(hidden), _storage_of(cache)
        scratch = loaded.scratch
        scratch.fit(storage.room)
        if self._positions != (start, tokens):
            self._port.call("set_positions", loaded.model, scratch.record, start, tokens)
            self._positions = (start, tokens)
        block = (loaded.model, scratch.record, tokens, layer, *self._sides(hidden))
        if self._port.call("attention_block", *block, storage.record, start):
            self._recover(hidden)
            return self.attention_block(layer, hidden, cache, start)
        return self._result(tokens)

    def feed_forward_block(self, layer: int, hidden: F32) -> F32:
        """Norm, SwiGLU, residual: `[T, H] -> [T, H]`."""
        if len(hidden) > TOKEN_LIMIT:
            parts = [
                self.feed_forward_block(layer, hidden[at : at + TOKEN_LIMIT])
                for at in range(0, len(hidden), TOKEN_LIMIT)
            ]
            return np.concatenate(parts)
        loaded, tokens = self._require(), len(hidden)
        block = (loaded.model, loaded.scratch.record, tokens, layer, *self._sides(hidden))
        if self._port.call("feed_forward_block", *block):
            self._recover(hidden)
            return self.feed_forward_block(layer, hidden)
        return self._result(tokens)

    def logits(self, hidden: F32) -> F32:
        """Final norm and output product: `[T, H] -> [T, V]`."""
        out = np.empty((len(hidden), self._config.vocab_size), dtype=np.float32)
        self._last = None
        for token, row in enumerate(hidden):
            loaded = self._require()
            source = loaded.hidden[self._side]
            self._port.write(source, np.ascontiguousarray(row))
            if self._port.call(
                "logits", loaded.model, loaded.scratch.record, 1, source, loaded.logits
            ):
                self._recover(row)
                return self.logits(hidden)
            self._port.read(loaded.logits, out[token])
        return out

    def close(self) -> None:
        """Let go of the weights and of the module."""
        self._loaded = None
        self._choice = None
        self._last = None
        self._port.close()

    @property
    def seats(self) -> int:
        """Threads that share the work now."""
        return self._choice.seats if self._choice else 1

    def _prepare(
        self,
        embedding: MatrixRecord,
        output: MatrixRecord,
        layers: list[LayerRecord],
        norm: int,
        *,
        weight_bytes: int,
    ) -> _Loaded:
        config, port = self._config, self._port
        table = pack(*layers)
        layer_table = port.allocate(table.nbytes)
        port.write(layer_table, table)
        frequencies = rotary_frequencies(config.head_dim, config.rope_theta)
        turns = port.allocate(frequencies.nbytes)
        port.write(turns, frequencies)
        record = pack(
            ModelRecord(
                hidden_size=config.hidden_size,
                head_count=config.head_count,
                kv_head_count=config.kv_head_count,
                head_dim=config.head_dim,
                ffn_size=config.ffn_size,
                epsilon=float(config.rms_norm_epsilon),
                score_scale=1 / math.sqrt(config.head_dim),
                final_norm=norm,
                frequencies=turns,
                layers=layer_table,
                embedding=embedding,
                output=output,
            )
        )
        model = port.allocate(record.nbytes)
        port.write(model, record)
        scratch = Scratch(port, config)
        rows = 4 * TOKEN_LIMIT * config.hidden_size
        return _Loaded(
            model=model,
            scratch=scratch,
            hidden=(port.allocate(rows), port.allocate(rows)),
            logits=port.allocate(4 * config.vocab_size),
            ids=port.allocate(4 * TOKEN_LIMIT),
            weight_bytes=weight_bytes,
        )

    def _sides(self, hidden: F32) -> tuple[int, int]:
        """Give where a block reads and where it writes, with the rows in place."""
        loaded, side = self._require(), self._side
        if hidden is not self._last:
            self._port.write(loaded.hidden[side], np.ascontiguousarray(hidden))
        return loaded.hidden[side], loaded.hidden[1 - side]

    def _result(self, tokens: int) -> F32:
        self._side = 1 - self._side
        hidden = np.empty((tokens, self._config.hidden_size), dtype=np.float32)
        self._port.read(self._require().hidden[self._side], hidden)
        self._last = hidden
        return hidden

    def _seat_team(self, loaded: _Loaded) -> None:
        """Use a team once it is there and faster than this thread alone."""
        if self._choice is None:
            self._choice = TeamChoice(self._port, self._run_sample)
        if not self._choice.is_settled:
            loaded.scratch.use_team(self._choice.settle())

    def _run_sample(self, team: int) -> bool:
        """Compute logits of whatever lies in a buffer of hidden states."""
        loaded = self._require()
        loaded.scratch.use_team(team)
        record, (source, _) = loaded.scratch.record, loaded.hidden
        return not self._port.call("logits", loaded.model, record, 1, source, loaded.logits)

    def _recover(self, rows: F32) -> None:
        """Go on with this thread alone, in buffers that a lost thread does not know."""
        loaded, port = self._require(), self._port
        if self._choice is not None:
            self._choice.give_up()
        self.has_lost_a_thread = True
        size = 4 * TOKEN_LIMIT * self._config.hidden_size
        scratch = Scratch(port, self._config)
        scratch.fit(loaded.scratch.position_limit)
        fresh = (port.allocate(size), port.allocate(size))
        logits = port.allocate(4 * self._config.vocab_size)
        self._loaded = replace(loaded, scratch=scratch, hidden=fresh, logits=logits)
        self._positions = (-1, 0)
        self._last = None
        port.write(fresh[self._side], np.ascontiguousarray(rows))

    def _require(self) -> _Loaded:
        if self._loaded is None:
            raise kernel_error(ErrorCode.MODEL_NOT_LOADED, "ops", "no weights are loaded; load them")
        return self._loaded


def _place_layer(port: KernelPort, model: TensorSource, index: int) -> LayerRecord:
    def vector(part: str) -> int:
        return place_vector(port, model.read_f32(layer_name(index, part)))

    def matrix(part: str) -> MatrixRecord:
        return place_matrix(port, model.read_tensor(layer_name(index, part)))

    return LayerRecord(
        attention_norm=vector("attn_norm"),
        ffn_norm=vector("ffn_norm"),
        wq=matrix("wq"),
        wk=matrix("wk"),
        wv=matrix("wv"),
        wo=matrix("wo"),
        w1=matrix("w1"),
        w3=matrix("w3"),
        w2=matrix("w2"),
    )


def _storage_of(cache: KvCache) -> SimdKvStorage:
    if not isinstance(cache.storage, SimdKvStorage):
        raise kernel_error(
            ErrorCode.INVALID_SETTING,
            "cache",
            "the cache was made by another op set; make one with new_cache",
        )
    return cache.storage
