"""Share the thread: rest often enough that a waiting message gets through.

Takes the shell's clock and its pause, gives a pacer that a working loop asks at every step.
Does not know what the work is.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Protocol, TypeVar

REST_EVERY_MS = 15.0
LOAD_REST_EVERY_MS = 40.0
"""While a model loads, only a wish to stop gets through, and that may take a moment."""

Step = TypeVar("Step")
Value = TypeVar("Value")


class Shell(Protocol):
    """The two functions of the host that pacing needs."""

    def now_ms(self) -> float:
        """A monotonic clock."""

    def pause(self) -> Awaitable[object]:
        """Give the event loop one turn."""


class StopSignal:
    """A flag that another request sets and the working loop reads after each rest."""

    def __init__(self) -> None:
        """Start unset."""
        self.is_set = False

    def set(self) -> None:
        """Ask the loop to end at its next rest."""
        self.is_set = True


class Pacer:
    """Counts the time since the last rest by the shell's clock."""

    def __init__(self, shell: Shell, every_ms: float = REST_EVERY_MS) -> None:
        """Begin a stretch of work now."""
        self._shell = shell
        self._every_ms = every_ms
        self._last_rest_ms = self.now_ms()

    def now_ms(self) -> float:
        """Read the shell's clock."""
        return float(self._shell.now_ms())

    def is_due(self) -> bool:
        """Tell whether the work has run long enough for a rest."""
        return self.now_ms() - self._last_rest_ms >= self._every_ms

    async def rest(self) -> None:
        """Give the event loop one turn and begin the next stretch."""
        await self._shell.pause()
        self._last_rest_ms = self.now_ms()


async def drain_paced(
    steps: Generator[Step, None, Value],
    on_step: Callable[[Step], None],
    *,
    pacer: Pacer,
    stop: StopSignal,
) -> Value | None:
    """Run a generator to its end with rests between; None when the stop signal ended it.

    The generator is closed before this returns or raises.
    """
    try:
        while not stop.is_set:
            try:
                on_step(next(steps))
            except StopIteration as finished:
                value: Value = finished.value
                return value
            if pacer.is_due():
                await pacer.rest()
        return None
    finally:
        steps.close()
