"""The receipt: proof of how a prompt was made, without anything that was in it.

Takes a plan, gives a record of hashes, tiers, costs and reasons. No payload, prompt, token, name,
secret, workspace id, record id or address is in it, so it can be shown to anybody; whoever has the
records can compile again and compare. Does not know records.
"""

from typing import Literal

from py_core.compiler.plan import (
    Allowance,
    Generation,
    MemoryStatus,
    Plan,
    PlanModel,
    Reason,
    StepName,
    TruncationMode,
)
from py_core.compiler.policy import Level
from py_core.identity import canonical_json_of, sha256_hex

RECEIPT_VERSION = "tinyloom-receipt/1"


class ReceiptNode(PlanModel):
    """One record that entered, as hashes and numbers."""

    envelope_hash: str
    tier: int
    token_cost: int
    rendering_template: str
    level: Level
    merged_records: int


class ReceiptExclusion(PlanModel):
    """One record that stayed out."""

    envelope_hash: str
    tier: int | None
    step: StepName
    reason: Reason


class ReceiptConflict(PlanModel):
    """One contradiction; its slot is a word of the user's and stays out."""

    kind: str
    winner_envelope_hash: str
    loser_envelope_hashes: tuple[str, ...]


class ReceiptAllowance(PlanModel):
    """The budget in numbers."""

    context_tokens: int
    prompt_limit_tokens: int
    output_reserve_tokens: int
    guard_tokens: int
    allowed_tokens: int
    core_tokens: int
    history_tokens: int
    memory_budget_tokens: int
    memory_tokens: int
    prompt_tokens: int


class Receipt(PlanModel):
    """What may be shown of a plan."""

    receipt_version: Literal["tinyloom-receipt/1"] = "tinyloom-receipt/1"
    receipt_hash: str
    plan_hash: str
    prompt_hash: str
    policy_version: str
    policy_identity: str
    model_identity: str
    tokenizer_identity: str
    template: Literal["chatml", "plain"]
    compiled_at: str
    truncation_mode: TruncationMode
    memory_status: MemoryStatus
    generation: Generation
    allowance: ReceiptAllowance
    nodes: tuple[ReceiptNode, ...]
    frame_tokens: int
    exclusions: tuple[ReceiptExclusion, ...]
    tombstones: tuple[str, ...]
    """Envelope hashes of the tombstones that were heeded: proof that what they delete was known."""

    conflicts: tuple[ReceiptConflict, ...]
    duplicate_groups: int
    graph_findings: tuple[str, ...]
    route: Literal["summary", "raw"] | None
    boundary_draws: int


def make_receipt(plan: Plan) -> Receipt:
    """Reduce a plan to what may be shown."""
    hashes = {node.record_id: node.envelope_hash for node in plan.nodes}
    hashes |= {exclusion.record_id: exclusion.envelope_hash for exclusion in plan.exclusions}
    unsealed = Receipt(
        receipt_hash="",
        plan_hash=plan.plan_hash,
        prompt_hash=plan.prompt_hash,
        policy_version=plan.policy_version,
        policy_identity=plan.policy_identity,
        model_identity=plan.model_identity,
        tokenizer_identity=plan.tokenizer_identity,
        template=plan.template,
        compiled_at=plan.compiled_at,
        truncation_mode=plan.truncation_mode,
        memory_status=plan.memory_status,
        generation=plan.generation,
        allowance=_reduce_allowance(plan.allowance),
        nodes=_list_nodes(plan),
        frame_tokens=sum(frame.token_cost for frame in plan.frames),
        exclusions=_list_exclusions(plan),
        tombstones=_list_tombstones(plan),
        conflicts=_list_conflicts(plan, hashes),
        duplicate_groups=len(plan.duplicates),
        graph_findings=tuple(finding.kind for finding in plan.graph_findings),
        route=plan.routing.route if plan.routing else None,
        boundary_draws=plan.boundary.draws,
    )
    body = unsealed.model_dump(mode="json", exclude={"receipt_hash"})
    return unsealed.model_copy(update={"receipt_hash": sha256_hex(canonical_json_of(body))})


def _reduce_allowance(allowance: Allowance) -> ReceiptAllowance:
    names = ReceiptAllowance.model_fields
    return ReceiptAllowance(**{name: getattr(allowance, name) for name in names})


def _list_nodes(plan: Plan) -> tuple[ReceiptNode, ...]:
    return tuple(
        ReceiptNode(
            envelope_hash=node.envelope_hash,
            tier=node.tier,
            token_cost=node.token_cost,
            rendering_template=node.rendering_template,
            level=node.level,
            merged_records=len(node.provenance) - 1,
        )
        for node in plan.nodes
    )


def _list_exclusions(plan: Plan) -> tuple[ReceiptExclusion, ...]:
    """List by hash: the order of the ids would tell something about them."""
    rows = (
        ReceiptExclusion(
            envelope_hash=exclusion.envelope_hash,
            tier=exclusion.tier,
            step=exclusion.step,
            reason=exclusion.reason,
        )
        for exclusion in plan.exclusions
    )
    return tuple(sorted(rows, key=lambda row: (row.envelope_hash, row.step)))


def _list_tombstones(plan: Plan) -> tuple[str, ...]:
    return tuple(
        sorted(
            exclusion.envelope_hash
            for exclusion in plan.exclusions
            if exclusion.kind == "Tombstone" and exclusion.reason is Reason.ACTED
        )
    )


def _list_conflicts(plan: Plan, hashes: dict[str, str]) -> tuple[ReceiptConflict, ...]:
    return tuple(
        ReceiptConflict(
            kind=conflict.kind,
            winner_envelope_hash=hashes[conflict.winner_id],
            loser_envelope_hashes=tuple(hashes[loser] for loser in conflict.loser_ids),
        )
        for conflict in plan.conflicts
    )
