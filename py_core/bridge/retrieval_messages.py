"""What a turn looked for and what it found, as the page sees and corrects it.

Takes the account of a turn, gives frozen strict models; takes a correction, gives the typed one.
Knows no index and no plan.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from py_core.bridge.message_shape import Message
from py_core.chat.retrieval_account import CandidateAccount, RetrievalAccount
from py_core.retrieval.correct_intent import Correction
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.lanes import TIME_BUDGETS_MS, LaneReport
from py_core.retrieval.task_class import TaskClass

LONGEST_QUESTION_CHARS = 4_096
MOST_WORDS = 64

Word = Annotated[str, Field(min_length=1, max_length=128)]
Words = Annotated[tuple[Word, ...], Field(max_length=MOST_WORDS)]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


class IntentCorrection(Message):
    """What the user changes for one turn; what is left out stays as understood."""

    need: Literal["needed", "not_needed", "off"] | None = None
    task: TaskClass | None = None
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION_CHARS)] | None = None
    project: Annotated[str, Field(max_length=128)] | None = None
    add_terms: Words = ()
    remove_terms: Words = ()
    pins: Words = ()


class TimeRange(Message):
    """A stretch of time, from its begin up to its end."""

    start: str
    stop: str


class EventData(Message):
    """An event that stands for a time."""

    relation: str
    event: str


class ResolutionData(Message):
    """An expression and what it was taken for."""

    expression: str
    meaning: str


class IntentShown(Message):
    """What a message was understood to look for: three views and why."""

    need: Literal["needed", "not_needed", "off"]
    reason: str
    task: TaskClass
    semantic_text: str
    terms: tuple[str, ...]
    exact: tuple[str, ...]
    names: tuple[str, ...]
    project: str
    lanes: tuple[str, ...]
    pins: tuple[str, ...]
    ranges: tuple[TimeRange, ...]
    events: tuple[EventData, ...]
    wants_latest: bool
    wants_date: bool
    resolutions: tuple[ResolutionData, ...]


class LaneShown(Message):
    """How asking one lane ended, and how long it took of what it may take."""

    lane: str
    status: str
    candidates: int
    took_ms: float
    limit_ms: int


class RelevanceShown(Message):
    """Parts of the relevance of one candidate, in millionths."""

    total_ppm: int
    lexical_ppm: int
    semantic_ppm: int
    neighbour_ppm: int
    thread_ppm: int
    author_ppm: int
    time_ppm: int
    exact_ppm: int
    hop_ppm: int


class ScorePartShown(Message):
    """One of the ten parts of a score."""

    name: str
    weight: int
    value_ppm: int


class CandidateShown(Message):
    """One candidate: why it was found and what became of it."""

    record_id: str
    kind: str
    lane: str
    text: str
    outcome: str
    level: str
    tier: int | None
    relevance: RelevanceShown
    relevance_ppm: int
    parts: tuple[ScorePartShown, ...]
    score: int
    worth: int
    is_new: bool


class SameData(Message):
    """Records that say the same."""

    survivor_id: str
    linked_ids: tuple[str, ...]


class ContradictionData(Message):
    """Records that say different things of one subject."""

    subject: str
    slot: str
    record_ids: tuple[str, ...]
    is_declared_update: bool


class StageShown(Message):
    """How long a stage took, over the session."""

    stage: str
    count: int
    p50_ms: float
    p95_ms: float
    last_ms: float


class RetrievalShown(Message):
    """The account of retrieval in one turn."""

    intent: IntentShown
    lanes: tuple[LaneShown, ...]
    candidates: tuple[CandidateShown, ...]
    strength_ppm: int
    floor_ppm: int
    lexical_only: bool
    followed: tuple[str, ...]
    groups: tuple[SameData, ...]
    contradictions: tuple[ContradictionData, ...]
    indexed: int
    stages: tuple[StageShown, ...]


def read_correction(data: IntentCorrection | None) -> Correction | None:
    """Give the typed correction; None where nothing was sent."""
    if data is None:
        return None
    return Correction(
        need=data.need,
        task=data.task,
        text=data.text,
        project=data.project,
        added=data.add_terms,
        removed=data.remove_terms,
        pins=data.pins,
    )


def show_intent(intent: RetrievalIntent) -> IntentShown:
    """Describe an intent."""
    times, filters = intent.times, intent.filters
    return IntentShown(
        need=intent.need,
        reason=intent.reason,
        task=intent.task,
        semantic_text=intent.semantic_text,
        terms=intent.terms,
        exact=intent.exact,
        names=intent.names,
        project=filters.project,
        lanes=tuple(lane.value for lane in filters.lanes),
        pins=filters.pins,
        ranges=tuple(TimeRange(start=_write(a), stop=_write(b)) for a, b in times.ranges),
        events=tuple(EventData(relation=a, event=b) for a, b in times.events),
        wants_latest=times.wants_latest,
        wants_date=times.wants_date,
        resolutions=tuple(
            ResolutionData(expression=found.expression, meaning=found.meaning)
            for found in intent.resolutions
        ),
    )


def show_account(account: RetrievalAccount) -> RetrievalShown:
    """Describe the account of a turn."""
    return RetrievalShown(
        intent=show_intent(account.intent),
        lanes=_show_lanes(account.lanes),
        candidates=tuple(map(_show_candidate, account.candidates)),
        strength_ppm=account.strength_ppm,
        floor_ppm=account.floor_ppm,
        lexical_only=not account.used_vectors,
        followed=account.followed,
        groups=tuple(
            SameData(survivor_id=group.survivor_id, linked_ids=group.linked_ids)
            for group in account.groups
        ),
        contradictions=tuple(
            ContradictionData(**asdict(found)) for found in account.contradictions
        ),
        indexed=account.indexed,
        stages=tuple(StageShown(**asdict(stage)) for stage in account.stages),
    )


def _show_lanes(lanes: Iterable[LaneReport]) -> tuple[LaneShown, ...]:
    return tuple(
        LaneShown(
            lane=report.outcome.lane,
            status=report.outcome.status,
            candidates=report.outcome.candidates,
            took_ms=report.took_ms,
            limit_ms=TIME_BUDGETS_MS[report.outcome.lane],
        )
        for report in lanes
    )


def _show_candidate(account: CandidateAccount) -> CandidateShown:
    relevance = asdict(account.relevance)
    del relevance["document_id"]
    return CandidateShown(
        record_id=account.record_id,
        kind=account.kind,
        lane=account.lane,
        text=account.text,
        outcome=account.outcome,
        level=account.level,
        tier=account.tier,
        relevance=RelevanceShown(**relevance),
        relevance_ppm=account.relevance_ppm,
        parts=tuple(ScorePartShown(**asdict(part)) for part in account.parts),
        score=account.score,
        worth=account.worth,
        is_new=account.is_new,
    )


def _write(seconds: int) -> str:
    """Write a time; one before or after all time is written as its border."""
    inside = min(_LAST_SECOND, max(_FIRST_SECOND, seconds))
    return (_EPOCH + timedelta(seconds=inside)).isoformat().replace("+00:00", "Z")
