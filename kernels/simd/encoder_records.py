"""Lay out the records of `source/encoder.h`: 32-bit words, pointers as addresses.

Takes matrices that are placed and the addresses of vectors; gives bytes. Does not know the port.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kernels.embedder_names import LINEAR_NAMES, NORM_NAMES, EncoderConfig
from kernels.simd.records import MatrixRecord, pack

Words = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class NormAddress:
    """`Norm`: where weight and bias lie."""

    weight: int
    bias: int


@dataclass(frozen=True, slots=True)
class EncoderLayerRecord:
    """`EncoderLayer`, by the names of the container."""

    matrices: Mapping[str, MatrixRecord]
    biases: Mapping[str, int]
    norms: Mapping[str, NormAddress]

    def pack(self) -> Words:
        """Give the bytes: six matrices, six biases, two norms."""
        biases = [self.biases[name] for name in LINEAR_NAMES]
        norms = [word for name in NORM_NAMES for word in _words_of(self.norms[name])]
        matrices = pack(*(self.matrices[name] for name in LINEAR_NAMES))
        return np.concatenate([matrices, _pack_words(*biases, *norms)])


def pack_encoder(config: EncoderConfig, norm: NormAddress, layers: int) -> Words:
    """Give the bytes of `Encoder`."""
    shape = (config.hidden_size, config.head_count, config.head_dim, config.ffn_size)
    scale = 1 / config.head_dim**0.5
    data = struct.pack(
        "<4I2f3I", *shape, config.norm_epsilon, scale, norm.weight, norm.bias, layers
    )
    return np.frombuffer(data, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class EncoderRoomRecord:
    """`EncoderRoom`: the addresses of its buffers, `Activations` in their place."""

    codes: int
    steps: int
    scales: int
    sums: int
    unsigned_starts: int
    signed_starts: int
    blocks: int
    panel: int
    hidden: int
    queries: int
    keys: int
    values: int
    mixed: int
    wide: int
    scores: int

    def pack(self) -> Words:
        """Give the bytes."""
        return _pack_words(*(getattr(self, name) for name in self.__dataclass_fields__))


def _words_of(norm: NormAddress) -> tuple[int, int]:
    return norm.weight, norm.bias


def _pack_words(*words: int) -> Words:
    return np.array(words, dtype="<u4").view(np.uint8)
