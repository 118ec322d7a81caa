"""Each fast layer equals the float64 reference.

Tolerance: a float32 sum of n products of size 1 is off by about sqrt(n) x 6e-8; with n up to 64
and a few steps after it, 2e-6 of the largest value is room enough and far below any real fault.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.layers import (
    EINSUM,
    MATMUL,
    attention,
    products_for,
    rms_norm,
    rotary,
    rotary_table,
    swiglu,
)
from kernels.reference import (
    reference_attention,
    reference_norm,
    reference_rotary,
    reference_swiglu,
)

BOTH_PRODUCTS = pytest.mark.parametrize("products", [MATMUL, EINSUM], ids=lambda form: form.name)
SEEDS = st.integers(0, 2**32 - 1)


def draw(seed, *shape):
    """Draw float32 values of size 1."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def assert_close(found, expected):
    """Compare with the stated tolerance, relative to the largest expected value."""
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 2e-6 * max(1.0, float(np.abs(expected).max()))


def test_the_product_without_blas_is_chosen_in_the_browser():
    """Emscripten has no BLAS; everything else has."""
    assert products_for("emscripten") is EINSUM
    assert products_for("linux") is MATMUL
    assert products_for("darwin") is MATMUL


@BOTH_PRODUCTS
@given(seed=SEEDS, tokens=st.integers(1, 20))
def test_products_equal_float64_products(products, seed, tokens):
    """Both forms compute rows times rows, and mixtures of rows."""
    inputs, weights, rows = draw(seed, tokens, 24), draw(seed, 7, 24), draw(seed, 24, 5)
    wide = inputs.astype(np.float64)
    assert_close(products.by_rows(inputs, weights), wide @ weights.T.astype(np.float64))
    assert_close(products.mix(inputs, rows), wide @ rows.astype(np.float64))


@given(seed=SEEDS, tokens=st.integers(2, 40))
def test_the_einsum_product_of_a_row_does_not_depend_on_the_rows_beside_it(seed, tokens):
    """So a prompt read in other chunks gives the same bits where there is no BLAS."""
    inputs, weights = draw(seed, tokens, 24), draw(seed, 7, 24)
    together = EINSUM.by_rows(inputs, weights)
    alone = np.concatenate([EINSUM.by_rows(row[None], weights) for row in inputs])
    assert np.array_equal(together, alone)


@given(seed=SEEDS, tokens=st.integers(1, 5))
def test_the_norm_equals_the_reference(seed, tokens):
    """Every row is divided by its own root mean square, epsilon inside the root."""
    hidden, weight = draw(seed, tokens, 24), draw(seed + 1, 24)
    expected = [
        reference_norm(row, weight.astype(np.float64), 1e-5) for row in hidden.astype(np.float64)
    ]
    assert_close(rms_norm(hidden, weight, 1e-5), np.array(expected))


def test_the_norm_of_three_and_four_is_the_worked_example():
    """Mean square 12.5: (3, 4) / 3.5355 = (0.8485, 1.1314)."""
    found = rms_norm(np.array([[3, 4]], dtype=np.float32), np.ones(2, dtype=np.float32), 0.0)
    assert np.allclose(found, [[0.8485, 1.1314]], atol=1e-4)


def test_the_norm_of_zeros_is_zero():
    """The epsilon inside the root keeps the division finite."""
    assert not rms_norm(np.zeros((1, 8), np.float32), np.ones(8, np.float32), 1e-5).any()


@given(seed=SEEDS, start=st.integers(0, 8000))
def test_rotary_positions_equal_the_reference_up_to_8000(seed, start):
    """Adjacent pairs turn counter-clockwise by position x theta^(-2i/D)."""
    heads = draw(seed, 3, 2, 8)
    table = rotary_table(start + 3, 8, 100_000.0)
    expected = [
        [reference_rotary(head.astype(np.float64), start + t, 100_000.0) for head in row]
        for t, row in enumerate(heads)
    ]
    assert_close(rotary(heads, table[start:]), np.array(expected))


def test_a_quarter_turn_takes_x_to_y():
    """At an angle of 90 degrees the pair (1, 0) becomes (0, 1), not (0, -1)."""
    quarter = np.array([[1j]], dtype=np.complex64)
    turned = rotary(np.array([[[1, 0]]], dtype=np.float32), quarter)
    assert turned.tolist() == [[[0.0, 1.0]]]


@BOTH_PRODUCTS
@given(seed=SEEDS, tokens=st.integers(1, 10), before=st.integers(0, 30))
def test_grouped_attention_equals_the_reference(products, seed, tokens, before):
    """Query head a reads key head a // 3; token t sees what is before it and itself."""
    queries = draw(seed, tokens, 6, 8)
    keys, values = draw(seed + 1, 2, before + tokens, 8), draw(seed + 2, 2, before + tokens, 8)
    expected = [
        [
            reference_attention(
                queries[t, a].astype(np.float64),
                list(keys[a // 3, : before + t + 1].astype(np.float64)),
                list(values[a // 3, : before + t + 1].astype(np.float64)),
            )
            for a in range(6)
        ]
        for t in range(tokens)
    ]
    assert_close(attention(queries, keys, values, products), np.array(expected))


@BOTH_PRODUCTS
def test_attention_to_one_token_gives_its_value(products):
    """The softmax of one score is 1, however large the score."""
    queries = np.full((1, 2, 4), 1e3, dtype=np.float32)
    keys, values = np.full((1, 1, 4), 1e3, np.float32), draw(3, 1, 1, 4)
    found = attention(queries, keys, values, products)
    assert np.array_equal(found, np.broadcast_to(values[0, 0], (1, 2, 4)))


@given(seed=SEEDS)
def test_swiglu_equals_the_reference(seed):
    """silu(gate) x up, the halves side by side."""
    both = draw(seed, 2, 20) * np.float32(5)
    expected = [reference_swiglu(row[:10], row[10:]) for row in both.astype(np.float64)]
    assert_close(swiglu(both), np.array(expected))


def test_swiglu_of_a_very_negative_gate_is_zero_without_a_warning():
    """The exponential overflows to infinity and the quotient to zero."""
    found = swiglu(np.array([[-1000, 3]], dtype=np.float32))
    assert found.tolist() == [[0.0]]
