"""A span is cut out by moving what stands behind it: near the truth, never called the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.kv_drift import measure_drift_steps
from kernels.kv_splice import Cut, find_cut, splice
from tests.kernels.small_engines import CONFIG, ENGINES, open_engine

IDS = [(7 * at * at + 3 * at) % CONFIG.vocab_size for at in range(90)]
CUT = Cut(start=20, end=45, moved=40)
WANTED = [*IDS[:20], *IDS[45:85], 4, 9]
TOLERANCES = {"simd int8": 0.05, "simd int16": 3e-3}
"""Codes of turned keys are rounded once more."""
LISTS = st.lists(st.integers(0, 5), max_size=24)


def moved_cache(decoder):
    """Read all ids and cut the span out."""
    cache = decoder.new_cache()
    decoder.forward(IDS, cache)
    splice(cache, CONFIG, CUT)
    return cache


def worth(rows):
    """Give keys as numbers."""
    return rows.keys if rows.key_scales is None else rows.keys * rows.key_scales[:, :, None]


@pytest.mark.parametrize("engine", ENGINES)
def test_layer_0_is_what_reading_the_rest_gives_and_deeper_layers_are_not(engine):
    """Rows of layer 0 come from their own token alone; later layers have read the span."""
    decoder = open_engine(engine)
    moved, exact = moved_cache(decoder), decoder.new_cache()
    decoder.forward(WANTED[:60], exact)
    assert moved.ids == exact.ids
    tolerance = TOLERANCES.get(engine, 1e-4)
    difference = []
    for layer in (0, 1):
        left, right = moved.storage.read_layer(layer, 60), exact.storage.read_layer(layer, 60)
        difference.append(np.abs(worth(left) - worth(right))[:, 20:].max())
    assert difference[0] < tolerance < difference[1]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_stands_before_the_cut_keeps_every_bit(engine):
    """Only rows behind the cut are moved."""
    decoder = open_engine(engine)
    exact = decoder.new_cache()
    decoder.forward(IDS, exact)
    moved = moved_cache(decoder)
    for layer in range(CONFIG.layer_count):
        pairs = zip(
            moved.storage.read_layer(layer, 20).arrays,
            exact.storage.read_layer(layer, 20).arrays,
            strict=True,
        )
        assert all(np.array_equal(left, right) for left, right in pairs)


def test_moved_rows_are_counted_apart_until_they_are_forgotten():
    """`exact_length` ends where the cut began, also after more was read."""
    decoder = open_engine("numpy")
    cache = moved_cache(decoder)
    decoder.forward([1, 2, 3], cache)
    assert (cache.length, cache.exact_length) == (63, 20)
    cache.forget_moved()
    assert (cache.length, cache.exact_length) == (20, 20)
    decoder.forward([1, 2, 3], cache)
    assert cache.exact_length == 23


def test_another_identity_empties_the_cache():
    """Rows of one model, tokenizer, policy or kind of cache are never those of another."""
    cache = moved_cache(open_engine("numpy"))
    assert cache.claim("one") == 60
    open_engine("numpy").forward([1, 2, 3], cache)
    assert cache.claim("one") == 0
    assert cache.length == 3
    assert cache.claim("other") == 3
    assert cache.length == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_drift_is_measured_against_an_exact_reading_which_stays(engine):
    """The largest logit difference is above zero, and the cache is exact afterwards."""
    decoder = open_engine(engine)
    cache = moved_cache(decoder)
    drift = drain_drift(decoder, cache, WANTED)
    assert drift.logit_difference > 1e-3
    assert drift.tokens == 32
    assert drift.first_changed is None or 0 <= drift.first_changed < 32
    assert cache.exact_length == cache.length
    again = drain_drift(decoder, cache, WANTED)
    # Rows that were read from the prompt differ by the order of numpy's sums at most.
    assert again.logit_difference < 1e-4
    assert again.first_changed is None


def test_the_span_whose_removal_keeps_most_is_cut():
    """The example of the docstring; the last wanted token is always read."""
    assert find_cut([1, 2, 3, 4, 5, 6], [1, 2, 5, 6, 7], least=2) == Cut(2, 4, 2)
    assert find_cut([1, 2, 3, 4, 5, 6], [1, 2, 5, 6], least=1) == Cut(2, 4, 1)
    assert find_cut([1, 2, 3, 4, 5, 6], [1, 2, 5, 6, 7], least=3) is None
    assert find_cut([1, 2], [1, 2, 3], least=1) is None


@given(before=LISTS, span=LISTS, behind=LISTS, new=LISTS)
def test_a_cut_gives_a_beginning_of_what_is_wanted(before, span, behind, new):
    """Whatever is found: kept and moved ids are the wanted ones, and one token is left to read."""
    cached, wanted = [*before, *span, *behind], [*before, *behind, *new]
    cut = find_cut(cached, wanted, least=1)
    if cut is None:
        return
    kept = [*cached[: cut.start], *cached[cut.end : cut.end + cut.moved]]
    assert kept == wanted[: len(kept)]
    assert len(kept) < len(wanted)
    assert cut.shift > 0


def drain_drift(decoder, cache, ids):
    """Run the measurement to its end."""
    steps = measure_drift_steps(decoder, cache, ids)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value
