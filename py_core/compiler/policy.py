"""Every number that the compiler decides by, in one frozen table with a version.

Takes the context length, what the user fixed and the task; gives one row. Does not know records.

    class     context           memory   layout       lanes status/handoff
    fixture   up to 64          0 %      none         bypass
    tiny      up to 1,023       10 %     key=value    90/10
    small     up to 3,071       17 %     key=value    60/40
    capable   3,072 and more    30 %     bookended    45/45, a tenth for caveats

Shares are millionths of the context, weights hundredths of the score.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Literal

from py_core.identity import content_hash
from py_core.records.fields import Lane
from py_core.records.request_file import POLICY_VERSION, PolicyChoice

Level = Literal["raw", "facts", "summary", "key_value", "fragment", "reference"]
ModelClass = Literal["fixture", "tiny", "small", "capable"]
HOUR_SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class Weights:
    """The ten parts of a score."""

    semantic: int = 34
    lexical: int = 14
    recency: int = 12
    confidence: int = 10
    scope: int = 8
    user: int = 6
    agent: int = 6
    task: int = 4
    review: int = 4
    novelty: int = 2


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """The policy for one class of models."""

    model_class: ModelClass
    largest_context: int
    memory_share_ppm: int
    layout: Literal["none", "key_value", "bookended"]
    levels: tuple[Level, ...]
    """Forms of a record, the wanted one first; the first that keeps to the row limit is taken."""

    row_limit_tokens: int
    lane_shares: Mapping[Lane, int]
    truncation: Literal["drop", "turn_aware"]
    guard_floor_tokens: int = 8
    guard_share_ppm: int = 30_000
    guard_tokens: int | None = None
    """A fixed guard in the place of the computed one."""

    system_share_ppm: int = 200_000
    history_share_ppm: int = 450_000
    output_share_ppm: int = 250_000
    repeats_request: bool = True
    relevance_floor_ppm: int = 150_000
    long_text_tokens: int = 800
    """Length at which a text's score counts half: the room it takes could hold others."""

    duplicate_jaccard_ppm: int = 850_000
    duplicate_looks: int = 32
    """Near duplicates are looked for among at most so many records that share a rare word."""

    certain_ppm: int = 900_000
    likely_ppm: int = 700_000
    status_stale_seconds: int = 24 * HOUR_SECONDS
    status_half_life_seconds: int = 24 * HOUR_SECONDS
    handoff_half_life_seconds: int = 30 * 24 * HOUR_SECONDS
    escalation_ppm: int = 500_000
    weights: Weights = field(default_factory=Weights)


NO_LANES: Mapping[Lane, int] = {Lane.STATUS: 500_000, Lane.HANDOFF: 500_000}

TABLE: tuple[PolicyRow, ...] = (
    PolicyRow(
        model_class="fixture",
        largest_context=64,
        memory_share_ppm=0,
        layout="none",
        levels=("key_value", "fragment"),
        row_limit_tokens=8,
        lane_shares=NO_LANES,
        truncation="drop",
        # A guard of 8 would take more than half of a 16-token prompt.
        guard_floor_tokens=0,
        guard_share_ppm=0,
        repeats_request=False,
    ),
    PolicyRow(
        model_class="tiny",
        largest_context=1_023,
        memory_share_ppm=100_000,
        layout="key_value",
        levels=("key_value", "summary", "fragment"),
        row_limit_tokens=48,
        lane_shares={Lane.STATUS: 900_000, Lane.HANDOFF: 100_000},
        truncation="drop",
        repeats_request=False,
        weights=Weights(semantic=22, lexical=22, scope=12, novelty=6),
    ),
    PolicyRow(
        model_class="small",
        largest_context=3_071,
        memory_share_ppm=170_000,
        layout="key_value",
        levels=("key_value", "raw", "summary", "fragment"),
        row_limit_tokens=96,
        lane_shares={Lane.STATUS: 600_000, Lane.HANDOFF: 400_000},
        truncation="drop",
    ),
    PolicyRow(
        model_class="capable",
        largest_context=2**62,
        memory_share_ppm=300_000,
        layout="bookended",
        levels=("raw", "facts", "summary", "fragment"),
        row_limit_tokens=256,
        lane_shares={Lane.STATUS: 450_000, Lane.HANDOFF: 450_000},
        truncation="turn_aware",
    ),
)

TASK_SHIFTS: Mapping[str, Mapping[str, int]] = {
    "general": {},
    # Going on with work: what is recent and about the same thing.
    "continuation": {"semantic": -12, "recency": 8, "scope": 4},
    # Questions of design: what fits the question and the scope, however old.
    "architecture": {"recency": -8, "semantic": 4, "scope": 4},
    # Questions about what was said: what fits the question, whenever it was.
    "recall": {"recency": -12, "semantic": 12},
}


def choose_row(context_tokens: int, choice: PolicyChoice, task: str = "general") -> PolicyRow:
    """Pick the row for a context length, then apply what the user fixed and the task's shift."""
    row = next(row for row in TABLE if context_tokens <= row.largest_context)
    fixed = {
        name: value
        for name, value in (
            ("guard_tokens", choice.guard_tokens),
            ("output_share_ppm", choice.output_share_ppm),
            ("history_share_ppm", choice.history_share_ppm),
            ("memory_share_ppm", choice.memory_share_ppm),
            ("row_limit_tokens", choice.row_limit_tokens),
            ("relevance_floor_ppm", choice.relevance_floor_ppm),
            ("truncation", choice.truncation),
            ("repeats_request", choice.repeat_request),
        )
        if value is not None
    }
    shift = {
        name: getattr(row.weights, name) + change for name, change in TASK_SHIFTS[task].items()
    }
    return replace(row, weights=replace(row.weights, **shift), **fixed)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def identify_table() -> str:
    """Hash the whole table, so that a plan names the very numbers it was made with."""
    rows = [_as_json(row) for row in TABLE]
    shifts = {name: dict(shift) for name, shift in TASK_SHIFTS.items()}
    return content_hash({"version": POLICY_VERSION, "rows": rows, "shifts": shifts})


def _as_json(value: object) -> object:
    if isinstance(value, PolicyRow | Weights):
        return {item.name: _as_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_as_json(item) for item in value]
    return value
