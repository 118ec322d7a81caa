"""A BERT-style text encoder on numpy: token ids in, one unit vector out.

Takes an open embedder file once, then ids. Six layers of attention over the whole text and a GELU
feed-forward block, layer norm after each residual, the mean over all tokens, scaled to length 1.
Does not know how text becomes ids, nor what vectors are compared with.

Sources: J. Devlin et al., BERT (2018); N. Reimers and I. Gurevych, Sentence-BERT (2019), mean
pooling. The error function is formula 7.1.26 of Abramowitz and Stegun, off by at most 1.5e-7.

Shapes: T tokens of one text, H hidden width, A heads of D, F feed-forward width.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernels.arrays import F32
from kernels.dtypes import StoredTensor
from kernels.embedder_file import EmbedderFile
from kernels.embedder_names import LINEAR_NAMES, NORM_NAMES, EncoderConfig, layer_tensor

_ERF_SHIFT = np.float32(0.3275911)
_ERF = tuple(
    np.float32(c) for c in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)
_HALF_ROOT = np.float32(np.sqrt(0.5))


class TextEncoder(Protocol):
    """One loaded encoder, whatever it computes with."""

    @property
    def config(self) -> EncoderConfig:
        """The file's header."""

    @property
    def weight_bytes(self) -> int:
        """Bytes that the loaded weights hold, tables included."""

    def encode(self, ids: Sequence[int]) -> F32:
        """Give the vector of one text: ids [T] to [H], length 1."""

    def encode_steps(self, ids: Sequence[int]) -> Iterator[F32]:
        """Give the mean so far after each step, so that the caller may pause or stop between."""

    def close(self) -> None:
        """Let go of the weights."""


class TokenRows:
    """The tables that turn ids into the first rows: elementwise, so the same on every machine."""

    def __init__(self, file: EmbedderFile) -> None:
        """Take the words as they are stored, and the positions as float32."""
        self._words: StoredTensor = file.read_tensor("embeddings.word_embeddings.weight")
        positions = file.read_f32("embeddings.position_embeddings.weight")
        kinds = file.read_f32("embeddings.token_type_embeddings.weight")
        # Every text is of kind 0, so that row joins the positions once.
        self._places: F32 = positions + kinds[0]

    @property
    def stored_bytes(self) -> int:
        """Bytes of both tables."""
        scales = self._words.scales
        return (
            self._words.payload.nbytes
            + self._places.nbytes
            + (scales.nbytes if scales is not None else 0)
        )

    def look_up(self, ids: Sequence[int]) -> F32:
        """Add up word and position of each token: [T, H]."""
        rows = np.asarray(ids, dtype=np.int64)
        table = self._words.payload[rows].astype(np.float32)  # [T, H]
        if self._words.scales is not None:
            table *= self._words.scales[rows]
        added: F32 = table + self._places[: len(rows)]
        return added


class NumpyProducts:
    """Matrices as float32 in memory."""

    def __init__(self, file: EmbedderFile) -> None:
        self._matrices: dict[str, tuple[F32, F32]] = {}
        for layer in range(file.config.layer_count):
            for name in LINEAR_NAMES:
                full = layer_tensor(layer, name)
                weight = np.ascontiguousarray(file.read_f32(f"{full}.weight").T)  # [in, out]
                self._matrices[full] = (weight, file.read_f32(f"{full}.bias"))

    @property
    def stored_bytes(self) -> int:
        """Bytes of all matrices."""
        return sum(weight.nbytes + bias.nbytes for weight, bias in self._matrices.values())

    def linear(self, name: str, rows: F32) -> F32:
        """Rows [T, in] times the matrix `name`.weight [out, in], plus `name`.bias: [T, out]."""
        weight, bias = self._matrices[name]
        return rows @ weight + bias  # [T, out]


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: F32
    bias: F32
    epsilon: np.float32

    def __call__(self, rows: F32) -> F32:
        centred = rows - rows.mean(axis=1, keepdims=True)  # [T, H]
        variance = (centred * centred).mean(axis=1, keepdims=True)  # [T, 1]
        normed: F32 = centred / np.sqrt(variance + self.epsilon) * self.weight + self.bias
        return normed


