"""Generating reuses what is cached, ends for one of three reasons, and may be closed anywhere."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import KernelError
from kernels.generate import Pause, Prefilled, Token, generate_steps, log_probability
from kernels.kv_cache import F32KvStorage
from kernels.sampler import SamplerSettings
from tests.kernels.loaded_decoder import generate_ids, load_decoder
from tests.kernels.random_tensors import SMALL, RandomTensors

DECODER = load_decoder(RandomTensors(SMALL))
GREEDY = SamplerSettings()
PROMPT = [3, 14, 15, 9, 26, 5]


def run(prompt_ids, *, cache=None, max_tokens=8, stop_ids=(), want_logprobs=False):
    """Run to the end; give all steps and the finish reason."""
    steps = generate_steps(
        DECODER,
        cache or DECODER.new_cache(),
        prompt_ids,
        GREEDY,
        max_tokens=max_tokens,
        stop_ids=stop_ids,
        want_logprobs=want_logprobs,
    )
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as finished:
            return seen, finished.value


def ids_of(seen):
    """Give the produced ids."""
    return [step.id for step in seen if isinstance(step, Token)]


def prefills_of(seen):
    """Give the progress of reading the prompt."""
    return [step for step in seen if isinstance(step, Prefilled)]


def test_greedy_ids_are_the_largest_logits_one_after_the_other():
    """Each id is the argmax after the prompt and the ids before it."""
    seen, reason = run(PROMPT, max_tokens=5)
    text = list(PROMPT)
    for token in ids_of(seen):
        assert token == int(np.argmax(DECODER.forward(text, DECODER.new_cache())))
        text.append(token)
    assert (len(ids_of(seen)), reason) == (5, "length")


def test_a_stop_id_ends_the_run_and_is_not_produced():
    """The reason is "end", and the ids before it are the same."""
    ids = ids_of(run(PROMPT)[0])
    stop = ids[4]
    seen, reason = run(PROMPT, stop_ids={stop})
    assert (ids_of(seen), reason) == (ids[: ids.index(stop)], "end")


def test_prompt_and_answer_never_exceed_the_context():
    """A prompt of C - 3 tokens leaves room for three, and the reason is "context"."""
    seen, reason = run([1] * 61, max_tokens=50)
    assert (len(ids_of(seen)), reason) == (3, "context")
    seen, reason = run([1] * 61, max_tokens=3)
    assert (len(ids_of(seen)), reason) == (3, "length")


def test_the_longest_allowed_prompt_gets_one_token():
    """The prompt limit is C - 1; one more is refused with both numbers."""
    assert len(ids_of(run([1] * 63)[0])) == 1
    with pytest.raises(KernelError, match="64 tokens and 63 are allowed") as caught:
        run([1] * 64)
    assert caught.value.name == "context_exceeded"


def test_progress_counts_the_prompt_and_names_what_was_reused():
    """First what is reused, then each chunk, up to the whole prompt."""
    cache = DECODER.new_cache()
    assert prefills_of(run(PROMPT, cache=cache)[0]) == [Prefilled(0, 6, 0), Prefilled(6, 6, 0)]
    again = prefills_of(run([*PROMPT[:4], 1, 2, 3], cache=cache)[0])
    assert again == [Prefilled(4, 7, 4), Prefilled(7, 7, 4)]


def test_asking_again_reads_one_token_only():
    """The last prompt token is always read, since its logits are wanted."""
    cache = DECODER.new_cache()
    first = ids_of(run(PROMPT, cache=cache)[0])
    seen, _ = run(PROMPT, cache=cache)
    assert prefills_of(seen)[0].reused == len(PROMPT) - 1
    assert ids_of(seen) == first


def test_the_answer_is_part_of_the_reusable_prefix():
    """A second turn that contains the first and its answer reads only what is new."""
    cache = DECODER.new_cache()
    answer = ids_of(run(PROMPT, cache=cache, max_tokens=4)[0])
    seen, _ = run([*PROMPT, *answer, 11, 12], cache=cache)
    # The last produced id was chosen but never read.
    assert prefills_of(seen)[0].reused == len(PROMPT) + 3


@given(
    first=st.lists(st.integers(0, 4), min_size=1, max_size=20),
    second=st.lists(st.integers(0, 4), min_size=1, max_size=20),
)
def test_reusing_a_prefix_gives_the_ids_of_a_fresh_run(first, second):
    """Whatever ran before on the same cache."""
    cache = DECODER.new_cache()
    generate_ids(DECODER, first, 4, cache=cache)
    reused = generate_ids(DECODER, second, 6, cache=cache)
    assert reused == generate_ids(DECODER, second, 6)


def test_reused_rows_are_the_rows_of_the_first_run_bit_by_bit():
    """Reuse copies nothing and recomputes nothing."""
    cache = DECODER.new_cache()
    run(PROMPT, cache=cache)
    assert isinstance(cache.storage, F32KvStorage)
    before = [rows[:, :5].copy() for rows in cache.storage.keys]
    run([*PROMPT[:5], 44, 45], cache=cache)
    for old, rows in zip(before, cache.storage.keys, strict=True):
        assert np.array_equal(old, rows[:, :5])


def test_closing_at_any_step_leaves_a_true_cache():
    """After each possible stop the next run on the same cache gives the ids of a fresh one."""
    total = len(run(PROMPT)[0])
    expected = ids_of(run([*PROMPT, 7])[0])
    for stop_after in range(total + 1):
        cache = DECODER.new_cache()
        steps = generate_steps(DECODER, cache, PROMPT, GREEDY, max_tokens=8)
        seen = [next(steps) for _ in range(stop_after)]
        steps.close()
        text = [*PROMPT, *ids_of(seen)]
        assert list(cache.ids) == text[: cache.length]
        assert ids_of(run([*PROMPT, 7], cache=cache)[0]) == expected


def test_there_is_a_pause_between_any_two_tokens():
    """So a stop is heard within one layer's work."""
    seen, _ = run(PROMPT)
    for one, other in itertools.pairwise(seen):
        assert not (isinstance(one, Token) and isinstance(other, Token))
    assert sum(isinstance(step, Pause) for step in seen) > len(ids_of(seen))


