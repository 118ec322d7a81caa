"""GGUF blocks decode by their written formulas, and bit for bit as the public package does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.gguf_blocks import GgufType, decode_rows, is_whole_blocks, row_bytes

HALF_ONE = b"\x00\x3c"  # 1.0 as float16
HALF_TWO = b"\x00\x40"

BYTES = st.binary(min_size=32, max_size=32)


def decode(kind, raw, columns=32):
    """Decode one row."""
    return decode_rows(kind, np.frombuffer(raw, np.uint8).reshape(1, -1), columns)[0]


def test_q8_0_is_scale_times_signed_byte():
    """D = 2, bytes -1 and 127."""
    row = decode(GgufType.Q8_0, HALF_TWO + bytes([0xFF, 0x7F]) + bytes(30))
    assert row[:3].tolist() == [-2.0, 254.0, 0.0]


def test_q4_0_is_centred_at_8_and_low_nibbles_come_first():
    """Weights 0 to 15 are low nibbles, 16 to 31 high ones."""
    row = decode(GgufType.Q4_0, HALF_ONE + bytes([0x9F]) + bytes([0x88] * 15))
    assert (row[0], row[1], row[16], row[17]) == (7.0, 0.0, 1.0, 0.0)


def test_q4_1_adds_the_minimum():
    """Weight = d x q + m."""
    row = decode(GgufType.Q4_1, HALF_TWO + HALF_ONE + bytes([0x3F]) + bytes(15))
    assert (row[0], row[1], row[16]) == (31.0, 1.0, 7.0)


def test_f16_and_f32_are_taken_as_they_are():
    """Without blocks any width will do."""
    assert decode(GgufType.F16, HALF_ONE + HALF_TWO, 2).tolist() == [1.0, 2.0]
    raw = np.array([1.5, -2.5, 0.1], "<f4")
    assert decode(GgufType.F32, raw.tobytes(), 3).tolist() == raw.tolist()
    assert is_whole_blocks(GgufType.F16, 3)
    assert not is_whole_blocks(GgufType.Q4_0, 33)


@given(seed=st.integers(0, 1 << 32), rows=st.integers(1, 3), blocks=st.integers(1, 3))
def test_every_type_equals_the_public_package_bit_for_bit(seed, rows, blocks):
    """Random bytes, so every nibble and every finite or broken scale occurs."""
    gguf = pytest.importorskip("gguf")
    draw = np.random.default_rng(seed)
    for kind in GgufType:
        columns = 32 * blocks
        width = row_bytes(kind, columns)
        raw = draw.integers(0, 256, (rows, width), dtype=np.uint8)
        with np.errstate(all="ignore"):
            ours = decode_rows(kind, raw, columns)
            theirs = gguf.quants.dequantize(raw, gguf.GGMLQuantizationType(kind.value))
        np.testing.assert_array_equal(ours.view(np.uint32), _bits(theirs, ours.shape))


def _bits(array, shape):
    return np.ascontiguousarray(array, dtype=np.float32).reshape(shape).view(np.uint32)