class Encoder:
    """One encoder on numpy, its matrices as float32."""

    def __init__(self, file: EmbedderFile) -> None:
        """Take all weights of a file."""
        self.config: EncoderConfig = file.config
        self._rows = TokenRows(file)
        self._products = NumpyProducts(file)
        self._norms = {name: _read_norm(file, name) for name in _norm_names(file.config)}
        self.weight_bytes = self._rows.stored_bytes + self._products.stored_bytes

    def encode(self, ids: Sequence[int]) -> F32:
        """Give the vector of one text: ids [T] to [H], length 1."""
        return last_of(self.encode_steps(ids))

    def encode_steps(self, ids: Sequence[int]) -> Iterator[F32]:
        """Give the mean so far after each layer, so that the caller may pause or stop between."""
        hidden = self._norms["embeddings.LayerNorm"](self._rows.look_up(ids))  # [T, H]
        for layer in range(self.config.layer_count):
            hidden = self._attend(layer, hidden)
            hidden = self._feed_forward(layer, hidden)
            yield _unit(hidden.mean(axis=0))

    def close(self) -> None:
        """Nothing to do: the arrays go with this object."""

    def _attend(self, layer: int, hidden: F32) -> F32:
        config = self.config
        T, A, D = len(hidden), config.head_count, config.head_dim

        def heads(name: str) -> F32:
            rows = self._products.linear(layer_tensor(layer, f"attention.self.{name}"), hidden)
            return rows.reshape(T, A, D).transpose(1, 0, 2)  # [A, T, D]

        scores = heads("query") @ heads("key").transpose(0, 2, 1)  # [A, T, T]
        scores *= np.float32(1 / np.sqrt(D))
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        mixed = (scores @ heads("value")).transpose(1, 0, 2).reshape(T, A * D)  # [T, H]
        dense = self._products.linear(layer_tensor(layer, "attention.output.dense"), mixed)
        return self._norms[layer_tensor(layer, NORM_NAMES[0])](hidden + dense)

    def _feed_forward(self, layer: int, hidden: F32) -> F32:
        wide = gelu(self._products.linear(layer_tensor(layer, "intermediate.dense"), hidden))
        dense = self._products.linear(layer_tensor(layer, "output.dense"), wide)  # [T, H]
        return self._norms[layer_tensor(layer, NORM_NAMES[1])](hidden + dense)


def gelu(rows: F32) -> F32:
    """Give x/2 * (1 + erf(x / sqrt 2)), the exact form and not the one by tanh."""
    scaled = rows * _HALF_ROOT
    size = np.abs(scaled)
    step = np.float32(1) / (np.float32(1) + _ERF_SHIFT * size)
    series = np.zeros_like(step)
    for coefficient in _ERF:
        series = (series + coefficient) * step
    erf = np.copysign(np.float32(1) - series * np.exp(-size * size), scaled)
    return np.asarray(rows * np.float32(0.5) * (np.float32(1) + erf), dtype=np.float32)


def last_of(steps: Iterator[F32]) -> F32:
    """Give the vector that steps end with."""
    vector: F32 = np.empty(0, dtype=np.float32)
    for vector in steps:  # noqa: B007 - the last one counts
        pass
    return vector


def _unit(vector: F32) -> F32:
    length = np.float32(np.sqrt((vector * vector).sum()))
    unit: F32 = vector / length if length > 0 else vector
    return unit


def _norm_names(config: EncoderConfig) -> list[str]:
    layers = range(config.layer_count)
    own = [layer_tensor(layer, name) for layer in layers for name in NORM_NAMES]
    return ["embeddings.LayerNorm", *own]


def _read_norm(file: EmbedderFile, name: str) -> _Norm:
    epsilon = np.float32(file.config.norm_epsilon)
    return _Norm(file.read_f32(f"{name}.weight"), file.read_f32(f"{name}.bias"), epsilon)
