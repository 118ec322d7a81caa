"""The search for nibble scales never loses to the plain rule and gives the same bytes anywhere."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.dtypes import DType, dequantise, quantise
from kernels.fixture_models import make_weights
from kernels.nibble_scales import round_nibble_blocks
from tests.kernels.random_tensors import SMALL

FINITE = st.floats(-(2.0**99), 2.0**99, width=32).map(
    lambda value: value if abs(value) > 2.0**-99 else 0.0
)
BLOCK_SIZES = st.sampled_from([2, 4, 8])


def plain_rows(rows, block_size):
    """Give the rows after rounding with the scale largest magnitude / 7, in float64."""
    blocks = rows.astype(np.float64).reshape(-1, block_size)
    scales = np.abs(blocks).max(axis=1, keepdims=True) / 7
    scales[scales == 0] = 1
    return (np.rint(blocks / scales) * scales).reshape(rows.shape)


def squares_by_block(misses, block_size):
    """Sum the squares of each block."""
    return (misses.reshape(-1, block_size) ** 2).sum(axis=1)


@given(values=st.lists(FINITE, min_size=16, max_size=16), block_size=BLOCK_SIZES)
def test_no_block_loses_more_than_by_the_plain_rule(values, block_size):
    """Sum of squared errors against that of largest magnitude / 7; float32 sums forgive 1e-5."""
    rows = np.array(values, dtype=np.float32).reshape(2, 8)
    levels, scales = round_nibble_blocks(rows, block_size)
    found = levels * np.repeat(scales.astype(np.float64), block_size, axis=1)
    searched = squares_by_block(found - rows, block_size)
    plain = squares_by_block(plain_rows(rows, block_size) - rows, block_size)
    largest = np.abs(rows.astype(np.float64)).reshape(-1, block_size).max(axis=1)
    assert (searched <= plain + 1e-5 * largest**2).all()


@given(values=st.lists(FINITE, min_size=16, max_size=16), block_size=BLOCK_SIZES)
def test_levels_are_nibbles_and_scales_are_positive(values, block_size):
    """What SLM1 can hold: -8 to 7, and finite scales above 0."""
    levels, scales = round_nibble_blocks(
        np.array(values, dtype=np.float32).reshape(2, 8), block_size
    )
    assert levels.dtype == np.int8
    assert ((levels >= -8) & (levels <= 7)).all()
    assert (np.isfinite(scales) & (scales > 0)).all()


@given(st.lists(st.integers(-7, 7), min_size=8, max_size=8).filter(lambda row: 7 in map(abs, row)))
def test_weights_that_are_nibbles_already_come_back(levels):
    """Converting q4_0 to q4_0 again changes nothing where the largest magnitude is 7 steps."""
    rows = np.array([levels], dtype=np.float32)
    found, scales = round_nibble_blocks(rows, 8)
    np.testing.assert_array_equal(found * scales, rows)


def test_the_worked_example_of_the_module_holds():
    """[0.75, 0.625, -1, 0.125]: scale 1/8, all levels exact."""
    levels, scales = round_nibble_blocks(np.array([[0.75, 0.625, -1, 0.125]], np.float32), 4)
    assert (levels.tolist(), scales.tolist()) == ([[6, 5, -8, 1]], [[0.125]])


def test_one_outlier_is_clipped_for_the_many():
    """31 equal weights and one 1.15 times as large: a step that fits the many costs less."""
    rows = np.full((1, 32), 1.0, np.float32)
    rows[0, 0] = 1.15
    levels, scales = round_nibble_blocks(rows, 32)
    plain = np.square(plain_rows(rows, 32) - rows).sum()
    assert np.square(levels * scales - rows).sum() < plain


@pytest.mark.parametrize("value", [1e-45, 1e-38, 3e38])
def test_the_ends_of_float32_give_usable_scales(value):
    """Squares of such weights would vanish or overflow; weights too small for a scale become 0."""
    rows = np.full((1, 4), value, np.float32)
    levels, scales = round_nibble_blocks(rows, 4)
    found = dequantise(DType.Q4_0, *quantise(DType.Q4_0, rows, 4))
    assert (np.isfinite(scales) & (scales > 0)).all()
    np.testing.assert_array_equal(found, levels * scales)
    assert np.abs(found - rows).max() <= max(rows.max() / 14, 1e-45)


def test_the_bytes_of_a_seeded_tensor_are_pinned():
    """Converted files are pinned by hash, so a machine that rounds otherwise must be found."""
    rows = make_weights(SMALL, 11)["tok_embeddings.weight"]
    payload, scales = quantise(DType.Q4_0, rows, 8)
    assert scales is not None
    digest = hashlib.sha256(payload.tobytes() + scales.astype("<f4").tobytes())
    pinned = "40e6cfc2b512c0c1a478e527410603b99228357c05dca1d977b1a173b5b45614"
    assert digest.hexdigest() == pinned
