"""Loss and perplexity have their textbook values."""

import math

import numpy as np

from kernels.perplexity import (
    forced_logits,
    perplexity,
    standard_error,
    token_losses,
    window_losses,
)
from kernels.reference import reference_logits
from tests.kernels.loaded_decoder import load_decoder
from tests.kernels.random_tensors import SMALL, RandomTensors

IDS = [index * 7 % 50 for index in range(60)]


class ZeroTensors(RandomTensors):
    """A model that knows nothing: every logit is 0."""

    def read_f32(self, name):
        """Give zeros."""
        return np.zeros_like(super().read_f32(name))


def test_a_model_that_knows_nothing_has_the_vocabulary_as_perplexity():
    """Every id has probability 1 / V."""
    losses = token_losses(load_decoder(ZeroTensors(SMALL)), IDS)
    assert len(losses) == len(IDS) - 1
    assert math.isclose(perplexity(losses), 50.0, rel_tol=1e-6)


def test_losses_equal_those_of_the_reference():
    """Minus the log of the softmax at the id that follows."""
    model = RandomTensors(SMALL)
    logits = reference_logits(model, IDS)[:-1]
    shifted = logits - logits.max(axis=1, keepdims=True)
    normalisers = np.log(np.exp(shifted).sum(axis=1))
    expected = normalisers - shifted[np.arange(len(IDS) - 1), IDS[1:]]
    assert np.abs(token_losses(load_decoder(model), IDS) - expected).max() < 1e-4


def test_forced_logits_have_one_row_a_token():
    """Also where the ids take several chunks."""
    decoder = load_decoder(RandomTensors(SMALL))
    rows = forced_logits(decoder, IDS)
    assert rows.shape == (60, 50)
    assert np.abs(rows[-1] - decoder.forward(IDS, decoder.new_cache())).max() < 1e-5


def test_windows_are_read_without_what_lies_before_them():
    """60 ids in windows of 25: three losses apart, each as if its ids were the whole text."""
    decoder = load_decoder(RandomTensors(SMALL))
    found = list(window_losses(decoder, IDS, 25))
    assert [len(losses) for losses in found] == [24, 24, 9]
    np.testing.assert_array_equal(found[1], token_losses(decoder, IDS[25:50]))


def test_a_rest_of_one_id_is_left_out():
    """It has nothing to predict."""
    decoder = load_decoder(RandomTensors(SMALL))
    assert [len(losses) for losses in window_losses(decoder, IDS[:21], 20)] == [19]


def test_losses_do_not_depend_on_the_chunks():
    """Chunk by chunk or from all logits at once."""
    decoder = load_decoder(RandomTensors(SMALL))
    logits = forced_logits(decoder, IDS)[:-1].astype(np.float64)
    normalisers = np.log(np.exp(logits).sum(axis=1))
    expected = normalisers - logits[np.arange(len(IDS) - 1), IDS[1:]]
    assert np.abs(token_losses(decoder, IDS) - expected).max() < 1e-5


def test_the_standard_error_shrinks_with_the_root_of_the_number():
    """Losses 0 and 2 deviate by 1; four of them give 1 / 2, sixteen 1 / 4."""
    assert standard_error(np.array([0.0, 2.0] * 2)) == 0.5
    assert standard_error(np.array([0.0, 2.0] * 8)) == 0.25
