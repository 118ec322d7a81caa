"""Compute the layers of the transformer over float32 arrays.

Takes hidden states, weights and settings; every function is pure.
Gives new arrays.
Does not know files, caches or which layer it computes.

Numpy has BLAS on a native machine and none in the browser, so products come in two named forms
with equal results within rounding. The einsum form is the fastest one without BLAS (measured
in Pyodide on matrices of a 135M model: einsum 6 GFLOP/s, `@` 2.5, the transposed `@` 0.9).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.arrays import F32

_FEW_ROWS = 8


@dataclass(frozen=True, slots=True)
class Products:
    """The two matrix products that a decoder needs, in one way of computing them.

    Attributes:
        name: "matmul" or "einsum".
        by_rows: `[T, I], [O, I] -> [T, O]`, each output the dot product of two rows.
        mix: `[T, S], [S, D] -> [T, D]`, each output a weighted sum of rows.
    """

    name: str
    by_rows: Callable[[F32, F32], F32]
    mix: Callable[[F32, F32], F32]


def _by_rows_matmul(inputs: F32, weights: F32) -> F32:
    if len(inputs) == 1:
        # Memory limits one row: BLAS threads gain nothing, and stall when the cores are busy.
        return _by_rows_einsum(inputs, weights)
    return np.asarray(inputs @ weights.T)


def _by_rows_einsum(inputs: F32, weights: F32) -> F32:
    return np.asarray(np.einsum("ti,oi->to", inputs, weights))


def _mix_matmul(shares: F32, rows: F32) -> F32:
    return np.asarray(shares @ rows)


def _mix_einsum(shares: F32, rows: F32) -> F32:
    if len(shares) < _FEW_ROWS:
        return np.asarray(np.einsum("ts,sd->td", shares, rows))
    # With many rows the turned copy pays: dot products run at twice the speed of sums of rows.
    return np.asarray(np.einsum("ts,ds->td", shares, np.ascontiguousarray(rows.T)))


MATMUL = Products("matmul", _by_rows_matmul, _mix_matmul)
EINSUM = Products("einsum", _by_rows_einsum, _mix_einsum)


def products_for(platform: str) -> Products:
    """Choose the faster form for `sys.platform`: no BLAS under "emscripten"."""
    return EINSUM if platform == "emscripten" else MATMUL


def rms_norm(hidden: F32, weight: F32, epsilon: float) -> F32:
    """Divide each row by its root mean square and scale: `[T, H], [H] -> [T, H]`.

    The epsilon is inside the root: `x / sqrt(mean(x^2) + epsilon) * weight`. With epsilon 0 the row
    (3, 4) has mean square 12.5 and becomes (0.8485, 1.1314) times the weight.
    """
    squares = np.einsum("ti,ti->t", hidden, hidden)  # [T]
    roots = np.sqrt(squares / np.float32(hidden.shape[1]) + np.float32(epsilon))  # [T]
    return np.asarray(hidden / roots[:, None] * weight)


def rotary_table(length: int, head_dim: int, theta: float) -> NDArray[np.complex64]:
    """Give the rotations of positions 0 to `length` - 1: `[length, D / 2]`, complex.

    Pair i of position p turns by `p * theta ** (-2 i / D)`; the angle is computed in float64, since
    a float32 angle of 8,000 is off by 0.0005.
    """
    pairs = np.arange(head_dim // 2, dtype=np.float64)
    frequencies = theta ** (-2.0 * pairs / head_dim)  # [D / 2]
    angles = np.outer(np.arange(length, dtype=np.float64), frequencies)  # [length, D / 2]
    return np.asarray(np.exp(1j * angles), dtype=np.complex64)


def rotary(heads: F32, rotations: NDArray[np.complex64]) -> F32:
    """Rotate adjacent pairs `(x[2i], x[2i + 1])`: `[T, A, D], [T, D / 2] -> [T, A, D]`.

    A pair read as a complex number and multiplied by `cos a + i sin a` gives
    `(x cos a - y sin a, x sin a + y cos a)`: counter-clockwise, as in the SLM1 convention.
    """
    pairs = np.ascontiguousarray(heads).view(np.complex64)  # [T, A, D / 2]
    return np.asarray((pairs * rotations[:, None, :]).view(np.float32))


def attention(queries: F32, keys: F32, values: F32, products: Products) -> F32:
    """Let T new tokens look at S tokens, themselves the last T of those.

    `[T, A, D], [K, S, D], [K, S, D] -> [T, A, D]`. Query head a reads key/value head
    `a // (A / K)`. Scores are scaled by `1 / sqrt(D)`; token t sees positions 0 to `S - T + t`.
    """
    T, A, D = queries.shape
    K, S, _ = keys.shape
    group = A // K
    scaled = queries * np.float32(1 / np.sqrt(D))
    grouped = scaled.reshape(T, K, group, D).transpose(1, 0, 2, 3).reshape(K, T * group, D)
    mixed = np.empty((K, T * group, D), dtype=np.float32)
    for head in range(K):
        scores = products.by_rows(grouped[head], keys[head])  # [T * group, S]
        if T > 1:
            scores.reshape(T, group, S)[:, :, S - T :] += _future_mask(T)[:, None, :]
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        mixed[head] = products.mix(scores, values[head])  # [T * group, D]
        mixed[head] /= scores.sum(axis=1, keepdims=True)
    return np.asarray(mixed.reshape(K, T, group, D).transpose(1, 0, 2, 3).reshape(T, A, D))


def swiglu(gate_and_up: F32) -> F32:
    """Combine gate and up halves: `[T, 2 F] -> [T, F]`, `silu(gate) * up`.

    `silu(x) = x / (1 + exp(-x))`; a gate under -88 overflows to infinity and gives -0 as it should.
    """
    width = gate_and_up.shape[1] // 2
    gate, up = gate_and_up[:, :width], gate_and_up[:, width:]  # [T, F] each
    with np.errstate(over="ignore"):
        return np.asarray(gate / (np.float32(1) + np.exp(-gate)) * up)


def _future_mask(length: int) -> F32:
    """Give minus infinity where a token would see a later one: `[T, T]`."""
    return np.triu(np.full((length, length), -np.inf, dtype=np.float32), k=1)
