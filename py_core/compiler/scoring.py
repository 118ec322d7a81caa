"""How much a record matters for this question: ten parts, all integers.

Takes a candidate, what retrieval said about it and the policy row; gives hundredths times
millionths. Relevance decides the order inside a tier and never the tier. Does not know budgets.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from py_core.compiler.candidate import Candidate
from py_core.compiler.policy import PolicyRow
from py_core.compiler.request import CompileRequest
from py_core.records.fields import LARGEST_PPM, Lane
from py_core.records.kinds import RetrievalHit
from py_core.records.request_file import Score

_MOST_HALVINGS = 30
_BYTES_OF_A_TOKEN = 4
_SECOND = timedelta(seconds=1)


def find_score(candidate: Candidate, request: CompileRequest) -> Score | None:
    """Give what retrieval said about a record, or none when it was not asked."""
    given = request.scores.get(candidate.record_id)
    if given is not None:
        return given
    record = candidate.record
    if isinstance(record, RetrievalHit) and record.payload.relevance_ppm is not None:
        relevance = record.payload.relevance_ppm
        return Score(semantic_ppm=relevance, lexical_ppm=relevance)
    return None


def count_relevance(score: Score, row: PolicyRow) -> int:
    """Give the share of the two relevance parts in their maximum, in millionths."""
    weights = row.weights
    reached = weights.semantic * score.semantic_ppm + weights.lexical * score.lexical_ppm
    return reached // (weights.semantic + weights.lexical)


def count_score(candidate: Candidate, request: CompileRequest, row: PolicyRow) -> int:
    """Add up the ten parts.

    Example:
        full marks everywhere give 100 times a million.
    """
    score = find_score(candidate, request) or Score()
    weights, record = row.weights, candidate.record
    return (
        weights.semantic * score.semantic_ppm
        + weights.lexical * score.lexical_ppm
        + weights.recency * _count_recency(candidate, request, row)
        + weights.confidence * record.confidence_ppm
        + weights.scope * score.scope_ppm
        + weights.user * score.user_ppm
        + weights.agent * score.agent_ppm
        + weights.task * score.task_ppm
        + weights.review * (candidate.review_rank * LARGEST_PPM // 2)
        + weights.novelty * score.novelty_ppm
    )


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One of the ten parts: its weight in hundredths and how much of it was reached."""

    name: str
    weight: int
    value_ppm: int


def list_parts(
    candidate: Candidate, request: CompileRequest, row: PolicyRow
) -> tuple[ScorePart, ...]:
    """Give the ten parts of a score one by one, as the page shows them."""
    score = find_score(candidate, request) or Score()
    weights, record = row.weights, candidate.record
    return (
        ScorePart("semantic", weights.semantic, score.semantic_ppm),
        ScorePart("lexical", weights.lexical, score.lexical_ppm),
        ScorePart("recency", weights.recency, _count_recency(candidate, request, row)),
        ScorePart("confidence", weights.confidence, record.confidence_ppm),
        ScorePart("scope", weights.scope, score.scope_ppm),
        ScorePart("user", weights.user, score.user_ppm),
        ScorePart("agent", weights.agent, score.agent_ppm),
        ScorePart("task", weights.task, score.task_ppm),
        ScorePart("review", weights.review, candidate.review_rank * LARGEST_PPM // 2),
        ScorePart("novelty", weights.novelty, score.novelty_ppm),
    )


def _count_recency(candidate: Candidate, request: CompileRequest, row: PolicyRow) -> int:
    half_life = (
        row.status_half_life_seconds
        if candidate.lane is Lane.STATUS
        else row.handoff_half_life_seconds
    )
    return fade(
        count_age_seconds(candidate.record.observation_time, request.session.now), half_life
    )


def count_worth(candidate: Candidate, request: CompileRequest, row: PolicyRow) -> int:
    """Set the score against the room that the text takes: score * L / (L + length).

    Lengths are a quarter of the bytes, since nothing is encoded before it is wanted. Between texts
    of conversational length this changes little; a text of 1,000 tokens counts less than a third.
    Measured on LoCoMo it keeps what the score alone keeps, where a division by length**0.25 loses
    a point, and it holds long answers back twice as strongly.

    Example:
        with L = 800, texts of 40 and 1,000 tokens count 0.95 and 0.44 times their scores.
    """
    text = candidate.plain_text
    length_bytes = len(text) if text.isascii() else len(text.encode())
    long_text = row.long_text_tokens
    return (
        count_score(candidate, request, row)
        * long_text
        // (long_text + length_bytes // _BYTES_OF_A_TOKEN)
    )


def count_age_seconds(observed: datetime, now: datetime) -> int:
    """Give the age in whole seconds; a time after now counts as now."""
    return max(0, (now - observed) // _SECOND)


def fade(age_seconds: int, half_life_seconds: int) -> int:
    """Halve a million with every half-life, straight lines between; no floating point.

    Example:
        fade(0, 60) == 1_000_000, fade(60, 60) == 500_000, fade(90, 60) == 375_000
    """
    halvings, rest = divmod(age_seconds, half_life_seconds)
    if halvings >= _MOST_HALVINGS:
        return 0
    value = LARGEST_PPM >> halvings
    return value - value * rest // (2 * half_life_seconds)
