"""The plan, put together from the last draft.

Takes the rendered draft, gives the plan with its hashes. Does not decide anything.
"""

from collections.abc import Iterable

from py_core.compiler.authority import is_core
from py_core.compiler.candidate import Candidate, Piece
from py_core.compiler.draft import Draft
from py_core.compiler.plan import (
    BoundaryMark,
    Exclusion,
    Frame,
    Generation,
    LaneReport,
    MemoryStatus,
    Plan,
    PlanNode,
    Reason,
    TruncationMode,
)
from py_core.compiler.policy import identify_table
from py_core.compiler.request import CompileRequest
from py_core.errors import InvariantError
from py_core.identity import canonical_json_of, content_hash, sha256_hex

NO_MARK = BoundaryMark(mark="", draws=0, is_used=False)


def assemble_plan(draft: Draft, request: CompileRequest) -> Plan:
    """Write down everything that decided the prompt, and hash it."""
    allowance, boundary = draft.allowance, draft.boundary
    if allowance is None or boundary is None:
        raise InvariantError(what="a plan is assembled before its steps ran")
    prompt_ids = tuple(token for piece in draft.pieces for token in piece.ids)
    unsealed = Plan(
        plan_hash="",
        policy_version=request.policy.version,
        policy_identity=_identify_policy(request),
        model_identity=request.capacity.model_identity,
        tokenizer_identity=request.counter.identity,
        template=request.template.kind,
        compiled_at=request.session.now.isoformat(),
        token_allowance=allowance.allowed_tokens,
        truncation_mode=_find_truncation(draft, request),
        memory_status=_find_memory_status(draft, request),
        generation=_find_generation(draft),
        allowance=allowance,
        nodes=_list_nodes(draft.pieces),
        frames=_list_frames(draft.pieces),
        exclusions=tuple(sorted(draft.excluded, key=_exclusion_order)),
        conflicts=draft.conflicts,
        duplicates=draft.duplicates,
        graph_findings=draft.graph_findings,
        routing=draft.routing,
        # A mark that encloses nothing is left out: a plan without it does not depend on the key.
        boundary=boundary if boundary.is_used else NO_MARK,
        lanes=tuple(
            LaneReport(lane=lane.lane, status=lane.status, candidates=lane.candidates)
            for lane in request.lanes
        ),
        prompt_hash=sha256_hex(canonical_json_of(prompt_ids)),
        prompt_ids=prompt_ids,
    )
    return seal(unsealed)


def seal(plan: Plan) -> Plan:
    """Give the plan its hash, over everything but the hash and the ids that `prompt_hash` has."""
    body = plan.model_dump(mode="json", exclude={"plan_hash", "prompt_ids"})
    return plan.model_copy(update={"plan_hash": sha256_hex(canonical_json_of(body))})


def _identify_policy(request: CompileRequest) -> str:
    choice = request.policy.model_dump(mode="json")
    return content_hash({"table": identify_table(), "choice": choice})


def _list_nodes(pieces: Iterable[Piece]) -> tuple[PlanNode, ...]:
    """Gather the pieces of each record; its position is that of its first piece."""
    gathered: dict[str, tuple[int, Candidate, list[Piece]]] = {}
    for position, piece in enumerate(pieces):
        owner = piece.candidate
        if owner is not None:
            gathered.setdefault(owner.record_id, (position, owner, []))[2].append(piece)
    return tuple(_write_node(*found) for found in gathered.values())


def _write_node(position: int, candidate: Candidate, pieces: list[Piece]) -> PlanNode:
    name = next(p.name for p in pieces if p.name not in {"turn_open", "turn_close"})
    return PlanNode(
        position=position,
        record_id=candidate.record_id,
        kind=candidate.record.kind,
        envelope_hash=candidate.record.envelope_hash,
        tier=int(candidate.ranked_tier),
        lane=candidate.lane.value,
        token_cost=sum(len(piece.ids) for piece in pieces),
        rendering_template=name,
        level=candidate.level,
        score=candidate.score,
        provenance=candidate.provenance,
        flags=(*candidate.flags, *candidate.caveats),
        text="".join(piece.text for piece in pieces),
    )


def _list_frames(pieces: Iterable[Piece]) -> tuple[Frame, ...]:
    return tuple(
        Frame(
            position=position,
            name=piece.name,
            tier=int(piece.tier),
            token_cost=len(piece.ids),
            text=piece.text,
        )
        for position, piece in enumerate(pieces)
        if piece.candidate is None
    )


def _exclusion_order(exclusion: Exclusion) -> tuple[str, str, str]:
    return exclusion.record_id, exclusion.envelope_hash, exclusion.step


def _find_truncation(draft: Draft, request: CompileRequest) -> TruncationMode:
    if any(exclusion.reason is Reason.ESCALATED_TO_RAW for exclusion in draft.excluded):
        return "escalated"
    return request.row.truncation if draft.is_truncated else "none"


def _find_memory_status(draft: Draft, request: CompileRequest) -> MemoryStatus:
    if request.row.memory_share_ppm == 0:
        return "bypass"
    if request.intent.memory == "off":
        return "off"
    if request.intent.memory == "not_needed":
        return "not_needed"
    has_rows = any(not found.is_turn and not is_core(found.ranked_tier) for found in draft.kept)
    return "used" if has_rows else "empty"


def _find_generation(draft: Draft) -> Generation:
    caveats = {caveat for found in draft.kept for caveat in found.caveats}
    if "halt" in caveats:
        return "halted"
    return "caveated" if "breach" in caveats else "allowed"
