"""Step 7: what is worth its room, each thing once, in one total order.

Takes screened candidates, gives them strongest first: by tier, then score, review, date,
confidence and id. What the question does not need, what is irrelevant, what says the same again
and summaries that do not suffice go here. Does not know token costs.
"""

from collections.abc import Sequence
from dataclasses import replace

from py_core.compiler.authority import Tier, is_core
from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import Draft, leave_out, part
from py_core.compiler.duplicates import find_exact, find_near
from py_core.compiler.plan import DuplicateGroup, Reason, Routing
from py_core.compiler.policy import PolicyRow
from py_core.compiler.request import CompileRequest
from py_core.compiler.scoring import count_relevance, count_worth, find_score
from py_core.compiler.sufficiency import route_question
from py_core.records.fields import Lane
from py_core.records.kinds import (
    LongTermMemoryRecord,
    MemoryPointer,
    RetrievalHit,
    SessionFact,
    ShortTermSummary,
    UserPreferenceAssertion,
)

MEMORY_KINDS = (
    SessionFact,
    UserPreferenceAssertion,
    LongTermMemoryRecord,
    ShortTermSummary,
    MemoryPointer,
    RetrievalHit,
)


def rank_candidates(draft: Draft, request: CompileRequest) -> Draft:
    """Drop what is not wanted, fold what repeats, and put the rest in order."""
    row = request.row
    wanted = part(draft, "rank_candidates", lambda found: _find_reason(found, request, row))
    scored = [_score(candidate, request, row) for candidate in wanted.kept]
    ordered = replace(wanted, kept=tuple(sorted(scored, key=_order)))
    return _escalate(_fold(ordered, row), request, row)


def _find_reason(candidate: Candidate, request: CompileRequest, row: PolicyRow) -> Reason | None:
    if is_core(candidate.ranked_tier) or candidate.is_turn:
        return None
    is_memory = isinstance(candidate.record, MEMORY_KINDS)
    if is_memory and request.intent.memory == "off":
        return Reason.MEMORY_OFF
    if is_memory and request.intent.memory == "not_needed":
        return Reason.MEMORY_NOT_NEEDED
    if row.memory_share_ppm == 0:
        return Reason.MEMORY_BYPASSED
    score = find_score(candidate, request)
    if is_memory and score is not None and count_relevance(score, row) < row.relevance_floor_ppm:
        return Reason.BELOW_RELEVANCE_FLOOR
    return None


def _score(candidate: Candidate, request: CompileRequest, row: PolicyRow) -> Candidate:
    """Score what competes for room; the core and the turns of the conversation do not."""
    if candidate.is_turn or is_core(candidate.ranked_tier):
        return candidate
    return candidate.changed(score=count_worth(candidate, request, row))


def _order(candidate: Candidate) -> tuple[int, int, int, float, int, str]:
    record = candidate.record
    return (
        int(candidate.ranked_tier),
        -candidate.score,
        -candidate.review_rank,
        -record.observation_time.timestamp(),
        -record.confidence_ppm,
        record.record_id,
    )


def _fold(draft: Draft, row: PolicyRow) -> Draft:
    """Let the strongest of equal records stand for all; status goes before durable."""
    foldable = sorted(
        (candidate for candidate in draft.kept if not candidate.is_turn),
        key=lambda found: (int(found.ranked_tier), found.lane is not Lane.STATUS, _order(found)),
    )
    exact = find_exact(foldable)
    # Only memory repeats itself in other words; two policies or two pasted texts may differ in one.
    singles = [
        candidate
        for candidate in foldable
        if isinstance(candidate.record, MEMORY_KINDS) and candidate.record_id not in exact
    ]
    near = find_near(singles, row.duplicate_jaccard_ppm, row.duplicate_looks)
    owners = {suppressed: near.get(owner, owner) for suppressed, owner in exact.items()} | near
    reasons = {
        suppressed: (
            Reason.DUPLICATE if suppressed in exact else Reason.NEAR_DUPLICATE,
            (owner,),
        )
        for suppressed, owner in owners.items()
    }
    groups: dict[str, list[str]] = {}
    for suppressed, owner in sorted(owners.items()):
        groups.setdefault(owner, []).append(suppressed)
    left = leave_out(draft, "rank_candidates", reasons)
    return replace(
        left,
        kept=tuple(_inherit(candidate, groups) for candidate in left.kept),
        duplicates=tuple(
            DuplicateGroup(kept_id=owner, suppressed_ids=tuple(ids))
            for owner, ids in sorted(groups.items())
        ),
    )


def _inherit(candidate: Candidate, groups: dict[str, list[str]]) -> Candidate:
    folded = groups.get(candidate.record_id)
    if folded is None:
        return candidate
    return candidate.changed(provenance=(*candidate.provenance, *folded))


def _escalate(draft: Draft, request: CompileRequest, row: PolicyRow) -> Draft:
    """Route the question, and let sources stand in for summaries that do not suffice."""
    summaries = [c for c in draft.kept if isinstance(c.record, ShortTermSummary)]
    if not summaries:
        return draft
    present = {candidate.record_id for candidate in draft.kept}
    routing = _route(draft, summaries, request, row)
    routed = replace(draft, routing=routing)
    if routing.route == "summary":
        return routed
    replaced = {
        summary.record_id: (Reason.ESCALATED_TO_RAW, summary.record.derived_from)
        for summary in summaries
        if summary.record.derived_from and present.issuperset(summary.record.derived_from)
    }
    sources = frozenset(source for _, ids in replaced.values() for source in ids)
    left = leave_out(routed, "rank_candidates", replaced)
    kept = tuple(
        candidate.flagged("raw_sources_missing")
        if isinstance(candidate.record, ShortTermSummary)
        else candidate
        for candidate in left.kept
    )
    return replace(left, kept=kept, preferred_turns=sources)


def _route(
    draft: Draft, summaries: Sequence[Candidate], request: CompileRequest, row: PolicyRow
) -> Routing:
    question = " ".join(
        candidate.plain_text
        for candidate in draft.kept
        if candidate.tier is Tier.CURRENT_INSTRUCTION
    )
    ids = {summary.record_id for summary in summaries}
    scores = [find_score(summary, request) for summary in summaries]
    disputed = any(
        conflict.kind == "unresolved"
        and ids.intersection((conflict.winner_id, *conflict.loser_ids))
        for conflict in draft.conflicts
    )
    return route_question(
        question,
        [0 if score is None else count_relevance(score, row) for score in scores],
        is_disputed=disputed,
        has_lineage=all(summary.record.derived_from for summary in summaries),
        threshold_ppm=row.escalation_ppm,
    )
