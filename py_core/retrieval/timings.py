"""How long each stage of retrieval took, over the session.

Takes milliseconds by stage, gives percentiles. Does not know clocks.
"""

from collections import deque
from dataclasses import dataclass

MOST_SAMPLES = 512
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class StageTiming:
    """One stage: how often, and the middle and slow times."""

    stage: str
    count: int
    p50_ms: float
    p95_ms: float
    last_ms: float


class SessionTimings:
    """The last times of each stage."""

    def __init__(self) -> None:
        """Begin empty."""
        self._samples: dict[str, deque[float]] = {}

    def note(self, stage: str, took_ms: float) -> None:
        """Write one time down."""
        self._samples.setdefault(stage, deque(maxlen=MOST_SAMPLES)).append(took_ms)

    def list_stages(self) -> tuple[StageTiming, ...]:
        """Give all stages in the order in which they were first seen."""
        return tuple(
            StageTiming(
                stage, len(times), find_percentile(times, 50), find_percentile(times, 95), times[-1]
            )
            for stage, times in self._samples.items()
        )


def find_percentile(times: "deque[float] | list[float]", percent: int) -> float:
    """Give the smallest time that at least so many per cent do not exceed.

    Example:
        of 1, 2, 3, 4 the 50th percentile is 2.
    """
    ordered = sorted(times)
    place = -(-len(ordered) * percent // _PERCENT)
    return ordered[max(0, place - 1)]
