"""Why each memory was found, and what became of it: the account that the page shows.

Takes what was found and the plan that was made of it; gives, for every candidate, the ten parts of
its score, its lane, the form it reached and the reason where it stayed out. Decides nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from py_core.chat.find_memory import TurnMemory
from py_core.chat.memory_question import FoundMemory
from py_core.compiler.candidate import make_candidate
from py_core.compiler.plan import Plan
from py_core.compiler.request import CompileRequest
from py_core.compiler.scoring import ScorePart, count_relevance, count_score, find_score, list_parts
from py_core.records.kinds import Record
from py_core.retrieval.hit_groups import Contradiction, HitGroup
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.lanes import LaneReport
from py_core.retrieval.relevance import Relevance
from py_core.retrieval.retrieve import CandidateReport
from py_core.retrieval.timings import StageTiming

SHOWN_CHARS = 200
IN_PROMPT = "in_prompt"
NOT_GIVEN = "not_given"


@dataclass(frozen=True, slots=True)
class CandidateAccount:
    """One candidate.

    Attributes:
        outcome: `in_prompt`, or the reason for which the compiler left it out.
        level: The form it reached; empty where it did not enter.
        tier: Its authority; None for what has none.
        parts: The ten parts of the score.
        score: Their weighted sum, in hundredths of millionths.
        worth: The score set against the length of the text: what it was ranked by.
        relevance_ppm: What was held against the floor.
        is_new: The conversation had not been shown it as it is now.
    """

    record_id: str
    kind: str
    lane: str
    text: str
    outcome: str
    level: str
    tier: int | None
    relevance: Relevance
    relevance_ppm: int
    parts: tuple[ScorePart, ...]
    score: int
    worth: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class RetrievalAccount:
    """The whole account of one turn."""

    intent: RetrievalIntent
    lanes: tuple[LaneReport, ...]
    candidates: tuple[CandidateAccount, ...]
    strength_ppm: int
    floor_ppm: int
    used_vectors: bool
    followed: tuple[str, ...]
    groups: tuple[HitGroup, ...]
    contradictions: tuple[Contradiction, ...]
    indexed: int
    stages: tuple[StageTiming, ...]


def make_account(
    found: FoundMemory, plan: Plan, request: CompileRequest, memory: TurnMemory
) -> RetrievalAccount:
    """Put the account together."""
    retrieved = found.retrieved
    fates = _list_fates(plan)
    records = {record.record_id: record for record in retrieved.candidates}
    return RetrievalAccount(
        intent=found.intent,
        lanes=found.lanes,
        candidates=tuple(
            _tell(report, records[report.record_id], fates, request) for report in retrieved.reports
        ),
        strength_ppm=retrieved.strength_ppm,
        floor_ppm=request.row.relevance_floor_ppm,
        used_vectors=retrieved.used_vectors,
        followed=retrieved.followed,
        groups=retrieved.groups,
        contradictions=retrieved.contradictions,
        indexed=found.indexed,
        stages=memory.timings.list_stages(),
    )


@dataclass(frozen=True, slots=True)
class _Fate:
    outcome: str
    level: str = ""
    tier: int | None = None
    worth: int = 0


def _list_fates(plan: Plan) -> Mapping[str, _Fate]:
    fates = {
        exclusion.record_id: _Fate(exclusion.reason.value, tier=exclusion.tier)
        for exclusion in plan.exclusions
    }
    fates |= {
        node.record_id: _Fate(IN_PROMPT, node.level, node.tier, node.score) for node in plan.nodes
    }
    return fates


def _tell(
    report: CandidateReport,
    record: Record,
    fates: Mapping[str, _Fate],
    request: CompileRequest,
) -> CandidateAccount:
    candidate, row = make_candidate(record), request.row
    fate = fates.get(report.record_id) or _Fate(NOT_GIVEN)
    score = find_score(candidate, request)
    return CandidateAccount(
        record_id=record.record_id,
        kind=record.kind,
        lane=report.lane.value,
        text=record.text[:SHOWN_CHARS],
        outcome=fate.outcome,
        level=fate.level,
        tier=fate.tier,
        relevance=report.relevance,
        relevance_ppm=0 if score is None else count_relevance(score, row),
        parts=list_parts(candidate, request, row),
        score=count_score(candidate, request, row),
        worth=fate.worth,
        is_new=report.score.novelty_ppm > 0,
    )
