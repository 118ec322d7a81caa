"""Measure what moved rows change, by reading everything once as it should be.

Takes a decoder, and a cache that holds moved rows of a prompt. Gives the largest difference of a
logit and the first greedy token that comes out otherwise, and leaves the cache exact.
Does not know why rows were moved.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from kernels.arrays import F32
from kernels.decoder import Decoder
from kernels.kv_cache import KvCache

DRIFT_TOKENS = 32


@dataclass(frozen=True, slots=True)
class Drift:
    """How far an answer from moved rows is from the exact one.

    Attributes:
        logit_difference: the largest over all logits while both runs had the same ids.
        first_changed: which greedy token differs first, counted from 0; None if none does.
        tokens: how many were compared.
    """

    logit_difference: float
    first_changed: int | None
    tokens: int


def measure_drift_steps(
    decoder: Decoder, cache: KvCache, prompt_ids: Sequence[int], *, tokens: int = DRIFT_TOKENS
) -> Generator[None, None, Drift]:
    """Compare greedy runs from the cache as it is and from the prompt read anew.

    Yields often, so that the caller can do other work; closing it leaves the cache true.
    """
    tokens = min(tokens, decoder.config.max_context - len(prompt_ids))
    cache.truncate(min(cache.common_prefix(prompt_ids), len(prompt_ids) - 1))
    moved = yield from _run_greedy(decoder, cache, prompt_ids, tokens)
    cache.truncate(0)
    exact = yield from _run_greedy(decoder, cache, prompt_ids, tokens)
    worst = 0.0
    for at, (left, right) in enumerate(zip(moved, exact, strict=True)):
        worst = max(worst, float(np.abs(left - right).max()))
        if left.argmax() != right.argmax():
            return Drift(worst, at, tokens)
    return Drift(worst, None, tokens)


def _run_greedy(
    decoder: Decoder, cache: KvCache, prompt_ids: Sequence[int], tokens: int
) -> Generator[None, None, list[F32]]:
    """Give the logits `[V]` before each of so many greedy tokens."""
    logits = yield from decoder.forward_steps(prompt_ids[cache.length :], cache)
    found = [logits]
    while len(found) < tokens:
        logits = yield from decoder.forward_steps([int(logits.argmax())], cache)
        found.append(logits)
    return found
