"""Step 4: records that say different things about one slot.

Takes standing candidates, gives them without the losers, and every conflict with what came of it.
Only what the session may see takes part, so a record that is refused later cannot win here.
Messages of the conversation may win and never lose: the transcript stays whole.

    policy against instruction     both stay; the request is bounded by a caveat, or halted
    instruction against memory     the instruction counts for this turn; the ledger is told
    status against durable         status leads, the durable record stays as historical, unless
                                   one of them is trusted and the other is not
    higher against lower tier      the higher tier stays
    same tier, two dates           the newer stays, unless the older is better reviewed
    same tier, same date           the better reviewed stays
    anything else                  both stay, and the assistant has to disclose it
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from py_core.compiler.access import find_refusal
from py_core.compiler.authority import Tier, is_trusted, outranks
from py_core.compiler.candidate import Candidate
from py_core.compiler.claims import compare_form, list_claims, name_slot
from py_core.compiler.draft import Draft, leave_out
from py_core.compiler.plan import Conflict, Reason
from py_core.compiler.request import CompileRequest
from py_core.records.fields import Lane, Scope
from py_core.records.kinds import (
    LongTermMemoryRecord,
    RetrievalHit,
    SystemPolicyRecord,
)
from py_core.unicode_text import WORD, fold_case, plain_form

_DURABLE_KINDS = (LongTermMemoryRecord, RetrievalHit)


@dataclass(frozen=True, slots=True)
class _Claim:
    candidate: Candidate
    value: str


@dataclass(frozen=True, slots=True)
class _Findings:
    losers: dict[str, tuple[Reason, list[str]]] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    historical: set[str] = field(default_factory=set)
    disputed: dict[str, list[str]] = field(default_factory=dict)
    """Record id to the caveat rows that go with it."""


def resolve_conflicts(draft: Draft, request: CompileRequest) -> Draft:
    """Find the conflicts, decide those that can be decided, mark the others."""
    visible = [c for c in draft.kept if find_refusal(c.record, request.session) is None]
    findings = _Findings()
    _find_breaches(visible, findings)
    for slot, claims in sorted(_group_claims(visible).items()):
        _settle_slot(slot, claims, findings)
    left = leave_out(draft, "resolve_conflicts", findings.losers)
    return replace(
        left,
        kept=tuple(_mark(candidate, findings) for candidate in left.kept),
        conflicts=tuple(findings.conflicts),
    )


def _find_breaches(visible: Iterable[Candidate], findings: _Findings) -> None:
    """Compare the current instruction with the phrases that a policy forbids."""
    everyone = list(visible)
    asked = [c for c in everyone if c.tier is Tier.CURRENT_INSTRUCTION]
    for policy in everyone:
        if not isinstance(policy.record, SystemPolicyRecord):
            continue
        for instruction in asked:
            words = _spell(instruction.plain_text)
            for phrase in policy.record.payload.forbids:
                if _spell(phrase) in words:
                    _note_breach(policy, instruction, "forbids", findings)


def _spell(text: str) -> str:
    """Write the words of a text with one space before, between and after them."""
    return f" {' '.join(WORD.findall(fold_case(plain_form(text))))} "


def _note_breach(policy: Candidate, instruction: Candidate, slot: str, findings: _Findings) -> None:
    halts = (
        isinstance(policy.record, SystemPolicyRecord) and policy.record.payload.on_breach == "halt"
    )
    resolution = "generation is halted" if halts else "the request stays, bounded by a caveat"
    conflict = Conflict(
        kind="policy_breach",
        slot=slot,
        winner_id=policy.record_id,
        loser_ids=(instruction.record_id,),
        resolution=resolution,
    )
    if conflict not in findings.conflicts:
        findings.conflicts.append(conflict)
    findings.disputed.setdefault(instruction.record_id, []).append("halt" if halts else "breach")


def _group_claims(visible: Iterable[Candidate]) -> dict[str, list[_Claim]]:
    slots: dict[str, list[_Claim]] = {}
    for candidate in visible:
        if candidate.is_acting:
            continue
        for fact in list_claims(candidate):
            if not fact.is_list:
                slot = name_slot(candidate, fact)
                slots.setdefault(slot, []).append(_Claim(candidate, compare_form(fact.value)))
    return {slot: claims for slot, claims in slots.items() if len({c.value for c in claims}) > 1}


def _settle_slot(slot: str, claims: list[_Claim], findings: _Findings) -> None:
    """Let every claim meet the strongest one whose scope it shares."""
    winners: dict[Scope, dict[str, _Claim]] = {}
    for claim in sorted(claims, key=_precedence):
        if claim.candidate.record_id in findings.losers:
            continue
        winner = _find_winner(claim, winners)
        if winner is None:
            record = claim.candidate.record
            winners.setdefault(record.scope, {}).setdefault(record.scope_id, claim)
        elif winner.value != claim.value and winner.candidate is not claim.candidate:
            _settle_pair(slot, winner.candidate, claim.candidate, findings)


def _precedence(claim: _Claim) -> tuple[int, float, int, int, str]:
    candidate = claim.candidate
    record = candidate.record
    return (
        int(candidate.ranked_tier),
        -record.observation_time.timestamp(),
        -candidate.review_rank,
        -record.confidence_ppm,
        record.record_id,
    )


def _find_winner(claim: _Claim, winners: dict[Scope, dict[str, _Claim]]) -> _Claim | None:
    """Two projects may differ, a project and its task may not."""
    record = claim.candidate.record
    same = winners.get(record.scope, {}).get(record.scope_id)
    others = [
        next(iter(by_id.values())) for scope, by_id in winners.items() if scope is not record.scope
    ]
    found = [candidate for candidate in (same, *others) if candidate is not None]
    return min(found, key=_precedence, default=None)


def _settle_pair(slot: str, winner: Candidate, loser: Candidate, findings: _Findings) -> None:
    if winner.tier is Tier.SYSTEM_POLICY and loser.tier is Tier.CURRENT_INSTRUCTION:
        _note_breach(winner, loser, slot, findings)
        return
    if loser.is_turn:
        return
    kind, reason = _judge(winner, loser)
    if reason is not None:
        known = findings.losers.setdefault(loser.record_id, (reason, []))
        known[1].append(winner.record_id)
    elif kind == "status_over_durable":
        findings.historical.add(loser.record_id)
        findings.disputed.setdefault(winner.record_id, []).append(f"status_leads:{slot}")
    else:
        findings.disputed.setdefault(winner.record_id, []).append(
            f"diagnostic_ask:{slot}:{loser.record_id}"
        )
    findings.conflicts.append(
        Conflict.model_validate(
            {
                "kind": kind,
                "slot": slot,
                "winner_id": winner.record_id,
                "loser_ids": (loser.record_id,),
                "resolution": _RESOLUTIONS[kind],
                "updates_ledger": kind == "instruction_overrides"
                and loser.tier in (Tier.USER_PROFILE, Tier.DURABLE_MEMORY),
            }
        )
    )


_RESOLUTIONS = {
    "instruction_overrides": "the current instruction counts for this turn",
    "status_over_durable": "the newer status leads, the durable record stays as historical",
    "higher_tier": "the higher tier stays",
    "newer_date": "the newer record of the same tier stays",
    "better_review": "the better reviewed record of the same tier stays",
    "unresolved": "DiagnosticAsk: both stay and the assistant has to disclose it",
}


def _judge(winner: Candidate, loser: Candidate) -> tuple[str, Reason | None]:
    """Name the rule for two contradicting records; no reason means that both stay."""
    if winner.tier is Tier.CURRENT_INSTRUCTION:
        return "instruction_overrides", Reason.OVERRIDDEN_BY_INSTRUCTION
    is_durable = loser.lane is Lane.HANDOFF and isinstance(loser.record, _DURABLE_KINDS)
    is_newer = winner.record.observation_time > loser.record.observation_time
    is_one_side = is_trusted(winner.ranked_tier) == is_trusted(loser.ranked_tier)
    if winner.lane is Lane.STATUS and is_durable and is_newer and is_one_side:
        return "status_over_durable", None
    if outranks(winner.ranked_tier, loser.ranked_tier):
        return "higher_tier", Reason.OUTRANKED_IN_CONFLICT
    if is_newer and winner.review_rank >= loser.review_rank:
        return "newer_date", Reason.OLDER_IN_CONFLICT
    if not is_newer and winner.review_rank > loser.review_rank:
        return "better_review", Reason.LESS_REVIEWED_IN_CONFLICT
    return "unresolved", None


def _mark(candidate: Candidate, findings: _Findings) -> Candidate:
    record_id = candidate.record_id
    marked = candidate.flagged("historical") if record_id in findings.historical else candidate
    caveats = findings.disputed.get(record_id)
    if caveats is None:
        return marked
    return marked.changed(caveats=tuple(dict.fromkeys(caveats)))
