"""How much memory a model may take here, and whether it does.

Takes the shell's two numbers, the plan of a model and what is held already. Gives room, or refuses
with numbers before anything is allocated. Does not know how memory is laid out.
"""

from dataclasses import dataclass
from typing import Protocol

from kernels.memory_plan import MemoryPlan
from kernels.reserved_memory import MARGIN_BYTES, SMALLEST_BYTES
from py_core.errors import ModelTooLargeError


class MemoryGauge(Protocol):
    """The two functions of the host that planning needs."""

    def heap_bytes(self) -> int:
        """Bytes of memory in use by the interpreter and the kernels."""

    def heap_limit_bytes(self) -> int:
        """The most that these can become."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What loading a model will do to the memory.

    Attributes:
        plan: bytes by purpose.
        heap_bytes: in use now.
        heap_bytes_after: in use once the model is loaded and the one before it is gone.
        heap_bytes_full: in use once its context is full.
        limit_bytes: the most that can be in use.
        beside_bytes: of those in use, what the embedder holds.
    """

    plan: MemoryPlan
    heap_bytes: int
    heap_bytes_after: int
    heap_bytes_full: int
    limit_bytes: int
    beside_bytes: int = 0

    @property
    def fits(self) -> bool:
        """Whether the model can be loaded at all."""
        return self.heap_bytes_after <= self.limit_bytes


class MemoryRoom:
    """The memory of this interpreter, counted from what it takes without any model."""

    def __init__(self, gauge: MemoryGauge) -> None:
        """Note what is in use now; a memory never shrinks, so later readings say less."""
        self._gauge = gauge
        self._bare_bytes = int(gauge.heap_bytes())
        self._beside_bytes = 0

    @property
    def beside_bytes(self) -> int:
        """Bytes that something beside the models holds."""
        return self._beside_bytes

    @property
    def _empty_bytes(self) -> int:
        return self._bare_bytes + self._beside_bytes

    def hold_beside(self, size: int) -> None:
        """Count so many bytes as taken, whatever model is loaded; 0 ends it."""
        self._beside_bytes = size

    def has_room(self, size: int) -> bool:
        """Tell whether so many bytes fit beside all that is in use now."""
        return int(self._gauge.heap_bytes()) + size <= self._limit()

    def forecast(self, plan: MemoryPlan, old: MemoryPlan | None) -> Forecast:
        """Tell what is in use after a load in place of an old model."""
        now = int(self._gauge.heap_bytes())
        beside = old.interpreter_bytes if old and self.holds_both(plan, old) else 0
        own_now = now - (old.kernel_bytes if old else 0)
        own_after = max(own_now, self._empty_bytes + self._growth(beside + plan.interpreter_bytes))
        after = own_after + plan.kernel_bytes
        more = plan.bytes_for(plan.max_context) - plan.bytes_when_loaded
        full = after + max(0, more)
        return Forecast(plan, now, after, full, self._limit(), self._beside_bytes)

    def require(self, name: str, plan: MemoryPlan) -> None:
        """Pass when the model fits alone.

        Raises:
            ModelTooLargeError: it does not; nothing was allocated.
        """
        allowed = max(0, self._limit() - self._empty_bytes)
        if plan.bytes_to_load > allowed:
            raise ModelTooLargeError(
                name=name, needed_bytes=plan.bytes_to_load, allowed_bytes=allowed
            )

    def holds_both(self, plan: MemoryPlan, old: MemoryPlan) -> bool:
        """Tell whether a model can be loaded beside the one that is there."""
        both = self._empty_bytes + old.bytes_to_load + plan.bytes_to_load
        return both <= self._limit()

    def _limit(self) -> int:
        return int(self._gauge.heap_limit_bytes())

    def _growth(self, wanted: int) -> int:
        """Give by how much the interpreter's memory grows: a fifth at least, if it has to."""
        if wanted < SMALLEST_BYTES:
            return wanted
        return max(wanted + MARGIN_BYTES, self._empty_bytes // 5)
