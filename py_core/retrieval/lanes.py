"""Ask the shelves of memory, each within its own time, and take whatever comes as a value.

Takes ports and an intent, gives records with an outcome for each lane. A lane that is off, slow,
refused or broken is an outcome like any other, and the turn goes on. Does not know ranking, nor
what is behind a port.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from py_core.records.fields import Lane
from py_core.records.kinds import Record
from py_core.records.request_file import LaneName, LaneOutcome, LaneStatus
from py_core.retrieval.intent import RetrievalIntent

TIME_BUDGETS_MS: Final[Mapping[LaneName, int]] = {
    "local": 150,
    "session": 50,
    "current_message": 50,
    "status": 50,
    "handoff": 150,
}


@dataclass(frozen=True, slots=True)
class LaneAnswer:
    """What a port gives: records, or a status that says why there are none."""

    status: LaneStatus
    records: tuple[Record, ...] = ()
    on_shelf: int = 0
    """Records that the lane keeps open to search and hands out only when they are hits."""

    @property
    def candidates(self) -> int:
        """How many records may be found."""
        return len(self.records) + self.on_shelf


class LanePort(Protocol):
    """One shelf. It gives failures as answers and raises nothing but cancellation."""

    async def ask(self, intent: RetrievalIntent) -> LaneAnswer:
        """Look for records."""


@dataclass(frozen=True, slots=True)
class LaneReport:
    """One lane's outcome with the time it took."""

    outcome: LaneOutcome
    took_ms: float


@dataclass(frozen=True, slots=True)
class Gathered:
    """All records that came in time, each id once, and a report for each lane asked or not."""

    records: tuple[Record, ...]
    reports: tuple[LaneReport, ...]


async def gather(
    ports: Mapping[LaneName, LanePort],
    intent: RetrievalIntent,
    now_ms: Callable[[], float],
    *,
    is_bypassed: bool = False,
) -> Gathered:
    """Ask all lanes at once.

    Args:
        ports: The shelves that are connected; others are off.
        intent: What to look for.
        now_ms: A clock that only goes forward.
        is_bypassed: The model is too small for any memory, so that nobody is asked.
    """
    answers = await asyncio.gather(
        *(
            _ask(
                name,
                ports.get(name),
                _skip_status(name, intent, is_bypassed=is_bypassed),
                intent,
                now_ms,
            )
            for name in TIME_BUDGETS_MS
        )
    )
    records: dict[str, Record] = {}
    for answer, _ in answers:
        for record in answer.records:
            records.setdefault(record.record_id, record)
    return Gathered(tuple(records.values()), tuple(report for _, report in answers))


def _skip_status(
    name: LaneName, intent: RetrievalIntent, *, is_bypassed: bool
) -> LaneStatus | None:
    if is_bypassed:
        return "bypassed"
    if intent.need == "off":
        return "off"
    if intent.need == "not_needed":
        return "not_needed"
    if name == "handoff" and Lane.HANDOFF not in intent.filters.lanes:
        return "off"
    return None


async def _ask(
    name: LaneName,
    port: LanePort | None,
    skipped: LaneStatus | None,
    intent: RetrievalIntent,
    now_ms: Callable[[], float],
) -> tuple[LaneAnswer, LaneReport]:
    begun = now_ms()
    if skipped is not None or port is None:
        answer = LaneAnswer(skipped or "off")
    else:
        answer = await _wait(port, intent, TIME_BUDGETS_MS[name])
    outcome = LaneOutcome(lane=name, status=answer.status, candidates=answer.candidates)
    return answer, LaneReport(outcome, now_ms() - begun)


async def _wait(port: LanePort, intent: RetrievalIntent, limit_ms: int) -> LaneAnswer:
    try:
        answer = await asyncio.wait_for(port.ask(intent), limit_ms / 1_000)
    except TimeoutError:
        return LaneAnswer("timed_out")
    if answer.status == "answered" and not answer.candidates:
        return LaneAnswer("empty")
    return answer


def keep_wanted(records: Sequence[Record], intent: RetrievalIntent) -> tuple[Record, ...]:
    """Leave out records of other projects when the user named one."""
    return tuple(
        record
        for record in records
        if is_wanted(record.scope.value, record.scope_id, intent.filters.project)
    )


def is_wanted(scope: str, scope_id: str, project: str) -> bool:
    """Tell whether a record of this scope may be looked at; no project lets everything pass."""
    return not project or scope != "project" or scope_id.lower() == project.lower()
