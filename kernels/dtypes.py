"""How weights are stored: float32, signed bytes or nibbles with scales, or nibbles with a minimum.

Takes float32 rows and gives payload and scale arrays in the SLM1 layout, and back.
Each stored dtype is defined here once: bytes a row, scales a row, rounding.
Does not know files or tensor names.

Rounding (the SLM1 documents leave it open): bytes have the scale largest magnitude of the block
/ 127, nibbles the scale that `kernels.nibble_scales` finds; then round half to even, clip. A block
of zeros has scale 1. Every step is one IEEE float32 operation per weight in a fixed order, so the
bytes are the same on every machine.

Worked example, q8_0, one row of two weights [0.5, -0.25]: scale = 0.5 / 127, q = [127, -64]
(63.5 rounds to the even 64), and the first weight comes back as 127 * scale = 0.5.

q4_1 is this project's own type, with the values of GGUF's Q4_1: codes 0..15, and for each block of
32 a scale and a minimum in float16; weight = scale x code + minimum, two float32 operations. The
scale is (largest - smallest) / 15, the minimum the smallest weight, both rounded to float16.
"""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from kernels.arrays import F32
from kernels.nibble_scales import round_nibble_blocks

I8: TypeAlias = npt.NDArray[np.int8]
U8: TypeAlias = npt.NDArray[np.uint8]

BYTE_LIMIT = 127
HIGHEST_CODE = 15
_LARGEST_HALF = np.float32(65504)
MINIMUM_BLOCK = 32
"""Weights that share a scale and a minimum in q4_1."""


class DType(IntEnum):
    """Directory numbers of the stored types; 100 and above are this project's own."""

    F32 = 1
    Q8_0 = 2
    Q4_0 = 3
    Q4_1 = 101

    @property
    def label(self) -> str:
        """The name that people type: f32, q8_0, q4_0, q4_1."""
        return self.name.lower()


DTYPE_LABELS = tuple(dtype.label for dtype in DType)


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor as it lies in the file.

    Attributes:
        dtype: Stored type.
        shape: Logical shape; the last dimension is the row width, all others together are rows.
        payload: f32: float32 [shape]; q8_0: int8 [rows, columns]; q4_0 and q4_1: uint8
            [rows, columns / 2].
        scales: float32 [rows, columns / block_size], or None for f32; q4_1: [rows,
            columns / 32, 2], the scale and the minimum, both values of float16.
        block_size: Weights that share one scale; equal to the row width for row scales, 0 for f32.
    """

    dtype: DType
    shape: tuple[int, ...]
    payload: F32 | I8 | U8
    scales: F32 | None
    block_size: int

    def to_f32(self) -> F32:
        """Return float32 weights in the logical shape."""
        return dequantise(self.dtype, self.payload, self.scales).reshape(self.shape)


def rows_and_columns(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return (rows, columns) of a logical shape; a vector is one row."""
    return math.prod(shape[:-1]), shape[-1]


def payload_bytes_per_row(dtype: DType, columns: int) -> int:
    """Return the encoded size of one row without its scales."""
    match dtype:
        case DType.F32:
            return 4 * columns
        case DType.Q8_0:
            return columns
        case DType.Q4_0 | DType.Q4_1:
            return columns // 2
    assert_never(dtype)


def scale_shape(dtype: DType, rows: int, columns: int, block_size: int) -> tuple[int, ...]:
    """Return the shape of a quantised tensor's scales; each block has four bytes of them."""
    blocks = columns // block_size
    return (rows, blocks, 2) if dtype == DType.Q4_1 else (rows, blocks)


def scale_kind(dtype: DType) -> npt.DTypeLike:
    """Return how a scale is written."""
    return "<f2" if dtype == DType.Q4_1 else "<f4"


def find_block_fault(dtype: DType, columns: int, block_size: int) -> str | None:
    """Return why a block size does not fit a row, as half a sentence, or None.

    q8_0 takes the row width (SLM1) or a divisor of it (this project), q4_0 an even divisor,
    q4_1 only 32.
    """
    if dtype == DType.F32:
        return None
    if block_size < 1 or columns % block_size:
        return f"must divide the row width {columns}"
    if dtype == DType.Q4_1 and block_size != MINIMUM_BLOCK:
        return f"must be {MINIMUM_BLOCK} for q4_1"
    if dtype == DType.Q4_0 and block_size % 2:
        return "must be even, since two weights share a byte"
    return None


