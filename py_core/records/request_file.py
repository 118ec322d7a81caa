"""A compile request as it is written down: records, session, capacity, policy, scores.

Takes JSON values, gives frozen models. What is not data (the token counter) joins them in the
compiler. Does not know what any of it leads to.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from py_core.records.fields import (
    Identifier,
    Identity,
    Ppm,
    Sensitivity,
    Strict,
    Time,
    WrongFieldError,
)
from py_core.records.kinds import AnyRecord
from py_core.records.payloads import Turn

MOST_RECORDS = 250_000
LARGEST_CONTEXT_TOKENS = 1_048_576

POLICY_VERSION = "tinyloom-policy/1"

Tokens = Annotated[int, Field(ge=0, le=LARGEST_CONTEXT_TOKENS)]
PositiveTokens = Annotated[int, Field(ge=1, le=LARGEST_CONTEXT_TOKENS)]


class Session(Strict):
    """Who asks, what they may see, and when."""

    tenant: Identifier
    clearance: Sensitivity
    now: Time
    session_key: str = Field(min_length=1, max_length=512)
    """Secret of this session; it keys the boundary mark and is in no output."""

    turn: Turn | None = None
    """Number of the current turn; the newest user message's unless stated."""


class Capacity(Strict):
    """What the model offers and how much of it the answer may take."""

    context_tokens: PositiveTokens
    max_tokens: PositiveTokens = 256
    output_limit_tokens: PositiveTokens | None = None
    model_identity: Identity = "none"
    template: Literal["chatml", "plain"] = "chatml"
    counter: Literal["characters", "words"] = "characters"
    """How tokens are counted while no model is given."""


class PolicyChoice(Strict):
    """A version of the policy table, and the few numbers that a user may fix."""

    version: Literal["tinyloom-policy/1"] = "tinyloom-policy/1"
    guard_tokens: Tokens | None = None
    output_share_ppm: Ppm | None = None
    history_share_ppm: Ppm | None = None
    memory_share_ppm: Ppm | None = None
    row_limit_tokens: PositiveTokens | None = None
    relevance_floor_ppm: Ppm | None = None
    truncation: Literal["drop", "turn_aware"] | None = None
    repeat_request: bool | None = None


class Score(Strict):
    """What retrieval says about one record; relevance only, never authority."""

    semantic_ppm: Ppm = 0
    lexical_ppm: Ppm = 0
    scope_ppm: Ppm = 0
    user_ppm: Ppm = 0
    agent_ppm: Ppm = 0
    task_ppm: Ppm = 0
    novelty_ppm: Ppm = 0


class Intent(Strict):
    """What the turn needs of memory, as the retrieval stage understood it."""

    memory: Literal["needed", "not_needed", "off"] = "needed"
    task: Literal["general", "continuation", "architecture", "recall"] = "general"


LaneName = Literal["local", "session", "status", "handoff", "current_message"]
LaneStatus = Literal[
    "answered",
    "empty",
    "below_threshold",
    "timed_out",
    "refused",
    "malformed",
    "off",
    "bypassed",
    "not_needed",
]


class LaneOutcome(Strict):
    """How asking one lane ended: a value, never an error."""

    lane: LaneName
    status: LaneStatus
    candidates: Annotated[int, Field(ge=0, le=MOST_RECORDS)] = 0


class RequestFile(Strict):
    """Everything that decides a prompt, except the tokenizer."""

    records: Annotated[tuple[AnyRecord, ...], Field(max_length=MOST_RECORDS)]
    session: Session
    capacity: Capacity
    policy: PolicyChoice | Literal["tinyloom-policy/1"] = PolicyChoice()
    scores: dict[Identifier, Score | Ppm] = Field(default_factory=dict)
    intent: Intent = Intent()
    lanes: Annotated[tuple[LaneOutcome, ...], Field(max_length=16)] = ()
    shown: dict[Identifier, Identifier] = Field(default_factory=dict)
    """Record to the answer that it helped with before; see `CompileRequest.shown`."""

    @model_validator(mode="after")
    def _require_guard_below_context(self) -> Self:
        guard = self.chosen_policy.guard_tokens
        if guard is not None and guard >= self.capacity.context_tokens:
            raise WrongFieldError(
                field="policy.guard_tokens", expected="expected less than capacity.context_tokens"
            )
        return self

    @property
    def chosen_policy(self) -> PolicyChoice:
        """The policy; a bare version means the table as it is."""
        return self.policy if isinstance(self.policy, PolicyChoice) else PolicyChoice()

    @property
    def full_scores(self) -> dict[str, Score]:
        """The scores; a bare number counts as semantic and lexical relevance alike."""
        return {
            record_id: score
            if isinstance(score, Score)
            else Score(semantic_ppm=score, lexical_ppm=score)
            for record_id, score in self.scores.items()
        }
