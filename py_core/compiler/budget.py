"""The numbers of the budget, as a function of the context and the policy row.

Takes the context, the user's wish and the row, gives limits and shares in tokens. Does not know
records.

    prompt_limit    = C - 1
    output_reserve  = min(max_tokens, output_limit, output_share * C), at least 1
    guard           = max(8, ceil(0.03 * prompt_limit)), or what the policy fixes
    allowance       = C - output_reserve - guard
    core_limit      = prompt_limit - output_reserve: the guard yields before the core does

Example: C 2,048, reserve 256, guard 16 give an allowance of 1,776 and a core limit of 1,791.
"""

from collections.abc import Callable
from dataclasses import dataclass

from py_core.compiler.policy import PolicyRow
from py_core.records.request_file import Capacity

MILLION = 1_000_000

# Three roundings of less than one token each cannot outlast this many steps of the context.
_ROUNDING_REACH = 16


@dataclass(frozen=True, slots=True)
class Room:
    """The limits for one context length."""

    context_tokens: int
    prompt_limit_tokens: int
    output_reserve_tokens: int
    guard_tokens: int
    system_share_tokens: int
    """A ceiling for system text that is told and not enforced: the core is never cut."""

    history_share_tokens: int
    memory_share_tokens: int

    @property
    def allowance_tokens(self) -> int:
        """What a prompt may take, the guard untouched."""
        return self.context_tokens - self.output_reserve_tokens - self.guard_tokens

    @property
    def core_limit_tokens(self) -> int:
        """What the core may take when the guard has yielded; a guard of 0 has nothing to yield."""
        return max(self.prompt_limit_tokens - self.output_reserve_tokens, self.allowance_tokens)


def measure_room(capacity: Capacity, row: PolicyRow, context_tokens: int | None = None) -> Room:
    """Compute the limits, for the capacity's own context unless another is given."""
    context = capacity.context_tokens if context_tokens is None else context_tokens
    prompt_limit = context - 1
    output_limit = capacity.output_limit_tokens or prompt_limit
    share = context * row.output_share_ppm // MILLION
    reserve = max(1, min(capacity.max_tokens, output_limit, share))
    computed = max(row.guard_floor_tokens, -(-prompt_limit * row.guard_share_ppm // MILLION))
    return Room(
        context_tokens=context,
        prompt_limit_tokens=prompt_limit,
        output_reserve_tokens=reserve,
        guard_tokens=computed if row.guard_tokens is None else row.guard_tokens,
        system_share_tokens=context * row.system_share_ppm // MILLION,
        history_share_tokens=context * row.history_share_ppm // MILLION,
        memory_share_tokens=context * row.memory_share_ppm // MILLION,
    )


@dataclass(frozen=True, slots=True)
class Parts:
    """How what is left after the core is divided."""

    history_tokens: int
    memory_tokens: int


def divide(
    capacity: Capacity,
    row: PolicyRow,
    *,
    core_tokens: int,
    notice_tokens: int,
    verified_tokens: int,
    history_demand_tokens: int,
) -> Parts:
    """Divide the rest: verified data of this turn first, then history, then memory.

    A larger context never gives a smaller part, although each rounding may.

    Args:
        capacity: what the model offers.
        row: shares and guard.
        core_tokens: tiers 1 and 2 with their frames.
        notice_tokens: the notice of the boundary mark. Memory pays for it whether or not there is
            untrusted text, so that such text cannot push anything trusted out.
        verified_tokens: what tier 3 would take.
        history_demand_tokens: what all earlier turns would take.
    """

    def split(context: int) -> tuple[int, int]:
        room = measure_room(capacity, row, context)
        rest = max(0, room.allowance_tokens - core_tokens)
        rest_for_rows = max(0, rest - notice_tokens)
        verified = min(verified_tokens, room.memory_share_tokens, rest_for_rows)
        # Verified rows outrank history, and memory pays for the notice out of what is left.
        reserved = verified + min(notice_tokens, rest) if verified else 0
        history = min(room.history_share_tokens, rest - reserved)
        used_by_history = min(history, history_demand_tokens)
        memory = max(0, rest_for_rows - used_by_history)
        return history, min(room.memory_share_tokens, memory)

    return Parts(
        history_tokens=_steady(lambda c: split(c)[0], capacity.context_tokens),
        memory_tokens=_steady(lambda c: split(c)[1], capacity.context_tokens),
    )


def _steady(measure: Callable[[int], int], context: int) -> int:
    """Give the least value that the next contexts have: no later one can be smaller."""
    return min(measure(context + step) for step in range(_ROUNDING_REACH))