def quantise(dtype: DType, rows: F32, block_size: int) -> tuple[F32 | I8 | U8, F32 | None]:
    """Encode float32 rows.

    Args:
        dtype: Stored type.
        rows: Finite float32 [rows, columns].
        block_size: Weights that share a scale; ignored for f32.

    Returns:
        Payload and scales as `StoredTensor` describes them.
    """
    match dtype:
        case DType.F32:
            return np.ascontiguousarray(rows, dtype="<f4"), None
        case DType.Q8_0:
            return _round_bytes(rows, block_size)
        case DType.Q4_0:
            signed, scales = round_nibble_blocks(rows, block_size)
            return pack_nibbles(signed), scales
        case DType.Q4_1:
            return _code_blocks(rows)
    assert_never(dtype)


def dequantise(dtype: DType, payload: F32 | I8 | U8, scales: F32 | None) -> F32:
    """Decode a payload to float32 [rows, columns]: weight = q x scale (+ minimum for q4_1)."""
    if dtype == DType.F32 or scales is None:
        return payload.astype(np.float32, copy=False)
    if dtype == DType.Q4_1:
        return _decode_codes(payload.view(np.uint8), scales)
    signed = unpack_nibbles(payload.view(np.uint8)) if dtype == DType.Q4_0 else payload
    row_count, columns = signed.shape
    blocks = signed.reshape(row_count, scales.shape[1], -1).astype(np.float32)  # [rows, B, block]
    blocks *= scales[:, :, None]
    return blocks.reshape(row_count, columns)  # [rows, columns]


def pack_nibbles(signed: I8) -> U8:
    """Pack int8 [rows, columns] in -8..7 to uint8 [rows, columns / 2], even columns low."""
    unsigned = signed.view(np.uint8) & np.uint8(0x0F)
    return unsigned[:, 0::2] | (unsigned[:, 1::2] << np.uint8(4))


def unpack_nibbles(packed: U8) -> I8:
    """Undo `pack_nibbles`: uint8 [rows, columns / 2] to int8 [rows, columns]."""
    signed = np.empty((packed.shape[0], packed.shape[1] * 2), dtype=np.int8)
    # Shifting the nibble to the top and back down arithmetically copies its sign bit.
    signed[:, 0::2] = (packed << np.uint8(4)).view(np.int8) >> np.int8(4)
    signed[:, 1::2] = packed.view(np.int8) >> np.int8(4)
    return signed


def unpack_codes(packed: U8) -> U8:
    """Give the unsigned nibbles 0..15 of uint8 [rows, columns / 2] as uint8 [rows, columns]."""
    codes = np.empty((packed.shape[0], packed.shape[1] * 2), dtype=np.uint8)
    codes[:, 0::2] = packed & np.uint8(0x0F)
    codes[:, 1::2] = packed >> np.uint8(4)
    return codes


def _code_blocks(rows: F32) -> tuple[U8, F32]:
    row_count, columns = rows.shape
    blocks = rows.reshape(row_count, columns // MINIMUM_BLOCK, MINIMUM_BLOCK)  # [rows, B, 32]
    lowest = np.clip(blocks.min(axis=2), -_LARGEST_HALF, _LARGEST_HALF)  # [rows, B]
    spread = np.clip(blocks.max(axis=2) - lowest, 0, _LARGEST_HALF)
    halves = np.stack((spread / np.float32(HIGHEST_CODE), lowest), axis=2).astype(np.float16)
    scales = halves.astype(np.float32)  # [rows, B, 2]
    scale, minimum = scales[:, :, :1], scales[:, :, 1:]
    # A block of equal weights has scale 0: all its codes are 0, and any divisor will do.
    levels = np.rint((blocks - minimum) / np.where(scale > 0, scale, np.float32(1)))
    codes = np.where(scale > 0, np.clip(levels, 0, HIGHEST_CODE), 0).astype(np.uint8)
    return pack_nibbles(codes.reshape(row_count, columns).view(np.int8)), scales


def _decode_codes(packed: U8, scales: F32) -> F32:
    codes = unpack_codes(packed)
    row_count, columns = codes.shape
    blocks = codes.reshape(row_count, columns // MINIMUM_BLOCK, MINIMUM_BLOCK).astype(np.float32)
    blocks *= scales[:, :, :1]
    blocks += scales[:, :, 1:]
    return blocks.reshape(row_count, columns)  # [rows, columns]


def _round_bytes(rows: F32, block_size: int) -> tuple[I8, F32]:
    row_count, columns = rows.shape
    blocks = rows.reshape(row_count, columns // block_size, block_size)  # [rows, B, block]
    scales = np.abs(blocks).max(axis=2) / np.float32(BYTE_LIMIT)  # [rows, B]
    # A block of zeros, or one so small that the division underflows, keeps a usable scale.
    scales = np.where(scales > 0, scales, np.float32(1)).astype(np.float32)
    levels = np.rint(blocks / scales[:, :, None])
    signed = np.clip(levels, -BYTE_LIMIT, BYTE_LIMIT).astype(np.int8)
    return signed.reshape(row_count, columns), scales
