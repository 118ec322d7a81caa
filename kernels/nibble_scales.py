"""Find the scale with which a block of weights loses least in signed nibbles.

Takes float32 rows and a block size. Gives int8 levels -8..7 and one scale a block.
Does not know how nibbles are packed, nor which tensor it rounds.

Dividing the largest magnitude by 7 keeps that one weight exact and makes all steps wide. A
narrower step serves the many at the cost of the one, which is clipped to 7 (or, when negative, to
-8); a wider one may suit the block's spacing. So each block tries a fixed list of divisors and
keeps that with the least sum of squared errors, the plain 7 first, so that no block is ever worse
for it. Sums run weight by weight over many blocks at once: no library may choose their order, and
the bytes are the same on every machine.

Worked example, one block [0.75, 0.625, -1, 0.125]: divisor 8 gives the scale 1/8 and the levels
[6, 5, -8, 1], which come back exactly; divisor 7 reaches none of them but the -1.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.arrays import F32

I8: TypeAlias = npt.NDArray[np.int8]

PLAIN_DIVISOR = 7.0
DIVISORS = (PLAIN_DIVISOR, 7.5, 8.0, 6.5, 8.5, 9.0, 6.0)
"""In the order of trial; of equal ones the first stays."""
_LOWEST_LEVEL, _HIGHEST_LEVEL = np.float32(-8), np.float32(7)


def round_nibble_blocks(rows: F32, block_size: int) -> tuple[I8, F32]:
    """Round finite float32 `[rows, columns]` to levels of that shape and scales `[rows, B]`."""
    row_count, columns = rows.shape
    # One weight of every block a line: [block, N], so that each step runs over all blocks.
    lines = np.ascontiguousarray(rows.reshape(-1, block_size).T)
    scales = _best_scales(lines)  # [N]
    signed = _round_levels(lines, scales).astype(np.int8)  # [block, N]
    return np.ascontiguousarray(signed.T).reshape(row_count, columns), scales.reshape(row_count, -1)


def squared_errors(lines: F32, scales: F32) -> F32:
    """Sum what rounding costs each block: `[block, N], [N] -> [N]`."""
    misses = _round_levels(lines, scales)  # [block, N]
    misses *= scales
    misses -= lines
    misses *= misses
    total: F32 = misses[0].copy()
    for line in misses[1:]:
        total += line
    return total


def _best_scales(lines: F32) -> F32:
    largest = np.abs(lines).max(axis=0)  # [N]
    # A unit of 1 keeps squares of tiny weights above 0 and those of huge ones finite.
    units = np.where(largest > 0, largest, np.float32(1)).astype(np.float32)
    shares: F32 = lines / units  # [block, N], in -1..1
    best = np.full_like(largest, np.float32(1 / PLAIN_DIVISOR))
    least = squared_errors(shares, best)
    for divisor in DIVISORS[1:]:
        tried = np.full_like(largest, np.float32(1 / divisor))
        errors = squared_errors(shares, tried)
        is_better = errors < least
        np.copyto(best, tried, where=is_better)
        np.copyto(least, errors, where=is_better)
    scales = units * best
    # A block of zeros, or one so small that its scale underflows, keeps a usable scale.
    return np.where((largest > 0) & (scales > 0), scales, np.float32(1)).astype(np.float32)


def _round_levels(lines: F32, scales: F32) -> F32:
    levels = lines / scales
    np.rint(levels, out=levels)
    return np.clip(levels, _LOWEST_LEVEL, _HIGHEST_LEVEL, out=levels)
