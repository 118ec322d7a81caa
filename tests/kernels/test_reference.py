"""The reference itself, checked by hand and by laws: everything else is compared with it."""

import math

import numpy as np

from kernels.reference import (
    reference_attention,
    reference_logits,
    reference_norm,
    reference_rotary,
    reference_swiglu,
)
from tests.kernels.random_tensors import SMALL, RandomTensors


def test_norm_worked_by_hand():
    """(3, 4): mean square 12.5, root 3.5355."""
    found = reference_norm(np.array([3.0, 4.0]), np.array([1.0, 2.0]), 0.0)
    assert np.allclose(found, [3 / math.sqrt(12.5), 8 / math.sqrt(12.5)], rtol=1e-15)


def test_rotary_turns_each_pair_by_its_own_angle():
    """D = 4, theta = 100: pair 0 turns by 1 a position, pair 1 by 0.1."""
    found = reference_rotary(np.array([1.0, 0.0, 0.0, 1.0]), 2, 100.0)
    expected = [math.cos(2.0), math.sin(2.0), -math.sin(0.2), math.cos(0.2)]
    assert np.allclose(found, expected, rtol=1e-15)


def test_rotary_scores_depend_on_the_distance_only():
    """The dot product of turned heads is the same at positions (5, 3) and (105, 103)."""
    draw = np.random.default_rng(1)
    query, key = draw.standard_normal(8), draw.standard_normal(8)

    def score(first, second):
        turned = reference_rotary(query, first, 1e4), reference_rotary(key, second, 1e4)
        return turned[0] @ turned[1]

    assert math.isclose(score(5, 3), score(105, 103), rel_tol=1e-12)
    assert not math.isclose(score(5, 3), score(5, 4), rel_tol=1e-3)


def test_attention_worked_by_hand():
    """Scores 0 and ln 3 give shares 1/4 and 3/4."""
    keys = [np.array([0.0]), np.array([math.log(3)])]
    values = [np.array([4.0]), np.array([8.0])]
    assert math.isclose(reference_attention(np.array([1.0]), keys, values)[0], 7.0)


def test_swiglu_worked_by_hand():
    """silu(0) = 0 and silu(1) = 0.7310586."""
    found = reference_swiglu(np.array([0.0, 1.0]), np.array([5.0, 2.0]))
    assert np.allclose(found, [0.0, 2 / (1 + math.exp(-1))])


def test_later_tokens_do_not_change_earlier_logits():
    """Causality: the logits after a prefix are the same whatever follows."""
    model = RandomTensors(SMALL)
    long, short = reference_logits(model, [3, 9, 27, 1]), reference_logits(model, [3, 9])
    assert np.array_equal(long[:2], short)


def test_the_order_of_tokens_matters():
    """Rotary positions make two orders of the same tokens differ."""
    model = RandomTensors(SMALL)
    one, other = reference_logits(model, [3, 9, 27]), reference_logits(model, [9, 3, 27])
    assert np.abs(one[-1] - other[-1]).max() > 0.01
