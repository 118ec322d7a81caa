"""Run a model's operations on numpy alone, with float32 weights.

Takes a model's tensors, dequantised one by one while loading.
Gives the operations of `kernels.ops.OpSet`.
Does not know prompts or sampling; it is the path that is always there.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernels.arrays import F32, I32
from kernels.errors import ErrorCode, kernel_error
from kernels.kv_cache import F32KvStorage, KvCache
from kernels.layers import Products, attention, products_for, rms_norm, rotary, rotary_table, swiglu
from kernels.model_config import ModelConfig
from kernels.model_names import OUTPUT, OUTPUT_NORM, TOKEN_EMBEDDINGS, layer_name
from kernels.ops import LoadProgress, TensorSource

# About 20 ms at the 6 GFLOP/s of one browser core, so that a slower one stays under 50 ms.
_BROWSER_UNIT_FLOP = 120e6
_NATIVE_UNIT_FLOP = 2e9
_ATTENTION_WEIGHT = 2  # an operation of the short dot products there takes about twice as long
_MAX_CHUNK_TOKENS = 64


@dataclass(frozen=True, slots=True)
class _Layer:
    attention_norm: F32  # [H]
    qkv: F32  # [(A + 2 K) D, H]: query, key and value rows in one product
    output: F32  # [H, A D]
    feed_forward_norm: F32  # [H]
    gate_up: F32  # [2 F, H]
    down: F32  # [H, F]


class NumpyOps:
    """The operations of one model over float32 arrays.

    Args:
        config: the model's header.
        products: how to multiply; the faster one for this platform unless given.
    """

    def __init__(self, config: ModelConfig, products: Products | None = None) -> None:
        self._config = config
        self._products = products or products_for(sys.platform)
        self._layers: list[_Layer] = []
        self._embedding: F32 = np.empty((0, config.hidden_size), dtype=np.float32)  # [V, H]
        self._head = self._embedding  # [V, H]; the same array when the output is tied
        self._norm: F32 = np.empty(0, dtype=np.float32)  # [H]
        self._rotations = rotary_table(0, config.head_dim, config.rope_theta)

    @property
    def name(self) -> str:
        """The kind of this op set."""
        return "numpy"

    @property
    def config(self) -> ModelConfig:
        """The loaded model's header."""
        return self._config

    @property
    def weight_bytes(self) -> int:
        """Bytes of the weights held now; a tied output counts once."""
        arrays = [self._embedding, self._norm]
        if self._head is not self._embedding:
            arrays.append(self._head)
        for layer in self._layers:
            arrays += [layer.attention_norm, layer.qkv, layer.output]
            arrays += [layer.feed_forward_norm, layer.gate_up, layer.down]
        return sum(array.nbytes for array in arrays)

    @property
    def seats(self) -> int:
        """One thread: numpy in the browser has no more."""
        return 1

    @property
    def is_cut_invariant(self) -> bool:
        """No: numpy adds up in an order that depends on how many rows there are."""
        return False

    def load(self, model: TensorSource) -> Iterator[LoadProgress]:
        """Dequantise tensor by tensor.

        The largest tensors come first: their temporary copies are freed while the heap is small,
        and WebAssembly memory never shrinks.
        """
        self.close()
        total = self._config.layer_count + 2
        self._embedding = model.read_f32(TOKEN_EMBEDDINGS)
        self._head = self._embedding
        if not self._config.tied_output:
            self._head = model.read_f32(OUTPUT)
        yield LoadProgress(1, total, TOKEN_EMBEDDINGS)
        for index in range(self._config.layer_count):
            self._layers.append(_read_layer(model, index))
            yield LoadProgress(index + 2, total, f"layers.{index}")
        self._norm = model.read_f32(OUTPUT_NORM)
        yield LoadProgress(total, total, OUTPUT_NORM)

    def new_cache(self, capacity_tokens: int) -> KvCache:
        """Make an empty cache with room for `capacity_tokens`, at most the model's context."""
        capacity = max(1, min(capacity_tokens, self._config.max_context))
        storage = F32KvStorage(self._config, capacity)
        return KvCache(storage, max_context=self._config.max_context)

    def chunk_tokens(self, start: int) -> int:
        """Tell how many tokens a block call should take."""
        native = self._products.name == "matmul"
        return choose_chunk_tokens(self._config, start, native=native)

    def embed(self, ids: I32) -> F32:
        """Look up token rows: `[T] -> [T, H]`."""
        return np.asarray(self._embedding[ids])

    def attention_block(self, layer: int, hidden: F32, cache: KvCache, start: int) -> F32:
        """Norm, attention, residual: `[T, H] -> [T, H]`."""
        shape, weights = self._config, self._layers[layer]
        storage = _storage_of(cache)
        normed = rms_norm(hidden, weights.attention_norm, shape.rms_norm_epsilon)  # [T, H]
        rows = self._products.by_rows(normed, weights.qkv)  # [T, (A + 2 K) D]
        heads = rows.reshape(len(hidden), -1, shape.head_dim)  # [T, A + 2 K, D]
        value_start = shape.head_count + shape.kv_head_count
        turned = rotary(heads[:, :value_start], self._rotations_of(start, len(hidden)))
        storage.write(
            layer, start, keys=turned[:, shape.head_count :], values=heads[:, value_start:]
        )
        end = start + len(hidden)
        mixed = attention(
            turned[:, : shape.head_count],
            storage.keys[layer][:, :end],
            storage.values[layer][:, :end],
            self._products,
        )  # [T, A, D]
        flat = mixed.reshape(len(hidden), -1)  # [T, A D]
        return hidden + self._products.by_rows(flat, weights.output)

    def feed_forward_block(self, layer: int, hidden: F32) -> F32:
        """Norm, SwiGLU, residual: `[T, H] -> [T, H]`."""
        weights = self._layers[layer]
        normed = rms_norm(hidden, weights.feed_forward_norm, self._config.rms_norm_epsilon)
        inner = swiglu(self._products.by_rows(normed, weights.gate_up))  # [T, F]
        return hidden + self._products.by_rows(inner, weights.down)

    def logits(self, hidden: F32) -> F32:
        """Final norm and output product: `[T, H] -> [T, V]`."""
        normed = rms_norm(hidden, self._norm, self._config.rms_norm_epsilon)  # [T, H]
        return self._products.by_rows(normed, self._head)

    def close(self) -> None:
        """Let go of the weights."""
        self._layers = []
        self._embedding = np.empty((0, self._config.hidden_size), dtype=np.float32)
        self._head = self._embedding
        self._norm = np.empty(0, dtype=np.float32)

    def _rotations_of(self, start: int, count: int) -> np.ndarray:
        """Give rows of the rotation table, which doubles when positions run past its end."""
        end = start + count
        if end > len(self._rotations):
            length = min(self._config.max_context, max(end, 2 * len(self._rotations), 256))
            self._rotations = rotary_table(length, self._config.head_dim, self._config.rope_theta)
        return self._rotations[start:end]


