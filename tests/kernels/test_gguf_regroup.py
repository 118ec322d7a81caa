"""GGUF blocks pass into `.slm` value for value, and what cannot pass is refused."""

import numpy as np
import pytest

from kernels.dtypes import DType, dequantise
from kernels.errors import KernelError
from kernels.gguf_blocks import GgufType, decode_rows, row_bytes
from kernels.gguf_regroup import regroup_rows, stored_type_of

ROWS, COLUMNS = 5, 96
SCALE_BYTES = {GgufType.Q4_0: 2, GgufType.Q4_1: 4, GgufType.Q8_0: 2}
QUANTISED = pytest.mark.parametrize("kind", SCALE_BYTES)


def make_rows(kind: GgufType, scales: np.ndarray) -> np.ndarray:
    """Give rows of random codes with these float16 scales: [rows * blocks, scales of a block]."""
    draw = np.random.default_rng(3)
    blocks = draw.integers(0, 256, (ROWS * COLUMNS // 32, row_bytes(kind, 32)), dtype=np.uint8)
    blocks[:, : SCALE_BYTES[kind]] = scales.astype("<f2").view(np.uint8)
    return blocks.reshape(ROWS, -1)


def random_scales(kind: GgufType, *, may_be_negative: bool) -> np.ndarray:
    """Give scales, and for Q4_1 minimums of any sign; the first block has scale 0."""
    draw = np.random.default_rng(4)
    scales = draw.uniform(0.001, 2, (ROWS * COLUMNS // 32, SCALE_BYTES[kind] // 2))
    if may_be_negative:
        scales[::2] *= -1
    scales[:, 1:] *= -1
    scales[0, 0] = 0
    return scales


@QUANTISED
def test_regrouped_rows_have_the_values_of_the_blocks(kind):
    """Bit by bit in float32, scales of both signs where GGUF has them."""
    data = make_rows(kind, random_scales(kind, may_be_negative=kind == GgufType.Q4_0))
    stored = stored_type_of(kind)
    assert stored is not None
    payload, scales = regroup_rows(kind, data, COLUMNS)
    np.testing.assert_array_equal(
        dequantise(stored[0], payload, scales), decode_rows(kind, data, COLUMNS)
    )
    assert stored[0] == DType.Q4_1 or (scales > 0).all()


def test_float_rows_have_no_quantised_twin():
    """They are converted, not passed on."""
    assert stored_type_of(GgufType.F32) is None
    assert stored_type_of(GgufType.F16) is None


@QUANTISED
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_scale_that_is_not_finite_is_refused(kind, bad):
    """It would be refused by the reader of the `.slm`, too late."""
    scales = random_scales(kind, may_be_negative=False)
    scales[3, 0] = bad
    with pytest.raises(KernelError, match="cannot be kept") as caught:
        regroup_rows(kind, make_rows(kind, scales), COLUMNS)
    assert caught.value.name == "unsupported_source"


def test_a_minimum_below_a_negative_scale_is_refused():
    """A q4_1 scale is never below 0; GGUF's writers do not make such blocks either."""
    scales = random_scales(GgufType.Q4_1, may_be_negative=False)
    scales[2, 0] = -0.5
    with pytest.raises(KernelError, match="cannot be kept"):
        regroup_rows(GgufType.Q4_1, make_rows(GgufType.Q4_1, scales), COLUMNS)
