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
) -> Generator[Step, None, FinishReason]:
    """Read the prompt, then choose ids until a stop id, the length or the context ends it.

    The longest prefix that the cache already holds is reused, except that the last prompt token is
    always read, since its logits are needed. A stop id ends the run and is not produced. The last
    produced id is not in the cache. Closing the generator at any step leaves the cache true. Rows
    of the first `cut` prompt ids come out the same whatever ids follow them.

    Raises:
        KernelError: `context_exceeded` when the prompt leaves no room for one token,
            `invalid_length` for an empty prompt or no tokens wanted.
    """
    _check(decoder, prompt_ids, max_tokens)
    reused = min(cache.common_prefix(prompt_ids), len(prompt_ids) - 1)
    cache.truncate(reused)
    sampler = Sampler(settings)
    logits = yield from _prefill(decoder, cache, prompt_ids, reused, cut)
    room = decoder.config.max_context - len(prompt_ids)
    for produced in range(1, max_tokens + 1):
        chosen = sampler.next_id(logits)
        if chosen in stop_ids:
            return "end"
        yield Token(chosen, log_probability(logits, chosen) if want_logprobs else None)
        if produced == max_tokens:
            break
        if produced == room:
            return "context"
        logits = yield from _paused(decoder, cache, [chosen])
    return "length"


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


def _paused(decoder: Decoder, cache: KvCache, ids: Sequence[int]) -> Generator[Step, None, F32]:
    steps = decoder.forward_steps(ids, cache)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return np.asarray(finished.value)
        yield _PAUSE
