"""The plan of one prompt: what entered, what was left out and why, and the exact token ids.

Takes nothing but values that the steps computed, gives frozen models with a hash.
Does not decide anything.
"""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

NodeKind = Literal[
    "begin_frame",
    "system_text",
    "user_turn",
    "assistant_turn",
    "current_message",
    "answer_frame",
]
StepName = Literal["fit_budget"]


class PlanModel(BaseModel):
    """Frozen, strict, and closed to fields it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class ExclusionReason(StrEnum):
    """Every reason for which a text may stay out of the prompt."""

    DOES_NOT_FIT = "does_not_fit"
    """The pair costs more than what is left of the history allowance."""

    OLDER_THAN_DROPPED = "older_than_dropped"
    """A newer pair fell away; keeping this one would tear a hole into the conversation."""


class PlanNode(PlanModel):
    """One text that entered the prompt, with its frame."""

    node_id: str
    kind: NodeKind
    tier: int
    content_hash: str
    text_tokens: int
    cost_tokens: int
    """Text and frame together; the costs of all nodes add up to the prompt."""


class Exclusion(PlanModel):
    """One text that stayed out."""

    node_id: str
    kind: NodeKind
    tier: int
    content_hash: str
    cost_tokens: int
    step: StepName
    reason: ExclusionReason


class Allowance(PlanModel):
    """How the room of the prompt came about, in tokens."""

    context_tokens: int
    prompt_limit_tokens: int
    output_reserve_tokens: int
    guard_tokens: int
    guard_kept_tokens: int
    """What is left of the guard; less than `guard_tokens` when the core block needed it."""

    allowed_tokens: int
    """prompt_limit - output_reserve - guard_kept: what this prompt was allowed."""

    core_tokens: int
    history_tokens: int
    prompt_tokens: int


class Plan(PlanModel):
    """The compiled prompt and its whole account."""

    plan_hash: str
    policy_version: str
    model_identity: str
    tokenizer_identity: str
    template: Literal["chatml", "plain"]
    allowance: Allowance
    nodes: tuple[PlanNode, ...]
    exclusions: tuple[Exclusion, ...]
    prompt_ids: tuple[int, ...]
