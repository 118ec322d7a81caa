"""How far each rotary pair turns from one position to the next.

Takes the base and the head width. Gives float64 numbers that are the same on every machine: powers
are computed in decimal arithmetic, since a C library may round its own either way.
"""

from decimal import Context, Decimal

import numpy as np

from kernels.arrays import F64

_DIGITS = 30


def rotary_frequencies(head_dim: int, theta: float) -> F64:
    """Give `theta ** (-2 i / D)` for pairs i: `[D / 2]`."""
    context = Context(prec=_DIGITS)
    logarithm = context.ln(Decimal(theta))
    return np.array([_power(context, logarithm, pair, head_dim) for pair in range(head_dim // 2)])


def _power(context: Context, logarithm: Decimal, pair: int, head_dim: int) -> float:
    exponent = context.divide(context.multiply(logarithm, Decimal(-2 * pair)), Decimal(head_dim))
    return float(context.exp(exponent))
