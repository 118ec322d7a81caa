"""Reading tokens in any portions gives the same logits, and an abandoned run leaves no trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import KernelError
from kernels.layers import EINSUM
from tests.kernels.loaded_decoder import load_decoder
from tests.kernels.random_tensors import SMALL, RandomTensors

DECODER = load_decoder(RandomTensors(SMALL))
EINSUM_DECODER = load_decoder(RandomTensors(SMALL), EINSUM)
IDS = [3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 3, 2, 3, 8, 46]

# BLAS may sum in another order for another number of rows; logits here are of size 1 to 5.
ORDER_TOLERANCE = 1e-5


def read_in_portions(decoder, ids, sizes):
    """Read `ids` in portions of the given sizes, the rest at once; give the last logits."""
    cache, done = decoder.new_cache(4), 0
    for size in sizes:
        if done + size < len(ids):
            decoder.forward(ids[done : done + size], cache)
            done += size
    logits = decoder.forward(ids[done:], cache)
    assert cache.ids == tuple(ids)
    return logits


@given(sizes=st.lists(st.integers(1, 6), max_size=16))
def test_cached_reading_equals_reading_at_once(sizes):
    """One by one, in chunks or whole: the same logits within the order of summation."""
    whole = DECODER.forward(IDS, DECODER.new_cache())
    assert np.abs(read_in_portions(DECODER, IDS, sizes) - whole).max() < ORDER_TOLERANCE


def test_a_longer_prompt_than_one_chunk_is_read_in_several():
    """64 tokens with a chunk of 64 or less: chunks join without overlap or gap."""
    ids = [index % 50 for index in range(64)]
    chunks = list(DECODER.chunks(ids, DECODER.new_cache()))
    assert [token for chunk in chunks for token in chunk] == ids


def test_other_chunks_give_the_same_logits():
    """A chunk limit of 1, 3 or 64 tokens does not change the result."""
    ids = [index % 50 for index in range(40)]
    whole = EINSUM_DECODER.forward(ids, EINSUM_DECODER.new_cache())
    for size in (1, 3, 7):
        logits = read_in_portions(EINSUM_DECODER, ids, [size] * (len(ids) // size))
        assert np.abs(logits - whole).max() < ORDER_TOLERANCE


def test_going_on_after_truncation_is_exact():
    """Rows that are kept are untouched, so the same computation gives the same bits."""
    cache = DECODER.new_cache()
    DECODER.forward(IDS[:10], cache)
    first = DECODER.forward(IDS[10:], cache)
    DECODER.forward([1, 2, 3], cache)
    cache.truncate(10)
    assert np.array_equal(DECODER.forward(IDS[10:], cache), first)


def test_growing_the_cache_does_not_change_a_bit():
    """A cache that starts with room for one token gives the same logits as a large one."""
    small, large = DECODER.new_cache(1), DECODER.new_cache(64)
    for token in IDS:
        assert np.array_equal(DECODER.forward([token], small), DECODER.forward([token], large))
    assert small.capacity == 16


@pytest.mark.parametrize("stop_after", range(12))
def test_a_run_closed_between_blocks_commits_nothing(stop_after):
    """Closed at any pause of a chunk, the cache has its old length and works on."""
    cache = DECODER.new_cache()
    DECODER.forward(IDS[:4], cache)
    steps = DECODER.forward_steps(IDS[4:], cache)
    for _ in range(stop_after):
        next(steps, None)
    steps.close()
    assert cache.length in {4, len(IDS)}
    cache.truncate(4)
    expected = DECODER.forward(IDS, DECODER.new_cache())
    assert np.abs(DECODER.forward(IDS[4:], cache) - expected).max() < ORDER_TOLERANCE


def test_a_run_pauses_in_every_layer():
    """A prompt of L layers can be stopped after each half layer, a single token after each."""
    pauses = [len(list(DECODER.forward_steps(ids, DECODER.new_cache()))) for ids in (IDS, [1])]
    assert pauses == [2 * SMALL.layer_count, SMALL.layer_count]


@pytest.mark.parametrize("bad", [-1, 50, 2**40])
def test_an_id_outside_the_vocabulary_is_refused(bad):
    """The message names the id and the size of the vocabulary."""
    with pytest.raises(KernelError, match=f"Token id {bad} is outside the vocabulary of 50") as hit:
        DECODER.forward([1, bad], DECODER.new_cache())
    assert (hit.value.name, hit.value.field) == ("invalid_token_id", "ids")


def test_no_tokens_are_refused():
    """There are no logits after nothing."""
    with pytest.raises(KernelError, match="no tokens to read"):
        DECODER.forward([], DECODER.new_cache())


def test_tokens_beyond_the_context_are_refused_before_any_work():
    """The cache is unchanged and the numbers are given."""
    cache = DECODER.new_cache()
    with pytest.raises(KernelError, match="65 tokens do not fit the context of 64"):
        DECODER.forward([1] * 65, cache)
    assert cache.length == 0
