"""Measure how surprised a model is by a text that is already there.

Takes a decoder and token ids.
Gives the loss of each id after the first, and from those the perplexity.
Does not know text; two models are comparable only on the same ids.
"""

import math
from collections.abc import Sequence

import numpy as np

from kernels.arrays import F32, F64
from kernels.decoder import Decoder, drain


def forced_logits(decoder: Decoder, ids: Sequence[int]) -> F32:
    """Read `ids` into a fresh cache and give the logits after each: `[T] -> [T, V]`.

    Each step sees the given ids whatever the model would have chosen (teacher forcing).
    """
    cache = decoder.new_cache(len(ids))
    rows: list[F32] = []
    for chunk in decoder.chunks(ids, cache):
        hidden = drain(decoder.hidden_steps(chunk, cache))  # [t, H]
        rows.append(decoder.ops.logits(hidden))  # [t, V]
    return np.concatenate(rows)


def token_losses(decoder: Decoder, ids: Sequence[int]) -> F64:
    """Give the negative natural log probability of each id after the first: `[T] -> [T - 1]`."""
    logits = forced_logits(decoder, ids)[:-1]  # [T - 1, V]
    largest = logits.max(axis=1, keepdims=True)  # [T - 1, 1]
    shares = np.exp((logits - largest).astype(np.float64))  # [T - 1, V]
    normalisers = largest[:, 0] + np.log(shares.sum(axis=1))  # [T - 1]
    chosen = logits[np.arange(len(logits)), np.asarray(ids[1:])]  # [T - 1]
    return np.asarray(normalisers - chosen, dtype=np.float64)


def perplexity(losses: F64) -> float:
    """Give e to the mean loss: the size of a vocabulary that would surprise as much."""
    return math.exp(float(losses.mean()))
