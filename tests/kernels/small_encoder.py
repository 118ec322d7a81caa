"""A tiny encoder with seeded weights: container bytes and the same network in plain float64."""

import math

import numpy as np

from kernels.byte_source import BytesLike, BytesSource
from kernels.dtypes import DType
from kernels.embedder_file import EmbedderFile, open_embedder, write_embedder
from kernels.embedder_names import EncoderConfig, encoder_tensors

CONFIG = EncoderConfig(
    vocab_size=12,
    hidden_size=8,
    layer_count=2,
    head_count=2,
    ffn_size=16,
    max_context=16,
    norm_epsilon=1e-12,
)
WIDE = EncoderConfig(
    vocab_size=12,
    hidden_size=64,
    layer_count=2,
    head_count=2,
    ffn_size=128,
    max_context=40,
    norm_epsilon=1e-12,
)
"""Wide enough that the kernels keep 8-bit matrices as such."""

VOCABULARY = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "f", "g", "h"])


class Sink:
    """Collects what is written."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: BytesLike, /) -> None:
        """Append."""
        self.data += bytes(data)


def make_weights(
    seed: int = 3, config: EncoderConfig = CONFIG
) -> dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"]:
    """Draw all weights."""
    draw = np.random.default_rng(seed)
    return {
        name: draw.normal(scale=0.5, size=shape).astype(np.float32)
        for name, shape in encoder_tensors(config)
    }


def make_bytes(dtype: DType = DType.F32, config: EncoderConfig = CONFIG) -> bytes:
    """Write the container."""
    weights, sink = make_weights(config=config), Sink()
    write_embedder(sink, config, VOCABULARY, weights.__getitem__, dtype=dtype)
    return sink.data


def open_small(dtype: DType = DType.F32, config: EncoderConfig = CONFIG) -> EmbedderFile:
    """Open the container."""
    return open_embedder(BytesSource(make_bytes(dtype, config)))


def encode_plainly(ids: list[int]) -> list[float]:
    """The same network, number by number in double precision."""
    w = {name: value.astype(float).tolist() for name, value in make_weights().items()}
    places = [
        [
            w["embeddings.word_embeddings.weight"][token][c]
            + w["embeddings.position_embeddings.weight"][place][c]
            + w["embeddings.token_type_embeddings.weight"][0][c]
            for c in range(CONFIG.hidden_size)
        ]
        for place, token in enumerate(ids)
    ]
    rows = [_norm(row, w, "embeddings.LayerNorm") for row in places]
    for layer in range(CONFIG.layer_count):
        rows = _layer(rows, w, f"encoder.layer.{layer}.")
    mean = [sum(row[c] for row in rows) / len(rows) for c in range(CONFIG.hidden_size)]
    length = math.sqrt(sum(x * x for x in mean))
    return [x / length for x in mean]


def _linear(row, w, name):
    return [
        sum(a * b for a, b in zip(row, line, strict=True)) + bias
        for line, bias in zip(w[f"{name}.weight"], w[f"{name}.bias"], strict=True)
    ]


def _norm(row, w, name):
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    scale = math.sqrt(variance + CONFIG.norm_epsilon)
    return [
        (x - mean) / scale * g + b
        for x, g, b in zip(row, w[f"{name}.weight"], w[f"{name}.bias"], strict=True)
    ]


def _layer(rows, w, prefix):
    q, k, v = (
        [_linear(row, w, f"{prefix}attention.self.{name}") for row in rows]
        for name in ("query", "key", "value")
    )
    mixed = [_attend(index, q, k, v) for index in range(len(rows))]
    out = []
    for before, mix in zip(rows, mixed, strict=True):
        dense = _linear(mix, w, f"{prefix}attention.output.dense")
        row = _norm(
            [a + b for a, b in zip(before, dense, strict=True)],
            w,
            f"{prefix}attention.output.LayerNorm",
        )
        wide = [
            x / 2 * (1 + math.erf(x / math.sqrt(2)))
            for x in _linear(row, w, f"{prefix}intermediate.dense")
        ]
        dense = _linear(wide, w, f"{prefix}output.dense")
        out.append(
            _norm([a + b for a, b in zip(row, dense, strict=True)], w, f"{prefix}output.LayerNorm")
        )
    return out


def _attend(index, q, k, v):
    mixed = []
    width = CONFIG.head_dim
    for head in range(CONFIG.head_count):
        part = slice(head * width, head * width + width)
        scores = [
            sum(a * b for a, b in zip(q[index][part], key[part], strict=True)) / math.sqrt(width)
            for key in k
        ]
        largest = max(scores)
        weights = [math.exp(score - largest) for score in scores]
        total = sum(weights)
        mixed += [
            sum(weight / total * value[part][c] for weight, value in zip(weights, v, strict=True))
            for c in range(width)
        ]
    return mixed
