"""The cache counts only what is complete, grows by doubling, and finds the reusable prefix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import KernelError
from kernels.kv_cache import F32KvStorage, KvCache
from tests.kernels.random_tensors import SMALL

IDS = st.lists(st.integers(0, 3), max_size=12)


def make_cache(capacity=8):
    """Make an empty cache of the small model."""
    return KvCache(F32KvStorage(SMALL, capacity), max_context=SMALL.max_context)


def rows(count, *, first):
    """Give recognisable rows `[T, K, D]`."""
    shape = (count, SMALL.kv_head_count, SMALL.head_dim)
    return np.arange(first, first + np.prod(shape), dtype=np.float32).reshape(shape)


def test_a_token_takes_two_rows_in_every_layer():
    """Bytes per token = 2 L K D x 4, and the budget is that times the context."""
    cache = make_cache()
    assert cache.storage.bytes_per_token == 2 * 3 * 2 * 4 * 4 == SMALL.kv_bytes_per_token
    assert cache.bytes_total == 64 * 192
    cache.commit([5, 6])
    assert cache.bytes_used == 2 * 192
    assert cache.bytes_allocated == 8 * 192


def test_the_stated_bytes_are_those_of_the_arrays():
    """What is shown as allocated is what numpy holds."""
    storage = F32KvStorage(SMALL, 16)
    held = sum(array.nbytes for array in [*storage.keys, *storage.values])
    assert held == 16 * storage.bytes_per_token


def test_growing_doubles_up_to_the_context_and_keeps_the_rows():
    """Capacity 8, 16, 32, 64, then no further; old rows are unchanged bit by bit."""
    cache = make_cache()
    cache.storage.write(1, 0, keys=rows(8, first=0), values=rows(8, first=1000))
    cache.commit(range(8))
    sizes = []
    for length in (9, 17, 40, 64):
        cache.reserve(length)
        sizes.append(cache.capacity)
    assert sizes == [16, 32, 64, 64]
    assert np.array_equal(cache.storage.keys[1][:, :8].transpose(1, 0, 2), rows(8, first=0))
    assert np.array_equal(cache.storage.values[1][:, :8].transpose(1, 0, 2), rows(8, first=1000))


class ShortOfMemory(F32KvStorage):
    """A storage that gets memory for so many more arrays only."""

    arrays_left = 1_000

    def _empty(self, capacity):
        if self.arrays_left == 0:
            raise MemoryError
        self.arrays_left -= 1
        return super()._empty(capacity)


@pytest.mark.parametrize("arrays_left", range(6))
def test_memory_that_runs_out_while_growing_loses_no_row(arrays_left):
    """The cache stays as it was, and grows once there is memory again."""
    storage = ShortOfMemory(SMALL, 8)
    cache = KvCache(storage, max_context=64)
    for layer in range(3):
        storage.write(layer, 0, keys=rows(8, first=layer), values=rows(8, first=9))
    cache.commit(range(8))
    storage.arrays_left = arrays_left
    with pytest.raises(MemoryError):
        cache.reserve(9)
    assert (cache.length, cache.capacity) == (8, 8)
    storage.arrays_left = 6
    cache.reserve(9)
    assert cache.capacity == 16
    for layer in range(3):
        kept = storage.keys[layer][:, :8].transpose(1, 0, 2)
        assert np.array_equal(kept, rows(8, first=layer))


def test_one_large_step_grows_straight_to_what_it_needs():
    """A prompt longer than twice the capacity gets its own length."""
    cache = make_cache()
    cache.reserve(50)
    assert cache.capacity == 50


def test_more_tokens_than_the_context_are_refused_with_both_numbers():
    """`context_exceeded` carries code 11 and names needed and allowed tokens."""
    cache = make_cache()
    with pytest.raises(KernelError, match="65 tokens do not fit the context of 64") as caught:
        cache.reserve(65)
    assert (caught.value.code, caught.value.name) == (11, "context_exceeded")
    assert cache.capacity == 8


def test_rows_that_were_written_but_not_committed_do_not_count():
    """An abandoned computation leaves length and ids as they were."""
    cache = make_cache()
    cache.commit([1, 2])
    cache.storage.write(0, 2, keys=rows(3, first=0), values=rows(3, first=0))
    assert (cache.length, cache.ids) == (2, (1, 2))


def test_truncating_forgets_the_end_and_keeps_the_memory():
    """Length falls, capacity stays; truncating further than the end changes nothing."""
    cache = make_cache()
    cache.commit([1, 2, 3])
    cache.truncate(5)
    assert cache.ids == (1, 2, 3)
    cache.truncate(1)
    assert (cache.ids, cache.capacity) == ((1,), 8)
    cache.truncate(0)
    assert cache.length == 0


@given(cached=IDS, wanted=IDS)
def test_the_common_prefix_is_equal_and_cannot_be_longer(cached, wanted):
    """Ids before it agree; the next ones differ or one list has ended."""
    cache = KvCache(F32KvStorage(SMALL, 16), max_context=SMALL.max_context)
    cache.commit(cached)
    length = cache.common_prefix(wanted)
    assert cached[:length] == wanted[:length]
    ended = length == min(len(cached), len(wanted))
    assert ended or cached[length] != wanted[length]
