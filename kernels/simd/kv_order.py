"""In which order the codes of keys and values lie for the kernels.

Takes codes `[K, S, D]` with positions in order, S a multiple of eight, and gives them as the
kernels read them, or the other way round. Source: `CacheLayer` in source/model.h.

    keys     eights of positions: for each pair of columns the pairs of the eight positions
    values   twos of positions: for each column its two codes
"""

from kernels.kv_cache import Rows

_EIGHT, _TWO = 8, 2


def order_keys(stored: Rows) -> Rows:
    """Give keys by position."""
    K, S, D = stored.shape
    grouped = stored.reshape(K, S // _EIGHT, D // _TWO, _EIGHT, _TWO)
    return grouped.transpose(0, 1, 3, 2, 4).reshape(K, S, D)


def stored_keys(rows: Rows) -> Rows:
    """Give keys as they are stored."""
    K, S, D = rows.shape
    grouped = rows.reshape(K, S // _EIGHT, _EIGHT, D // _TWO, _TWO)
    return grouped.transpose(0, 1, 3, 2, 4).reshape(K, S, D)


def order_values(stored: Rows) -> Rows:
    """Give values by position."""
    K, S, D = stored.shape
    return stored.reshape(K, S // _TWO, D, _TWO).transpose(0, 1, 3, 2).reshape(K, S, D)


def stored_values(rows: Rows) -> Rows:
    """Give values as they are stored."""
    K, S, D = rows.shape
    return rows.reshape(K, S // _TWO, _TWO, D).transpose(0, 1, 3, 2).reshape(K, S, D)
