"""Guessing from the text itself changes the time of an answer, and nothing else."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.decoder import Decoder
from kernels.generate import Token, generate_steps
from kernels.prompt_lookup import PATIENCE, PromptLookup
from kernels.sampler import SamplerSettings
from kernels.simd.records import CacheKind
from tests.kernels.simd.loaded_simd import load_simd_decoder
from tests.kernels.simd.test_simd_ops import WIDE, stored

DECODER = load_simd_decoder(stored("q4_1"), CacheKind.INT16)
REPEATING = st.lists(st.integers(0, WIDE.vocab_size - 1), min_size=1, max_size=5).flatmap(
    lambda ids: st.integers(1, 6).map(lambda times: ids * times)
)
SAMPLING = st.builds(
    SamplerSettings,
    temperature=st.sampled_from([0.0, 0.05, 0.8]),
    top_k=st.sampled_from([1, 5, 40]),
    top_p=st.sampled_from([0.5, 1.0]),
    seed=st.integers(0, 2**64 - 1),
)


def run(prompt, sampling, guesses, *, max_tokens=24, decoder=DECODER, stop_ids=()):
    """Give the ids, the reason, what is cached at the end, and how many forward passes ran."""
    cache = decoder.new_cache()
    steps = generate_steps(
        decoder,
        cache,
        prompt,
        sampling,
        max_tokens=max_tokens,
        stop_ids=stop_ids,
        want_logprobs=True,
        guesses=guesses,
    )
    seen = []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as finished:
            tokens = [step for step in seen if isinstance(step, Token)]
            return tokens, finished.value, cache.ids


@settings(max_examples=60, deadline=None)
@given(prompt=REPEATING, sampling=SAMPLING, guesses=st.integers(1, 5), stop=st.integers(0, 202))
def test_ids_are_the_same_with_and_without_guesses(prompt, sampling, guesses, stop):
    """Greedy and seeded: ids, probabilities to the last bit, reason, and what stays cached."""
    assert run(prompt, sampling, guesses, stop_ids={stop}) == run(
        prompt, sampling, 0, stop_ids={stop}
    )


class CountingDecoder(Decoder):
    """Counts the calls that read ids."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__(decoder.config, decoder.ops)
        self.calls = 0

    def hidden_steps(self, ids, cache):
        """Count, and read."""
        self.calls += 1
        return super().hidden_steps(ids, cache)


def test_an_answer_that_repeats_itself_takes_fewer_calls():
    """The small model falls into a loop; its guesses then hold."""
    counted = CountingDecoder(DECODER)
    calls = []
    for guesses in (0, 3):
        counted.calls = 0
        run([1, 2, 3] * 4, SamplerSettings(), guesses, max_tokens=60, decoder=counted)
        calls.append(counted.calls)
    assert calls[1] < calls[0]


@given(prompt=REPEATING, closed_after=st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_a_run_with_guesses_may_be_closed_anywhere(prompt, closed_after):
    """What stays in the cache is a beginning of prompt and answer, and the next run is the same."""
    cache = DECODER.new_cache()
    steps = generate_steps(DECODER, cache, prompt, SamplerSettings(), max_tokens=24, guesses=4)
    for _ in itertools.islice(steps, closed_after):
        pass
    steps.close()
    tokens, _, _ = run(prompt, SamplerSettings(), 0)
    text = [*prompt, *(token.id for token in tokens)]
    assert list(cache.ids) == text[: cache.length]


def test_the_longest_known_beginning_is_continued_from_its_last_place():
    """Three ids count more than two, the later place more than the earlier one."""
    lookup = PromptLookup([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], 3)
    assert lookup.guess(8) == [4, 9, 2]
    lookup.extend([7, 2, 3])
    assert lookup.guess(8) == [7, 2, 3]
    assert lookup.guess(1) == [7]
    assert lookup.guess(0) == []


def test_after_too_many_wrong_guesses_there_are_no_more():
    """Right ones make up for wrong ones, up to the first patience."""
    lookup = PromptLookup([1, 2, 3] * 3, 4)
    lookup.judge(right=100, wrong=0)
    lookup.judge(right=0, wrong=PATIENCE)
    assert lookup.guess(4) == [1, 2, 3]
    lookup.judge(right=0, wrong=1)
    assert lookup.guess(4) == []


def test_without_guesses_nothing_is_indexed():
    """The default costs nothing."""
    lookup = PromptLookup([1, 2, 1, 2, 1, 2], 0)
    lookup.extend([1, 2])
    assert lookup.guess(9) == []
