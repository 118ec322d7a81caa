"""Laws of choosing: greedy first, ties to the lowest id, one seed one sequence."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import KernelError
from kernels.sampler import Sampler, SamplerSettings, exponential, top_candidates

LOGITS = st.lists(st.integers(-40, 40), min_size=1, max_size=60).map(
    lambda values: np.array(values, dtype=np.float32) / 4
)
WARM = SamplerSettings(temperature=0.8, top_k=40, top_p=0.95, seed=7)


def choose(logits, settings, count=1):
    """Choose `count` ids in a row from the same logits."""
    sampler = Sampler(settings)
    return [sampler.next_id(logits) for _ in range(count)]


@given(logits=LOGITS)
def test_the_default_is_greedy_with_ties_to_the_lowest_id(logits):
    """Temperature 0 takes the first of the largest."""
    expected = min(range(len(logits)), key=lambda index: (-logits[index], index))
    assert choose(logits, SamplerSettings(), 3) == [expected] * 3


@given(logits=LOGITS, seed=st.integers(0, 2**64 - 1))
def test_top_k_of_one_is_greedy_at_any_temperature(logits, seed):
    """One candidate leaves no choice."""
    settings = SamplerSettings(temperature=5.0, top_k=1, seed=seed)
    assert choose(logits, settings) == choose(logits, SamplerSettings())


@given(logits=LOGITS, count=st.integers(1, 70))
def test_candidates_are_the_largest_in_order(logits, count):
    """As a full sort by falling logit, then rising id, would give them."""
    expected = sorted(range(len(logits)), key=lambda index: (-logits[index], index))[:count]
    assert top_candidates(logits, count).tolist() == expected


@given(logits=LOGITS, top_k=st.integers(1, 50), seed=st.integers(0, 2**64 - 1))
def test_a_choice_is_always_among_the_candidates(logits, top_k, seed):
    """Whatever is drawn."""
    settings = SamplerSettings(temperature=1.5, top_k=top_k, seed=seed)
    chosen = choose(logits, settings, 5)
    assert set(chosen) <= set(top_candidates(logits, top_k).tolist())


@given(logits=LOGITS, top_p=st.floats(0.01, 1.0), seed=st.integers(0, 2**64 - 1))
def test_top_p_keeps_the_smallest_set_that_reaches_the_mass(logits, top_p, seed):
    """An id is never chosen if those before it already hold the mass."""
    settings = SamplerSettings(temperature=1.0, top_k=60, top_p=top_p, seed=seed)
    order = top_candidates(logits, 60)
    shares = np.exp(logits[order].astype(np.float64) - logits.max())
    shares /= shares.sum()
    for chosen in choose(logits, settings, 5):
        rank = order.tolist().index(chosen)
        assert shares[:rank].sum() < top_p + 1e-9


@given(logits=LOGITS, seed=st.integers(0, 2**64 - 1))
def test_one_seed_gives_one_sequence(logits, seed):
    """Two samplers with equal settings choose equally."""
    settings = replace(WARM, seed=seed)
    assert choose(logits, settings, 8) == choose(logits, settings, 8)


def test_other_seeds_give_other_sequences():
    """100 seeds over ten equal logits: no two sequences of 20 are equal."""
    logits = np.zeros(10, dtype=np.float32)
    settings = SamplerSettings(temperature=1.0)
    found = {tuple(choose(logits, replace(settings, seed=seed), 20)) for seed in range(100)}
    assert len(found) == 100


def test_the_sequence_of_seed_7_is_fixed():
    """PCG64's top 53 bits over cumulative shares: the same ids on every machine and version."""
    logits = np.linspace(0, 3, 20, dtype=np.float32)
    assert choose(logits, WARM, 12) == [15, 10, 13, 18, 18, 11, 19, 12, 13, 17, 18, 18]


def test_frequencies_follow_the_softmax():
    """20,000 draws from shares 1/7, 2/7, 4/7 are within four standard errors."""
    logits = np.log(np.array([1, 2, 4], dtype=np.float32))
    found = np.bincount(choose(logits, SamplerSettings(temperature=1.0), 20_000), minlength=3)
    shares = np.array([1, 2, 4]) / 7
    errors = np.sqrt(shares * (1 - shares) / 20_000)
    assert np.all(np.abs(found / 20_000 - shares) < 4 * errors)


def test_a_lower_temperature_sharpens():
    """Shares 1/3 and 2/3 at temperature 1 become 1/5 and 4/5 at one half."""
    logits = np.log(np.array([1, 2], dtype=np.float32))
    found = choose(logits, SamplerSettings(temperature=0.5), 20_000)
    assert abs(np.mean(found) - 0.8) < 0.012


def test_a_temperature_near_zero_is_greedy_without_a_warning():
    """The quotient overflows to minus infinity, whose share is zero."""
    logits = np.array([1, 3, 2], dtype=np.float32)
    assert choose(logits, SamplerSettings(temperature=1e-320), 5) == [1] * 5


@given(values=st.lists(st.floats(-800, 0), min_size=1, max_size=30))
def test_our_exponential_agrees_with_the_platform(values):
    """Within 4 units in the last place, and zero below the smallest number."""
    found = exponential(np.array(values))
    for value, ours in zip(values, found.tolist(), strict=True):
        assert math.isclose(ours, math.exp(value), rel_tol=1e-15, abs_tol=1e-323)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("temperature", True),
        ("top_k", 0),
        ("top_k", 1025),
        ("top_k", 2.0),
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("top_p", math.nan),
        ("seed", -1),
        ("seed", 2**64),
        ("seed", "1"),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(field, value):
    """The error carries the field and shows what was found."""
    with pytest.raises(KernelError, match=field) as caught:
        SamplerSettings(**{field: value})
    assert (caught.value.name, caught.value.field) == ("invalid_setting", field)


@pytest.mark.parametrize("edge", [0, 2**64 - 1])
def test_every_seed_of_64_bits_is_good(edge):
    """The smallest and the largest seed work."""
    assert choose(np.zeros(3, np.float32), replace(WARM, seed=edge))[0] in {0, 1, 2}


@pytest.mark.parametrize("broken", [math.nan, math.inf])
@pytest.mark.parametrize("settings", [SamplerSettings(), WARM], ids=["greedy", "warm"])
def test_logits_that_are_not_finite_are_an_error(broken, settings):
    """A broken model is reported, never turned into an arbitrary id."""
    logits = np.array([1, broken, 2], dtype=np.float32)
    with pytest.raises(KernelError, match="not finite") as caught:
        Sampler(settings).next_id(logits)
    assert caught.value.code == 13


def test_minus_infinity_bans_an_id():
    """Such an id is never chosen, even when all are candidates."""
    logits = np.array([-np.inf, 1, -np.inf, 0], dtype=np.float32)
    assert set(choose(logits, SamplerSettings(temperature=3.0), 200)) == {1, 3}