def choose_chunk_tokens(config: ModelConfig, start: int, *, native: bool) -> int:
    """Fill one unit of work with tokens, by counting operations; at least one token.

    A token costs `6 H F` in the feed-forward block, and in the attention block
    `4 H (A + K) D` for the four products plus `4 A D S` for looking at S tokens.
    """
    heads_width = config.head_count * config.head_dim
    looking_flop = _ATTENTION_WEIGHT * 4 * heads_width * start
    products_flop = 4 * config.hidden_size * (heads_width + config.kv_size)
    feed_forward_flop = 6 * config.hidden_size * config.ffn_size
    budget = _NATIVE_UNIT_FLOP if native else _BROWSER_UNIT_FLOP
    wanted = int(budget / max(products_flop + looking_flop, feed_forward_flop))
    return min(_MAX_CHUNK_TOKENS, max(1, wanted))


def _read_layer(model: TensorSource, index: int) -> _Layer:
    def read(*parts: str) -> F32:
        """Put tensors with the same row width below each other."""
        tensors = [model.read_f32(layer_name(index, part)) for part in parts]
        return tensors[0] if len(tensors) == 1 else np.concatenate(tensors, axis=0)

    return _Layer(
        attention_norm=read("attn_norm"),
        qkv=read("wq", "wk", "wv"),
        output=read("wo"),
        feed_forward_norm=read("ffn_norm"),
        gate_up=read("w1", "w3"),
        down=read("w2"),
    )


def _storage_of(cache: KvCache) -> F32KvStorage:
    if not isinstance(cache.storage, F32KvStorage):
        raise kernel_error(
            ErrorCode.INVALID_SETTING,
            "cache",
            "The cache was made by another op set; make one with new_cache.",
        )
    return cache.storage
