"""Fit the pieces into the room of the model: the core always, earlier pairs from the newest back.

Takes rendered pieces and the policy, gives the pieces that stay, an exclusion for each that does
not, and the allowance in tokens. Does not know texts or templates.

Example (fixture of context 16, max_tokens 64): prompt limit 15, reserve 4, guard 0, room 11.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from py_core.compiler.piece import Piece
from py_core.compiler.plan import Allowance, Exclusion, ExclusionReason
from py_core.compiler.request import BudgetPolicy, Capacity
from py_core.errors import ContextOverflowError

MILLION = 1_000_000

Pair = tuple[Piece, Piece]


@dataclass(frozen=True, slots=True)
class Room:
    """The fixed numbers of the budget, known before any text is encoded."""

    prompt_limit_tokens: int
    output_reserve_tokens: int
    guard_tokens: int
    history_ceiling_tokens: int

    @property
    def core_limit_tokens(self) -> int:
        """What the core block may take when the guard has yielded completely."""
        return self.prompt_limit_tokens - self.output_reserve_tokens


@dataclass(frozen=True, slots=True)
class Fit:
    """What stayed, what did not, and the account."""

    kept_pairs: tuple[Pair, ...]
    exclusions: tuple[Exclusion, ...]
    allowance: Allowance


def measure_room(capacity: Capacity, policy: BudgetPolicy) -> Room:
    """Compute the limits from the model's context and the user's wish."""
    context = capacity.context_tokens
    prompt_limit = context - 1
    output_ceiling = max(1, context * policy.output_share_ppm // MILLION)
    guard_share = -(-prompt_limit * policy.guard_share_ppm // MILLION)
    return Room(
        prompt_limit_tokens=prompt_limit,
        output_reserve_tokens=min(capacity.max_tokens, prompt_limit, output_ceiling),
        guard_tokens=max(policy.guard_floor_tokens, guard_share),
        history_ceiling_tokens=context * policy.history_share_ppm // MILLION,
    )


def require_core(room: Room, *, system_tokens: int, core_tokens: int) -> None:
    """Refuse a core block that does not fit, naming the tier that crossed the limit.

    Raises:
        ContextOverflowError: tier 1 when the system text and frames alone are too long, else 2.
    """
    allowed = room.core_limit_tokens
    if core_tokens > allowed:
        tier = 1 if system_tokens > allowed else 2
        raise ContextOverflowError(needed=core_tokens, allowed=allowed, tier=tier)


def fit_budget(
    core: Sequence[Piece], pairs: Sequence[Pair], room: Room, context_tokens: int
) -> Fit:
    """Keep the newest pairs that fit without a hole; the guard yields before the core does.

    Args:
        core: pieces of tiers 1 and 2, never cut.
        pairs: earlier pairs, oldest first.
        room: limits of this model.
        context_tokens: for the account only.
    """
    core_tokens = _cost(core)
    require_core(
        room,
        system_tokens=_cost([piece for piece in core if piece.tier == 1]),
        core_tokens=core_tokens,
    )
    guard_kept = max(0, min(room.guard_tokens, room.core_limit_tokens - core_tokens))
    allowed = room.core_limit_tokens - guard_kept
    history_room = min(room.history_ceiling_tokens, allowed - core_tokens)
    kept_count = _count_newest_that_fit(pairs, history_room)
    first_kept = len(pairs) - kept_count
    kept = tuple(pairs[first_kept:])
    history_tokens = sum(_cost(pair) for pair in kept)
    return Fit(
        kept_pairs=kept,
        exclusions=_list_exclusions(pairs[:first_kept]),
        allowance=Allowance(
            context_tokens=context_tokens,
            prompt_limit_tokens=room.prompt_limit_tokens,
            output_reserve_tokens=room.output_reserve_tokens,
            guard_tokens=room.guard_tokens,
            guard_kept_tokens=guard_kept,
            allowed_tokens=allowed,
            core_tokens=core_tokens,
            history_tokens=history_tokens,
            prompt_tokens=core_tokens + history_tokens,
        ),
    )


def _cost(pieces: Sequence[Piece]) -> int:
    return sum(len(piece.ids) for piece in pieces)


def _count_newest_that_fit(pairs: Sequence[Pair], history_room: int) -> int:
    left = history_room
    for count, pair in enumerate(reversed(pairs)):
        left -= _cost(pair)
        if left < 0:
            return count
    return len(pairs)


def _list_exclusions(dropped: Sequence[Pair]) -> tuple[Exclusion, ...]:
    """Only the newest dropped pair was too long; the older ones went to leave no hole."""
    newest = len(dropped) - 1
    return tuple(
        Exclusion(
            node_id=piece.node_id,
            kind=piece.kind,
            tier=piece.tier,
            content_hash=piece.content_hash,
            cost_tokens=len(piece.ids),
            step="fit_budget",
            reason=ExclusionReason.DOES_NOT_FIT
            if index == newest
            else ExclusionReason.OLDER_THAN_DROPPED,
        )
        for index, pair in enumerate(dropped)
        for piece in pair
    )
