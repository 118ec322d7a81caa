"""Decode the weight blocks of GGUF files to float32.

Takes the bytes of whole rows. Gives float32 [rows, columns], equal bit for bit to the public
`gguf` package. Does not know tensors or files.

Blocks hold 32 weights. d and m are float16; low nibbles are weights 0 to 15, high ones 16 to 31:
    Q8_0  d, 32 signed bytes           weight = d x q
    Q4_0  d, 16 bytes of nibbles       weight = d x (q - 8)
    Q4_1  d, m, 16 bytes of nibbles    weight = d x q + m
"""

from enum import IntEnum
from typing import assert_never

import numpy as np

from kernels.arrays import F32
from kernels.dtypes import U8

BLOCK = 32
NIBBLE_CENTRE = 8


class GgufType(IntEnum):
    """The tensor types that can be read, with their numbers in the file."""

    F32 = 0
    F16 = 1
    Q4_0 = 2
    Q4_1 = 3
    Q8_0 = 8


def row_bytes(kind: GgufType, columns: int) -> int:
    """Return the encoded size of one row; block types need a multiple of 32 columns."""
    match kind:
        case GgufType.F32:
            return 4 * columns
        case GgufType.F16:
            return 2 * columns
        case GgufType.Q4_0:
            return columns // BLOCK * 18
        case GgufType.Q4_1:
            return columns // BLOCK * 20
        case GgufType.Q8_0:
            return columns // BLOCK * 34
    assert_never(kind)


def is_whole_blocks(kind: GgufType, columns: int) -> bool:
    """Tell whether rows of this width can be stored in this type."""
    return kind in (GgufType.F32, GgufType.F16) or columns % BLOCK == 0


def decode_rows(kind: GgufType, data: U8, columns: int) -> F32:
    """Decode uint8 [rows, row_bytes] to float32 [rows, columns]."""
    rows = data.shape[0]
    match kind:
        case GgufType.F32:
            return data.view("<f4").astype(np.float32, copy=False)
        case GgufType.F16:
            return data.view("<f2").astype(np.float32)
        case GgufType.Q4_0:
            blocks = data.reshape(-1, 18)  # [blocks, 18]
            quants = _nibbles(blocks[:, 2:]) - np.float32(NIBBLE_CENTRE)  # [blocks, 32]
            return (_half(blocks, 0) * quants).reshape(rows, columns)
        case GgufType.Q4_1:
            blocks = data.reshape(-1, 20)  # [blocks, 20]
            scaled = _half(blocks, 0) * _nibbles(blocks[:, 4:])  # [blocks, 32]
            return (scaled + _half(blocks, 2)).reshape(rows, columns)
        case GgufType.Q8_0:
            blocks = data.reshape(-1, 34)  # [blocks, 34]
            quants = blocks[:, 2:].view(np.int8).astype(np.float32)  # [blocks, 32]
            return (_half(blocks, 0) * quants).reshape(rows, columns)
    assert_never(kind)


def _half(blocks: U8, start: int) -> F32:
    pair = np.ascontiguousarray(blocks[:, start : start + 2])
    return pair.view("<f2").astype(np.float32)  # [blocks, 1]


def _nibbles(packed: U8) -> F32:
    halves = np.concatenate((packed & np.uint8(0x0F), packed >> np.uint8(4)), axis=1)
    return halves.astype(np.float32)  # [blocks, 32]