@given(seed=st.integers(0, 2**64 - 1))
def test_one_seed_gives_one_text(seed):
    """Same prompt, settings and seed: same ids, also on a used cache."""
    settings = SamplerSettings(temperature=1.2, seed=seed)
    cache = DECODER.new_cache()
    first = generate_ids(DECODER, PROMPT, 8, settings=settings, cache=cache)
    assert generate_ids(DECODER, PROMPT, 8, settings=settings, cache=cache) == first


def test_other_seeds_give_other_texts():
    """20 seeds at temperature 1.5 give at least 15 different texts."""
    settings = SamplerSettings(temperature=1.5)
    texts = {
        tuple(generate_ids(DECODER, PROMPT, 8, settings=replace(settings, seed=seed)))
        for seed in range(20)
    }
    assert len(texts) >= 15


def test_log_probabilities_are_given_when_wanted():
    """They are the softmax of the logits at the produced id, and sum to one over all ids."""
    logits = DECODER.forward(PROMPT, DECODER.new_cache())
    seen, _ = run(PROMPT, max_tokens=1, want_logprobs=True)
    token = next(step for step in seen if isinstance(step, Token))
    assert token.logprob == log_probability(logits, token.id)
    total = sum(np.exp(log_probability(logits, index)) for index in range(50))
    assert abs(total - 1) < 1e-12
    assert all(step.logprob is None for step in run(PROMPT)[0] if isinstance(step, Token))


def test_an_empty_prompt_is_refused():
    """There is nothing to go on from."""
    with pytest.raises(KernelError, match="no tokens to read"):
        run([])


@pytest.mark.parametrize("count", [0, -1])
def test_no_tokens_wanted_is_refused(count):
    """At least one must be asked for."""
    with pytest.raises(KernelError, match="max_tokens") as caught:
        run(PROMPT, max_tokens=count)
    assert caught.value.name == "invalid_length"
