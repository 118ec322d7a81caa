"""Run the same decoder slowly and plainly, in float64, one token at a time.

Takes a model's tensors and token ids.
Gives the logits after every token; tests compare the fast paths with it.
Does not know caches, chunks, or any product but that of one matrix and one vector.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kernels.arrays import F64
from kernels.model_config import ModelConfig
from kernels.model_names import OUTPUT, OUTPUT_NORM, TOKEN_EMBEDDINGS, layer_name
from kernels.ops import TensorSource


@dataclass(slots=True)
class _Past:
    """What one layer has seen: for each token one row per key/value head."""

    keys: list[list[F64]] = field(default_factory=list)  # [S][K] of [D]
    values: list[list[F64]] = field(default_factory=list)  # [S][K] of [D]


def reference_logits(model: TensorSource, ids: Sequence[int]) -> F64:
    """Read `ids` from an empty context and give the logits after each: `[T] -> [T, V]`."""
    config = model.config
    embeddings = model.read_f32(TOKEN_EMBEDDINGS).astype(np.float64)  # [V, H]
    head = embeddings if config.tied_output else model.read_f32(OUTPUT).astype(np.float64)
    final_norm = model.read_f32(OUTPUT_NORM).astype(np.float64)  # [H]
    past = [_Past() for _ in range(config.layer_count)]
    rows = []
    for position, token in enumerate(ids):
        hidden = embeddings[token]  # [H]
        for layer in range(config.layer_count):
            hidden = hidden + _attend(model, layer, hidden, position, past[layer])
            hidden = hidden + _feed_forward(model, layer, hidden)
        rows.append(head @ reference_norm(hidden, final_norm, config.rms_norm_epsilon))  # [V]
    return np.array(rows)


def reference_norm(row: F64, weight: F64, epsilon: float) -> F64:
    """Scale one row to root mean square 1: `[H], [H] -> [H]`."""
    mean_square = sum(float(value) ** 2 for value in row) / len(row)
    return row / math.sqrt(mean_square + epsilon) * weight


def reference_rotary(head: F64, position: int, theta: float) -> F64:
    """Turn adjacent pairs of one head counter-clockwise: `[D] -> [D]`."""
    turned = np.empty_like(head)
    width = len(head)
    for first in range(0, width, 2):
        angle = position * theta ** (-first / width)
        x, y = float(head[first]), float(head[first + 1])
        turned[first] = x * math.cos(angle) - y * math.sin(angle)
        turned[first + 1] = x * math.sin(angle) + y * math.cos(angle)
    return turned


def reference_attention(query: F64, keys: Sequence[F64], values: Sequence[F64]) -> F64:
    """Mix value rows by softmax of scaled dot products: `[D], S of [D], S of [D] -> [D]`."""
    scores = [float(query @ key) / math.sqrt(len(query)) for key in keys]
    largest = max(scores)
    shares = [math.exp(score - largest) for score in scores]
    mixed = np.zeros_like(query)
    for share, value in zip(shares, values, strict=True):
        mixed += share / sum(shares) * value
    return mixed


def reference_swiglu(gate: F64, up: F64) -> F64:
    """Give `silu(gate) * up`: `[F], [F] -> [F]`."""
    pairs = zip(gate.tolist(), up.tolist(), strict=True)
    return np.array([x / (1 + math.exp(-x)) * y for x, y in pairs])


def _attend(model: TensorSource, layer: int, hidden: F64, position: int, past: _Past) -> F64:
    config = model.config
    normed = reference_norm(hidden, _read(model, layer, "attn_norm"), config.rms_norm_epsilon)
    queries = _heads(config, _read(model, layer, "wq") @ normed)  # A of [D]
    keys = _heads(config, _read(model, layer, "wk") @ normed)  # K of [D]
    past.keys.append([reference_rotary(key, position, config.rope_theta) for key in keys])
    past.values.append(_heads(config, _read(model, layer, "wv") @ normed))
    group = config.head_count // config.kv_head_count
    mixed = []
    for index, query in enumerate(queries):
        turned = reference_rotary(query, position, config.rope_theta)
        seen_keys = [heads[index // group] for heads in past.keys]
        seen_values = [heads[index // group] for heads in past.values]
        mixed.append(reference_attention(turned, seen_keys, seen_values))  # [D]
    return _read(model, layer, "wo") @ np.concatenate(mixed)  # [H]


def _feed_forward(model: TensorSource, layer: int, hidden: F64) -> F64:
    epsilon = model.config.rms_norm_epsilon
    normed = reference_norm(hidden, _read(model, layer, "ffn_norm"), epsilon)
    gate = _read(model, layer, "w1") @ normed  # [F]
    up = _read(model, layer, "w3") @ normed  # [F]
    return _read(model, layer, "w2") @ reference_swiglu(gate, up)  # [H]


def _heads(config: ModelConfig, row: F64) -> list[F64]:
    return [row[start : start + config.head_dim] for start in range(0, len(row), config.head_dim)]


def _read(model: TensorSource, layer: int, part: str) -> F64:
    return model.read_f32(layer_name(layer, part)).astype(np.float64)
