"""Quantised weights come back within half a step, and the layouts are those of SLM1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.dtypes import (
    DType,
    dequantise,
    find_block_fault,
    pack_nibbles,
    quantise,
    rows_and_columns,
    unpack_nibbles,
)

FINITE = st.floats(-(2.0**99), 2.0**99, width=32).map(
    lambda value: value if abs(value) > 2.0**-99 else 0.0
)


@given(
    values=st.lists(FINITE, min_size=16, max_size=16),
    block_size=st.sampled_from([2, 4, 8]),
)
def test_each_byte_comes_back_within_half_a_step(values, block_size):
    """Rounding to the nearest level moves a weight by at most half a scale."""
    rows = np.array(values, dtype=np.float32).reshape(2, 8)
    payload, scales = quantise(DType.Q8_0, rows, block_size)
    assert scales is not None
    assert np.isfinite(scales).all()
    assert (scales > 0).all()
    error = np.abs(dequantise(DType.Q8_0, payload, scales).astype(np.float64) - rows)
    # The scale itself is rounded to float32, which moves the outer levels by 2**-24 each.
    half_step = np.repeat(scales, block_size, axis=1) * 0.50002
    assert (error <= half_step).all()


def test_the_worked_example_of_the_module_holds():
    """[0.5, -0.25]: scale 0.5 / 127, levels 127 and -64 (63.5 rounds to even)."""
    payload, scales = quantise(DType.Q8_0, np.array([[0.5, -0.25]], np.float32), 2)
    assert scales is not None
    assert payload.tolist() == [[127, -64]]
    assert scales.tolist() == [[np.float32(0.5) / np.float32(127)]]


@pytest.mark.parametrize("dtype", [DType.Q8_0, DType.Q4_0])
def test_a_block_of_zeros_has_scale_1(dtype):
    """A scale must be positive even where nothing is to be scaled."""
    payload, scales = quantise(dtype, np.zeros((1, 4), np.float32), 4)
    assert scales is not None
    assert scales.tolist() == [[1.0]]
    assert not payload.any()


def test_a_block_too_small_for_its_scale_becomes_zeros():
    """The smallest float32 divided by 127 underflows to 0, which is no scale."""
    tiny = np.full((1, 4), 1e-45, np.float32)
    payload, scales = quantise(DType.Q8_0, tiny, 4)
    assert scales is not None
    assert (payload.tolist(), scales.tolist()) == ([[0, 0, 0, 0]], [[1.0]])


HALVES = st.floats(-100, 100, width=16)


@given(values=st.lists(HALVES, min_size=32, max_size=32))
def test_a_weight_with_a_minimum_comes_back_within_half_a_step(values):
    """q4_1: the step is a fifteenth of the block's spread, and both ends are rounded to float16."""
    rows = np.array([values], dtype=np.float32)
    payload, scales = quantise(DType.Q4_1, rows, 32)
    assert scales is not None
    assert scales.shape == (1, 1, 2)
    np.testing.assert_array_equal(scales, scales.astype(np.float16).astype(np.float32))
    error = np.abs(dequantise(DType.Q4_1, payload, scales) - rows).max()
    # float16 rounds a number by up to 2**-11 of it; the scale's part counts fifteen times.
    assert error <= scales[0, 0, 0] * (0.5 + 15 * 2**-11) + np.abs(rows).max() * 2**-10 + 1e-6


def test_q4_1_of_a_worked_example():
    """0 to 31: scale 31 / 15 in float16, minimum 0, the last weight back as 15 times the scale."""
    payload, scales = quantise(DType.Q4_1, np.arange(32, dtype=np.float32)[None], 32)
    assert scales is not None
    step = np.float32(np.float16(31 / 15))
    assert scales.tolist() == [[[step, 0.0]]]
    assert payload[0, 0] == 0x00  # 0 and 1 are both nearest to code 0
    assert dequantise(DType.Q4_1, payload, scales)[0, 31] == 15 * step


def test_equal_weights_have_scale_0_in_q4_1():
    """The minimum says it all."""
    payload, scales = quantise(DType.Q4_1, np.full((1, 32), -0.5, np.float32), 32)
    assert scales is not None
    assert scales.tolist() == [[[0.0, -0.5]]]
    assert not payload.any()


def test_low_nibble_comes_first_and_8_to_15_are_negative():
    """Notes on SLM1, section 1.4: two's complement nibbles, low one first."""
    packed = np.array([[0x1F, 0x87]], np.uint8)
    assert unpack_nibbles(packed).tolist() == [[-1, 1, 7, -8]]
    assert pack_nibbles(np.array([[-1, 1, 7, -8]], np.int8)).tolist() == packed.tolist()


def test_all_nibble_pairs_survive_packing():
    """All 256 bytes are pairs of nibbles."""
    packed = np.arange(256, dtype=np.uint8).reshape(1, 256)
    np.testing.assert_array_equal(pack_nibbles(unpack_nibbles(packed)), packed)


def test_row_scales_and_block_scales_differ_only_in_their_number():
    """A block as wide as the row is the SLM1 form; a divisor gives finer scales."""
    rows = np.linspace(-1, 1, 64, dtype=np.float32).reshape(2, 32)
    _, row_scales = quantise(DType.Q8_0, rows, 32)
    _, block_scales = quantise(DType.Q8_0, rows, 8)
    assert row_scales is not None
    assert block_scales is not None
    assert (row_scales.shape, block_scales.shape) == ((2, 1), (2, 4))


@pytest.mark.parametrize(
    ("dtype", "columns", "block_size", "is_fit"),
    [
        (DType.F32, 7, 0, True),
        (DType.Q8_0, 7, 7, True),
        (DType.Q8_0, 8, 3, False),
        (DType.Q8_0, 8, 0, False),
        (DType.Q4_0, 8, 4, True),
        (DType.Q4_0, 9, 3, False),
        (DType.Q4_0, 8, 16, False),
        (DType.Q4_1, 64, 32, True),
        (DType.Q4_1, 64, 64, False),
        (DType.Q4_1, 48, 32, False),
    ],
)
def test_a_block_must_divide_the_row(dtype, columns, block_size, is_fit):
    """And for nibbles it must be even, since two weights share a byte."""
    assert (find_block_fault(dtype, columns, block_size) is None) == is_fit


def test_a_vector_is_one_row():
    """Norms are quantised as one row."""
    assert rows_and_columns((8,)) == (1, 8)
    assert rows_and_columns((2, 3, 4)) == (6, 4)
