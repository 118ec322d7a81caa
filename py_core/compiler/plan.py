"""The plan of one prompt: what entered and how, what stayed out and why, and the exact ids.

Takes values that the steps computed, gives frozen models made for reading: the Plan view draws
`allowance.bars` and lists `nodes` and `exclusions`. Does not decide anything.
"""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from py_core.compiler.policy import Level, ModelClass

PLAN_VERSION = "tinyloom-plan/1"

StepName = Literal[
    "normalize",
    "assign_authority",
    "apply_supersession",
    "resolve_conflicts",
    "filter_access",
    "screen_untrusted",
    "rank_candidates",
    "fit_budget",
    "render_prompt",
]
MemoryStatus = Literal["used", "empty", "bypass", "not_needed", "off"]
Generation = Literal["allowed", "caveated", "halted"]
TruncationMode = Literal["none", "drop", "turn_aware", "escalated"]


class PlanModel(BaseModel):
    """Frozen, strict, and closed to fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Reason(StrEnum):
    """Every reason for which a record may stay out of the prompt."""

    REPEATED_RECORD = "repeated_record"
    """The same record came twice."""

    PENDING_REVIEW = "pending_review"
    """An inference that the user has not confirmed is in no tier."""

    REJECTED = "rejected"
    QUARANTINED = "quarantined"
    NEVER_RENDERED = "never_rendered"
    """A diagnostic of the compiler."""

    ACTED = "acted"
    """A tombstone, link or retraction: it did its work on other records."""

    TOMBSTONED = "tombstoned"
    RETRACTED = "retracted"
    SUPERSEDED = "superseded"
    SOURCE_WITHDRAWN = "source_withdrawn"
    """It was made from a record that is gone."""

    OVERRIDDEN_BY_INSTRUCTION = "overridden_by_instruction"
    OUTRANKED_IN_CONFLICT = "outranked_in_conflict"
    OLDER_IN_CONFLICT = "older_in_conflict"
    LESS_REVIEWED_IN_CONFLICT = "less_reviewed_in_conflict"
    TENANT_MISMATCH = "tenant_mismatch"
    ABOVE_CLEARANCE = "above_clearance"
    RETENTION_ENDED = "retention_ended"
    INSTRUCTION_TEXT = "instruction_text"
    """Untrusted text that holds nothing but orders to the model."""

    EMPTY_AFTER_SCREENING = "empty_after_screening"
    MEMORY_BYPASSED = "memory_bypassed"
    """The model is too small for any memory."""

    MEMORY_NOT_NEEDED = "memory_not_needed"
    MEMORY_OFF = "memory_off"
    BELOW_RELEVANCE_FLOOR = "below_relevance_floor"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    ESCALATED_TO_RAW = "escalated_to_raw"
    """The summary does not suffice for this question; its sources stand in its place."""

    OVER_BUDGET = "over_budget"
    """It costs more than what is left."""

    BEHIND_OVER_BUDGET = "behind_over_budget"
    """It ranks behind a record that did not fit; a lower rank never takes a higher one's room."""


class Exclusion(PlanModel):
    """One record that stayed out."""

    record_id: str
    kind: str
    envelope_hash: str
    tier: int | None
    step: StepName
    reason: Reason
    superseded_by: tuple[str, ...] = ()
    """Records because of which it stayed out."""


class PlanNode(PlanModel):
    """One record that entered the prompt."""

    position: int
    record_id: str
    kind: str
    envelope_hash: str
    tier: int
    lane: str
    token_cost: int
    """Frame and text; nodes and frames add up to the prompt."""

    rendering_template: str
    level: Level
    score: int
    provenance: tuple[str, ...]
    """Ids of all records that this one stands for, its own first."""

    flags: tuple[str, ...]
    text: str


class Frame(PlanModel):
    """Tokens of the compiler's own: role frames, headers, boundary marks, caveats."""

    position: int
    name: str
    tier: int
    token_cost: int
    text: str


class BudgetBar(PlanModel):
    """One segment of the stacked bar."""

    name: str
    tier: int | None
    tokens: int


class Allowance(PlanModel):
    """How the room of the prompt came about, in tokens."""

    model_class: ModelClass
    context_tokens: int
    prompt_limit_tokens: int
    output_reserve_tokens: int
    guard_tokens: int
    guard_kept_tokens: int
    """What is left of the guard; less than `guard_tokens` when the core block needed it."""

    allowed_tokens: int
    core_limit_tokens: int
    core_tokens: int
    history_budget_tokens: int
    history_tokens: int
    memory_budget_tokens: int
    memory_frame_tokens: int
    memory_rows_budget_tokens: int
    """Memory budget without its frames."""

    memory_tokens: int
    prompt_tokens: int
    account: tuple[str, ...]
    """The same as sentences, in the order in which it was computed."""

    bars: tuple[BudgetBar, ...]


class Conflict(PlanModel):
    """Records that say different things about one slot."""

    kind: Literal[
        "policy_breach",
        "instruction_overrides",
        "status_over_durable",
        "higher_tier",
        "newer_date",
        "better_review",
        "unresolved",
    ]
    slot: str
    winner_id: str
    loser_ids: tuple[str, ...]
    resolution: str
    updates_ledger: bool = False
    """The loser is kept elsewhere and should be offered for correction."""


class DuplicateGroup(PlanModel):
    """Records that say the same, folded into one."""

    kept_id: str
    suppressed_ids: tuple[str, ...]


class GraphFinding(PlanModel):
    """An odd place in the graph of tombstones, links and retractions, and what came of it."""

    kind: Literal[
        "cycle",
        "self_link",
        "unknown_older",
        "unknown_newer",
        "outranked_link",
        "foreign_link",
        "unseen_tombstone",
        "protected_target",
    ]
    record_ids: tuple[str, ...]
    effect: str


class Routing(PlanModel):
    """Whether the summaries suffice for this question, by rule."""

    route: Literal["summary", "raw"]
    need_ppm: int
    threshold_ppm: int
    signs: tuple[str, ...]


class BoundaryMark(PlanModel):
    """The mark around untrusted text of this turn."""

    mark: str
    draws: int
    is_used: bool


class LaneReport(PlanModel):
    """How asking one lane ended."""

    lane: str
    status: str
    candidates: int


class Plan(PlanModel):
    """The compiled prompt and its whole account."""

    plan_version: Literal["tinyloom-plan/1"] = "tinyloom-plan/1"
    plan_hash: str
    policy_version: str
    policy_identity: str
    model_identity: str
    tokenizer_identity: str
    template: Literal["chatml", "plain"]
    compiled_at: str
    token_allowance: int
    truncation_mode: TruncationMode
    memory_status: MemoryStatus
    generation: Generation
    allowance: Allowance
    nodes: tuple[PlanNode, ...]
    frames: tuple[Frame, ...]
    exclusions: tuple[Exclusion, ...]
    conflicts: tuple[Conflict, ...]
    duplicates: tuple[DuplicateGroup, ...]
    graph_findings: tuple[GraphFinding, ...]
    routing: Routing | None
    boundary: BoundaryMark
    lanes: tuple[LaneReport, ...]
    prompt_hash: str
    """sha256 over the ids, so that the plan stands for them without carrying them."""

    prompt_ids: tuple[int, ...]

    @property
    def prompt_text(self) -> str:
        """The texts of the prompt in order, role marks left out."""
        parts: list[PlanNode | Frame] = [*self.nodes, *self.frames]
        return "".join(part.text for part in sorted(parts, key=lambda part: part.position))
