"""Cut a span out of a cache and move what stands behind it: fast, and not exact.

Takes a cache and the ids that are wanted. Gives a cut, and makes it: values stay as they are, and
keys are turned back by as many positions as were cut out. The moved rows still carry what they read
in the span, so the result is not what reading the wanted ids gives; only layer 0 is.
Does not know when that may be done.

Source: Leyline (arXiv:2606.01065), mode AMORTIZE without a replacement.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kernels.arrays import F32
from kernels.kv_cache import KvCache, LayerRows, Rows
from kernels.model_config import ModelConfig

LEAST_MOVED_TOKENS = 16
"""Fewer are read again in less time than it takes to think about it."""

C64 = npt.NDArray[np.complex64]

_LEVELS = {1: np.float32(127), 2: np.float32(2047)}
"""The largest code by its bytes, as in source/attention.c."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Keep `start` tokens, drop up to `end`, move `moved` tokens from there to `start`."""

    start: int
    end: int
    moved: int

    @property
    def shift(self) -> int:
        """By how many positions tokens move towards the beginning."""
        return self.end - self.start


def find_cut(
    cached: Sequence[int], wanted: Sequence[int], *, least: int = LEAST_MOVED_TOKENS
) -> Cut | None:
    """Find the one span whose removal from `cached` leaves the longest beginning of `wanted`.

    Example: cached 1 2 3 4 5 6, wanted 1 2 5 6 7, least 2: keep 2, drop 2, move 2.
    """
    start = _count_equal(cached, wanted)
    last = len(wanted) - 1  # the last token is read in any case: its logits are needed
    best: Cut | None = None
    for end in range(start + 1, len(cached)):
        if start >= last or cached[end] != wanted[start]:
            continue
        moved = min(_count_equal(cached[end:], wanted[start:]), last - start)
        if moved >= least and (best is None or moved > best.moved):
            best = Cut(start, end, moved)
    return best


def splice(cache: KvCache, config: ModelConfig, cut: Cut) -> None:
    """Make the cut; tokens behind the moved ones are forgotten.

    Raises:
        MemoryError: no room for a copy of one layer; the cache then holds `cut.start` tokens.
    """
    ids = cache.ids[cut.end : cut.end + cut.moved]
    cache.truncate(cut.start)
    turns = _turns_back(config, cut.shift)
    for layer in range(config.layer_count):
        rows = cache.storage.read_layer(layer, cut.end + cut.moved)
        cache.storage.write_layer(layer, _move(rows, cut, turns))
    cache.commit_moved(ids)


def _count_equal(left: Sequence[int], right: Sequence[int]) -> int:
    pairs = zip(left, right, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _turns_back(config: ModelConfig, shift: int) -> C64:
    """Give the rotation of each pair that undoes `shift` positions: `[D / 2]`, complex."""
    pairs = np.arange(config.head_dim // 2, dtype=np.float64)
    frequencies = config.rope_theta ** (-2.0 * pairs / config.head_dim)
    return np.asarray(np.exp(-1j * shift * frequencies), dtype=np.complex64)


def _move(rows: LayerRows, cut: Cut, turns: C64) -> LayerRows:
    """Leave the span out of `[K, S, ...]` and turn the keys behind it."""
    values = _leave_out(rows.values, cut)
    if rows.key_scales is None or rows.value_scales is None:
        turned = _turn(rows.keys[:, cut.end :], turns)
        return LayerRows(_join(rows.keys, turned, cut), values)
    worth = rows.keys[:, cut.end :] * rows.key_scales[:, cut.end :, None]
    codes, scales = _encode(_turn(worth.astype(np.float32), turns), rows.keys.dtype)
    return LayerRows(
        _join(rows.keys, codes, cut),
        values,
        _join(rows.key_scales, scales, cut),
        _leave_out(rows.value_scales, cut),
    )


def _leave_out(array: Rows, cut: Cut) -> Rows:
    return _join(array, array[:, cut.end :], cut)


def _join(before: Rows, behind: Rows, cut: Cut) -> Rows:
    return np.concatenate([before[:, : cut.start], behind], axis=1)


def _turn(keys: F32, turns: C64) -> F32:
    """Rotate adjacent pairs: `[K, S, D], [D / 2] -> [K, S, D]`."""
    pairs = np.ascontiguousarray(keys).view(np.complex64)
    return np.asarray((pairs * turns).view(np.float32))


def _encode(keys: F32, dtype: np.dtype[Any]) -> tuple[Rows, F32]:
    """Give codes and one scale a row, as the kernels do: the largest number gets the last code."""
    levels = _LEVELS[dtype.itemsize]
    scales = np.abs(keys).max(axis=2) / levels  # [K, S]
    factors = np.divide(np.float32(1), scales, out=np.zeros_like(scales), where=scales > 0)
    codes = np.clip(np.rint(keys * factors[:, :, None]), -levels, levels)
    return codes.astype(dtype), scales
