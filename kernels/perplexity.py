"""Measure how surprised a model is by a text that is already there.

Takes a decoder and token ids.
Gives the loss of each id after the first, and from those the perplexity with its standard error.
Does not know text; two models are comparable only on the same ids, cut into the same windows.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from kernels.arrays import F32, F64, I32
from kernels.decoder import Decoder, drain


def forced_logits(decoder: Decoder, ids: Sequence[int]) -> F32:
    """Read `ids` into a fresh cache and give the logits after each: `[T] -> [T, V]`.

    Each step sees the given ids whatever the model would have chosen (teacher forcing).
    """
    return np.concatenate(list(_forced_chunks(decoder, ids)))


def token_losses(decoder: Decoder, ids: Sequence[int]) -> F64:
    """Give the negative natural log probability of each id after the first: `[T] -> [T - 1]`.

    Only the logits of one chunk exist at a time, so a long text needs no more memory.
    """
    parts: list[F64] = []
    done = 0
    for logits in _forced_chunks(decoder, ids):  # [t, V]
        end = done + 1 + len(logits)
        following = np.asarray(ids[done + 1 : end], dtype=np.int32)  # the last id has none
        parts.append(_losses_of(logits[: len(following)], following))
        done += len(logits)
    return np.concatenate(parts)


def window_losses(decoder: Decoder, ids: Sequence[int], window_tokens: int) -> Iterator[F64]:
    """Give the losses of one window after the other, each read without what lies before it.

    A rest of one id has nothing to predict and is left out.
    """
    for start in range(0, len(ids) - 1, window_tokens):
        yield token_losses(decoder, ids[start : start + window_tokens])


def perplexity(losses: F64) -> float:
    """Give e to the mean loss: the size of a vocabulary that would surprise as much."""
    return math.exp(float(losses.mean()))


def standard_error(losses: F64) -> float:
    """Give the standard error of the mean; of the difference, for two models' loss difference."""
    return float(losses.std()) / math.sqrt(len(losses))


def _forced_chunks(decoder: Decoder, ids: Sequence[int]) -> Iterator[F32]:
    cache = decoder.new_cache(len(ids))
    for chunk in decoder.chunks(ids, cache):
        hidden = drain(decoder.hidden_steps(chunk, cache))  # [t, H]
        yield decoder.ops.logits(hidden)  # [t, V]


def _losses_of(logits: F32, chosen_ids: I32) -> F64:
    """`[t, V], [t] -> [t]`."""
    largest = logits.max(axis=1, keepdims=True)  # [t, 1]
    shares = np.exp((logits - largest).astype(np.float64))  # [t, V]
    normalisers = largest[:, 0] + np.log(shares.sum(axis=1))  # [t]
    chosen = logits[np.arange(len(logits)), chosen_ids]  # [t]
    return np.asarray(normalisers - chosen, dtype=np.float64)
