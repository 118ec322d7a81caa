"""Step 2: put every record into its tier of the lattice.

Takes candidates, gives them with a tier; what nobody stands behind has none and goes. Only the
kind, the turn and a person's review decide; no score is looked at. Does not know conflicts.

    1 system policy            SystemPolicyRecord
    2 current instruction      RoleTaggedMessage of the user in the current turn
    3 verified now             TrustedMetadata, verified ToolResult of the current turn
    4 earlier user             RoleTaggedMessage of the user
    5 session state            SessionFact, RoleTaggedMessage of the assistant
    6 user profile             UserPreferenceAssertion, confirmed
    7 durable memory           LongTermMemoryRecord
    8 reviewed summary         ShortTermSummary, reviewed
    9 unreviewed               ShortTermSummary, MemoryPointer, other ToolResult
    10 untrusted               RetrievalHit, UntrustedContentBlock
"""

from dataclasses import replace

from py_core.compiler.authority import Tier
from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import Draft, part
from py_core.compiler.plan import Reason
from py_core.compiler.request import CompileRequest
from py_core.records.fields import PromotionState, ReviewStatus
from py_core.records.kinds import (
    CompilerDiagnostic,
    LongTermMemoryRecord,
    MemoryPointer,
    Record,
    Retraction,
    RetrievalHit,
    RoleTaggedMessage,
    SessionFact,
    ShortTermSummary,
    SystemPolicyRecord,
    ToolResult,
    TrustedMetadata,
    UntrustedContentBlock,
    UserPreferenceAssertion,
)

_NEEDS_CONFIRMATION = (UserPreferenceAssertion, LongTermMemoryRecord, SessionFact)


def assign_authority(draft: Draft, request: CompileRequest) -> Draft:
    """Give each candidate its tier, and exclude what has none by its review state."""
    turn = find_current_turn(draft, request)
    tiered = tuple(
        candidate.with_tier(find_tier(candidate.record, turn)) for candidate in draft.kept
    )
    return part(replace(draft, kept=tiered), "assign_authority", _find_reason)


def find_current_turn(draft: Draft, request: CompileRequest) -> int:
    """Give the stated turn, or that of the tenant's newest user message; -1 without any."""
    if request.session.turn is not None:
        return request.session.turn
    return max(
        (
            candidate.record.payload.turn
            for candidate in draft.kept
            if isinstance(candidate.record, RoleTaggedMessage)
            and candidate.record.payload.role == "user"
            and candidate.record.tenant_binding == request.session.tenant
        ),
        default=-1,
    )


def find_tier(record: Record, current_turn: int) -> Tier | None:
    """Give the tier of a record; acting records and diagnostics have none."""
    match record:
        case SystemPolicyRecord():
            return Tier.SYSTEM_POLICY
        case RoleTaggedMessage():
            return _find_tier_of_message(record, current_turn)
        case TrustedMetadata():
            return Tier.VERIFIED_NOW
        case ToolResult():
            is_fresh = record.payload.is_verified and record.payload.turn == current_turn
            return Tier.VERIFIED_NOW if is_fresh else Tier.UNREVIEWED
        case ShortTermSummary():
            is_reviewed = record.review_status is ReviewStatus.PROMOTED
            return Tier.REVIEWED_SUMMARY if is_reviewed else Tier.UNREVIEWED
        case _:
            return _TIER_OF_KIND.get(type(record))


_TIER_OF_KIND: dict[type[Record], Tier] = {
    Retraction: Tier.EARLIER_USER,
    SessionFact: Tier.SESSION_STATE,
    UserPreferenceAssertion: Tier.USER_PROFILE,
    LongTermMemoryRecord: Tier.DURABLE_MEMORY,
    MemoryPointer: Tier.UNREVIEWED,
    RetrievalHit: Tier.UNTRUSTED,
    UntrustedContentBlock: Tier.UNTRUSTED,
}


def _find_tier_of_message(record: RoleTaggedMessage, current_turn: int) -> Tier:
    if record.payload.role == "assistant":
        return Tier.SESSION_STATE
    is_current = record.payload.turn == current_turn
    return Tier.CURRENT_INSTRUCTION if is_current else Tier.EARLIER_USER


def _find_reason(candidate: Candidate) -> Reason | None:
    record = candidate.record
    if isinstance(record, CompilerDiagnostic):
        return Reason.NEVER_RENDERED
    review, promotion = record.review_status, record.promotion_state
    if review is ReviewStatus.REJECTED or promotion is PromotionState.REJECTED:
        return Reason.REJECTED
    if review is ReviewStatus.QUARANTINED or promotion is PromotionState.QUARANTINED:
        return Reason.QUARANTINED
    if isinstance(record, _NEEDS_CONFIRMATION) and not _is_confirmed(record):
        return Reason.PENDING_REVIEW
    return None


def _is_confirmed(record: Record) -> bool:
    if (
        record.review_status is ReviewStatus.PENDING
        or record.promotion_state is PromotionState.PENDING_REVIEW
    ):
        return False
    # A profile field counts only once the user said yes to it.
    is_profile = isinstance(record, UserPreferenceAssertion)
    return not is_profile or record.review_status is ReviewStatus.PROMOTED
