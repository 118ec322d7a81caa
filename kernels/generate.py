"""Produce token ids one by one after a prompt.

Takes a decoder, a cache, prompt ids and settings.
Gives a generator of steps that may be closed at any of them.
Does not know text, tokenizers, clocks or event loops.
"""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from kernels.arrays import F32
from kernels.decoder import Decoder
from kernels.errors import ErrorCode, kernel_error
from kernels.kv_cache import KvCache
from kernels.prompt_lookup import PromptLookup
from kernels.sampler import Sampler, SamplerSettings

FinishReason: TypeAlias = Literal["end", "length", "context"]


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Prompt tokens that are in the cache, `reused` of them from before."""

    tokens_done: int
    tokens_total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Token:
    """One chosen id; `logprob` is its natural log probability at temperature 1, if wanted."""

    id: int
    logprob: float | None


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing new: a chance for the caller to do other work or to stop."""


Step: TypeAlias = Prefilled | Token | Pause
_PAUSE = Pause()


def generate_steps(  # noqa: PLR0913 - what to run on, what to say, and when to stop
    decoder: Decoder,
    cache: KvCache,
    prompt_ids: Sequence[int],
    settings: SamplerSettings,
    *,
    max_tokens: int,
    stop_ids: Collection[int] = (),
    want_logprobs: bool = False,
    cut: int = 0,
    guesses: int = 0,
) -> Generator[Step, None, FinishReason]:
    """Read the prompt, then choose ids until a stop id, the length or the context ends it.

    The longest prefix that the cache already holds is reused, except that the last prompt token is
    always read, since its logits are needed. A stop id ends the run and is not produced. The last
    produced id is not in the cache. Closing the generator at any step leaves the cache true. Rows
    of the first `cut` prompt ids come out the same whatever ids follow them.

    With `guesses`, up to so many ids are continued from an earlier place in the text and read
    together with the chosen one; those that the sampler then chooses too need no step of their own.
    Each id is drawn from the same logits in the same order, so it is the same id, wherever an op
    set computes a row alike however many come with it (simd does, numpy does not promise it).

    Raises:
        KernelError: `context_exceeded` when the prompt leaves no room for one token,
            `invalid_length` for an empty prompt or no tokens wanted.
    """
    _check(decoder, prompt_ids, max_tokens)
    reused = min(cache.common_prefix(prompt_ids), len(prompt_ids) - 1)
    cache.truncate(reused)
    sampler = Sampler(settings)
    logits = yield from _prefill(decoder, cache, prompt_ids, reused, cut)
    reader = _Reader(decoder, cache, PromptLookup(prompt_ids, guesses))
    room = decoder.config.max_context - len(prompt_ids)
    try:
        for produced in range(1, max_tokens + 1):
            chosen = sampler.next_id(logits)
            if chosen in stop_ids:
                return "end"
            yield Token(chosen, log_probability(logits, chosen) if want_logprobs else None)
            if produced == max_tokens:
                break
            if produced == room:
                return "context"
            logits = yield from reader.read(chosen, min(room, max_tokens) - produced - 1)
        return "length"
    finally:
        reader.forget()


def log_probability(logits: F32, token: int) -> float:
    """Give the natural log of the softmax of logits `[V]` at one id, in float64."""
    shifted = logits.astype(np.float64) - float(logits.max())  # [V]
    return float(shifted[token] - np.log(np.exp(shifted).sum()))


def _check(decoder: Decoder, prompt_ids: Sequence[int], max_tokens: int) -> None:
    if max_tokens < 1:
        text = f"max_tokens must be 1 or more, not {max_tokens}."
        raise kernel_error(ErrorCode.INVALID_LENGTH, "max_tokens", text)
    limit = decoder.config.max_context - 1
    if len(prompt_ids) > limit:
        raise kernel_error(
            ErrorCode.CONTEXT_EXCEEDED,
            "prompt_ids",
            f"The prompt has {len(prompt_ids)} tokens and {limit} are allowed; shorten it.",
        )


def _prefill(
    decoder: Decoder, cache: KvCache, prompt_ids: Sequence[int], reused: int, cut: int
) -> Generator[Step, None, F32]:
    """Read what is not cached, reporting each time the cache has grown."""
    total = len(prompt_ids)
    yield Prefilled(reused, total, reused)
    reported = reused
    is_apart = not decoder.ops.is_cut_invariant
    steps = decoder.forward_steps(prompt_ids[reused:], cache, cut=cut - reused if is_apart else 0)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return np.asarray(finished.value)
        grown = cache.length > reported
        reported = cache.length
        yield Prefilled(reported, total, reused) if grown else _PAUSE


class _Reader:
    """Reads chosen ids, and guesses behind them that the sampler has yet to choose."""

    def __init__(self, decoder: Decoder, cache: KvCache, lookup: PromptLookup) -> None:
        self._decoder, self._cache, self._lookup = decoder, cache, lookup
        self._guesses: list[int] = []
        self._rows: list[F32] = []

    def read(self, chosen: int, room: int) -> Generator[Step, None, F32]:
        """Give the logits `[V]` after an id, of which at most `room` more may follow."""
        self._lookup.extend([chosen])
        if self._guesses and self._guesses[0] == chosen:
            self._lookup.judge(right=1, wrong=0)
            self._guesses.pop(0)
            return self._rows.pop(0)
        self._lookup.judge(right=0, wrong=len(self._guesses))
        self.forget()
        guesses = self._lookup.guess(room)
        if not guesses:
            return (yield from _paused(self._decoder.forward_steps([chosen], self._cache)))
        rows = yield from _paused(self._decoder.rows_steps([chosen, *guesses], self._cache))
        self._guesses, self._rows = guesses, list(rows[1:])
        return np.asarray(rows[0])

    def forget(self) -> None:
        """Take guesses that were not chosen out of the cache."""
        self._cache.truncate(self._cache.length - len(self._guesses))
        self._guesses, self._rows = [], []


def _paused(steps: Generator[None, None, F32]) -> Generator[Step, None, F32]:
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return np.asarray(finished.value)
        yield _PAUSE
