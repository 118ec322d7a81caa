"""From relevance to the features that the compiler ranks by.

Takes a document's relevance, its record and the intent; gives the seven features that retrieval
knows of (recency, confidence and review are the record's own). Does not know weights: those are
rows of the compiler's policy.
"""

from dataclasses import dataclass

from py_core.records.fields import LARGEST_PPM, Scope
from py_core.records.kinds import Record
from py_core.records.request_file import Score
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.relevance import Relevance

HALF = LARGEST_PPM // 2
_WORK = (Scope.PROJECT, Scope.GOAL, Scope.TASK)


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose session this is; empty where unknown."""

    user: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """What holds for the whole question, and whether the record is news to the conversation."""

    strength_ppm: int
    is_new: bool


def make_score(
    relevance: Relevance, record: Record, intent: RetrievalIntent, owner: Owner, marks: Marks
) -> Score:
    """Give the features of one record for one question."""
    is_pinned = record.record_id in intent.filters.pins
    total = LARGEST_PPM if is_pinned else relevance.total_ppm * marks.strength_ppm // LARGEST_PPM
    # Where nothing exact was asked for, relevance is all that words can say: the match of single
    # words is part of it already, and counting it twice loses a point on LoCoMo.
    words = relevance.exact_ppm if intent.exact else relevance.total_ppm
    return Score(
        semantic_ppm=total,
        lexical_ppm=LARGEST_PPM if is_pinned else words * marks.strength_ppm // LARGEST_PPM,
        scope_ppm=_match_scope(record, intent),
        user_ppm=_match_id(record, Scope.USER, owner.user),
        agent_ppm=_match_id(record, Scope.AGENT, owner.agent),
        task_ppm=_match_work(record, intent),
        novelty_ppm=LARGEST_PPM if marks.is_new else 0,
    )


def _match_scope(record: Record, intent: RetrievalIntent) -> int:
    """Give full marks in the active scope, half for the workspace, nothing for another project."""
    if record.scope is Scope.PROJECT and intent.filters.project:
        return LARGEST_PPM if _equal(record.scope_id, intent.filters.project) else 0
    active = dict(intent.filters.scopes).get(record.scope.value)
    if active is not None:
        return LARGEST_PPM if _equal(record.scope_id, active) else 0
    return HALF


def _match_id(record: Record, scope: Scope, owner: str) -> int:
    if record.scope is not scope:
        return HALF
    return LARGEST_PPM if owner and _equal(record.scope_id, owner) else 0


def _match_work(record: Record, intent: RetrievalIntent) -> int:
    if record.scope not in _WORK:
        return 0
    wanted = {value.lower() for _, value in intent.filters.scopes} | {
        intent.filters.project.lower()
    }
    return LARGEST_PPM if record.scope_id.lower() in wanted - {""} else 0


def _equal(one: str, other: str) -> bool:
    return one.lower() == other.lower()
