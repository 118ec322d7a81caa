"""In which order int8 keys and values lie for the kernels.

Takes codes `[K, S, D]` with positions in order, S a multiple of eight, and gives them as the
kernels read them, or the other way round. Source: `CacheLayer` in source/model.h.

    keys     eights of positions: for each pair of columns the pairs of the eight positions
    values   twos of positions: for each column its two codes
"""

import numpy as np
import numpy.typing as npt

I8 = npt.NDArray[np.int8]

_EIGHT, _TWO = 8, 2


def order_keys(stored: I8) -> I8:
    """Give keys by position."""
    K, S, D = stored.shape
    grouped = stored.reshape(K, S // _EIGHT, D // _TWO, _EIGHT, _TWO)
    return grouped.transpose(0, 1, 3, 2, 4).reshape(K, S, D)


def stored_keys(rows: I8) -> I8:
    """Give keys as they are stored."""
    K, S, D = rows.shape
    grouped = rows.reshape(K, S // _EIGHT, _EIGHT, D // _TWO, _TWO)
    return grouped.transpose(0, 1, 3, 2, 4).reshape(K, S, D)


def order_values(stored: I8) -> I8:
    """Give values by position."""
    K, S, D = stored.shape
    return stored.reshape(K, S // _TWO, D, _TWO).transpose(0, 1, 3, 2).reshape(K, S, D)


def stored_values(rows: I8) -> I8:
    """Give values as they are stored."""
    K, S, D = rows.shape
    return rows.reshape(K, S // _TWO, _TWO, D).transpose(0, 1, 3, 2).reshape(K, S, D)
