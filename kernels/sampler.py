"""Choose the next token id from logits.

Takes float32 logits and frozen settings with a seed.
Gives one id; the same settings and logits give the same ids on every machine.
Does not know tokens, stop rules or models.
"""

import math
from dataclasses import dataclass

import numpy as np

from kernels.arrays import F32, F64
from kernels.errors import ErrorCode, KernelError, kernel_error

MAX_TOP_K = 1024
MAX_SEED = 2**64 - 1
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01  # 33 bits, so that n * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_SMALLEST_EXPONENT = -745.0  # exp underflows to zero below
_TAYLOR = tuple(1.0 / math.factorial(power) for power in range(13, -1, -1))


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """How to choose; the defaults are greedy.

    Attributes:
        temperature: 0 takes the largest logit; above 0 divides the logits.
        top_k: candidates kept, 1 to 1,024.
        top_p: probability mass kept of those, above 0 and at most 1.
        seed: of PCG64, 0 to 2**64 - 1.
    """

    temperature: float = 0.0
    top_k: int = 40
    top_p: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse settings outside their range.

        Raises:
            KernelError: `invalid_setting` with the setting's name as field.
        """
        if not (_is_number(self.temperature) and 0 <= self.temperature < math.inf):
            raise self._refusal(field="temperature", expected="a number of 0 or more")
        if not (_is_integer(self.top_k) and 1 <= self.top_k <= MAX_TOP_K):
            raise self._refusal(field="top_k", expected=f"a whole number from 1 to {MAX_TOP_K}")
        if not (_is_number(self.top_p) and 0 < self.top_p <= 1):
            raise self._refusal(field="top_p", expected="a number above 0 and at most 1")
        if not (_is_integer(self.seed) and 0 <= self.seed <= MAX_SEED):
            raise self._refusal(field="seed", expected="a whole number from 0 to 2**64 - 1")

    def _refusal(self, *, field: str, expected: str) -> KernelError:
        found = getattr(self, field)
        return kernel_error(
            ErrorCode.INVALID_SETTING, field, f"{field} must be {expected}, not {found!r}."
        )


class Sampler:
    """One seeded sequence of choices."""

    def __init__(self, settings: SamplerSettings) -> None:
        self._settings = settings
        self._bits = np.random.PCG64(settings.seed)

    def next_id(self, logits: F32) -> int:
        """Choose an id from logits `[V]`; ties go to the lowest id.

        Raises:
            KernelError: `generation_failed` (code 13) when the largest logit is not finite.
        """
        best = int(np.argmax(logits))  # the first of equal ones; the first NaN if there is one
        if not np.isfinite(logits[best]):
            raise kernel_error(
                ErrorCode.GENERATION_FAILED,
                "logits",
                "The logits are not finite: the model is damaged; load another.",
            )
        if self._settings.temperature == 0:
            return best
        candidates = top_candidates(logits, self._settings.top_k)  # [k], best first
        weights = scaled_weights(logits[candidates], self._settings.temperature)  # [k]
        cumulative = np.cumsum(weights)  # [k]; a sequential sum, so equal everywhere
        kept = int(np.searchsorted(cumulative, self._settings.top_p * cumulative[-1])) + 1
        cumulative = cumulative[:kept]
        place = np.searchsorted(cumulative, self._draw() * cumulative[-1], side="right")
        return int(candidates[min(int(place), len(cumulative) - 1)])

    def _draw(self) -> float:
        """Give the next number in [0, 1): the top 53 bits of PCG64's output."""
        return (int(self._bits.random_raw()) >> 11) * 2.0**-53


def top_candidates(logits: F32, count: int) -> np.ndarray:
    """Give the ids of the `count` largest logits, best first, lowest id first among equals."""
    count = min(count, len(logits))
    threshold = np.partition(logits, len(logits) - count)[len(logits) - count]
    ids = np.flatnonzero(logits >= threshold)  # ascending, and more than `count` when tied
    order = np.argsort(-logits[ids], kind="stable")
    return np.asarray(ids[order[:count]])


def scaled_weights(logits: F32, temperature: float) -> F64:
    """Give `exp((logit - first) / temperature)` in float64 for logits sorted downwards."""
    wide = logits.astype(np.float64)
    with np.errstate(over="ignore"):  # a tiny temperature: minus infinity is the right answer
        return exponential((wide - wide[0]) / temperature)


def exponential(values: F64) -> F64:
    """Compute e**x for x of 0 or less, with plain additions and products only.

    The platform's own function may differ in the last bit between machines, which could change a
    drawn id. Error under 2 units in the last place.

    Source: argument reduction by ln 2 in two parts, then the Taylor series up to x**13.
    """
    values = np.maximum(values, _SMALLEST_EXPONENT)
    shift = np.rint(values * _LOG2_E)
    rest = (values - shift * _LN2_HIGH) - shift * _LN2_LOW  # within half of ln 2
    total = np.full_like(rest, _TAYLOR[0])
    for factor in _TAYLOR[1:]:
        total = total * rest + factor
    return np.asarray(np.ldexp(total, shift.astype(np.int32)))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
