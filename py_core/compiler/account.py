"""Where every token of the prompt went.

Takes the chosen candidates, the limits and the shares; gives the draft with its allowance, told in
numbers, in sentences and as the segments of a bar. Does not choose anything but whether the
request is stated twice, which uses only what is left over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from py_core.compiler.authority import Tier, is_core
from py_core.compiler.budget import Parts, Room
from py_core.compiler.candidate import Piece
from py_core.compiler.draft import Draft
from py_core.compiler.layout import PromptLayout, count_tokens, split_core
from py_core.compiler.plan import Allowance, BudgetBar
from py_core.compiler.prompt_parts import PromptParts, arrange_prompt
from py_core.compiler.request import CompileRequest
from py_core.errors import InvariantError


def write_account(draft: Draft, request: CompileRequest, room: Room, parts: Parts) -> Draft:
    """Count the pieces of the chosen candidates and write the allowance."""
    once = arrange_prompt(draft, request, repeats=False)
    left = room.allowance_tokens - count_tokens(once.pieces)
    _, instructions = split_core(draft.kept)
    layout = PromptLayout(request)
    repeats = (
        request.row.repeats_request
        and bool(once.quotes)
        and count_tokens(layout.repeated(instructions)) <= left
    )
    arranged = arrange_prompt(draft, request, repeats=True) if repeats else once
    sums = _Sums.of(arranged)
    free = room.context_tokens - room.output_reserve_tokens - sums.prompt
    guard_kept = max(0, min(room.guard_tokens, free))
    is_core_alone = sums.prompt > room.allowance_tokens
    allowed = room.core_limit_tokens if is_core_alone else room.allowance_tokens
    if sums.prompt > allowed:
        raise InvariantError(what="the prompt costs more than its allowance")
    allowance = Allowance(
        model_class=request.row.model_class,
        context_tokens=room.context_tokens,
        prompt_limit_tokens=room.prompt_limit_tokens,
        output_reserve_tokens=room.output_reserve_tokens,
        guard_tokens=room.guard_tokens,
        guard_kept_tokens=guard_kept,
        allowed_tokens=allowed,
        core_limit_tokens=room.core_limit_tokens,
        core_tokens=sums.core,
        history_budget_tokens=parts.history_tokens,
        history_tokens=sums.history,
        memory_budget_tokens=parts.memory_tokens,
        memory_frame_tokens=sums.memory_frames,
        memory_rows_budget_tokens=max(0, parts.memory_tokens - sums.memory_frames),
        memory_tokens=sums.memory_rows + sums.memory_frames,
        prompt_tokens=sums.prompt,
        account=_tell(room, parts, sums),
        bars=_draw_bars(arranged.pieces, room, sums),
    )
    return replace(draft, allowance=allowance, repeats_request=repeats)


@dataclass(frozen=True, slots=True)
class _Sums:
    prompt: int
    system: int
    core: int
    history: int
    memory_frames: int
    memory_rows: int

    @classmethod
    def of(cls, arranged: PromptParts) -> "_Sums":
        rows = sum(len(piece.ids) for piece in arranged.pieces if _is_row(piece))
        return cls(
            prompt=count_tokens(arranged.pieces),
            system=sum(
                len(piece.ids) for piece in arranged.core if piece.tier is Tier.SYSTEM_POLICY
            ),
            core=count_tokens(arranged.core),
            history=count_tokens(arranged.history),
            memory_frames=count_tokens(arranged.notes) + count_tokens(arranged.quotes) - rows,
            memory_rows=rows,
        )


def _is_row(piece: Piece) -> bool:
    owner = piece.candidate
    return owner is not None and not owner.is_turn and not is_core(owner.ranked_tier)


def _tell(room: Room, parts: Parts, sums: _Sums) -> tuple[str, ...]:
    rows_budget = max(0, parts.memory_tokens - sums.memory_frames)
    is_wordy = sums.system > room.system_share_tokens
    wordy = f"system text with frames takes {sums.system}, above its share of"
    return (
        f"{room.context_tokens} context - {room.output_reserve_tokens} output reserve - "
        f"{room.guard_tokens} guard = {room.allowance_tokens} allowed",
        f"{sums.core} of them for tiers 1 and 2 with their frames (never cut; "
        f"up to {room.core_limit_tokens} when the guard yields)",
        f"history: {sums.history} used of {parts.history_tokens}",
        f"memory: {parts.memory_tokens} - {sums.memory_frames} frames = {rows_budget} for rows, "
        f"{sums.memory_rows} used",
        f"prompt: {sums.prompt}, free: {max(0, room.allowance_tokens - sums.prompt)}",
        *((f"{wordy} {room.system_share_tokens}",) if is_wordy else ()),
    )


def _draw_bars(pieces: Sequence[Piece], room: Room, sums: _Sums) -> tuple[BudgetBar, ...]:
    """Segments from left to right; they add up to the context."""
    by_tier: dict[int, int] = {}
    for piece in pieces:
        by_tier[int(piece.tier)] = by_tier.get(int(piece.tier), 0) + len(piece.ids)
    free = room.context_tokens - room.output_reserve_tokens - sums.prompt
    guard = max(0, min(room.guard_tokens, free))
    return (
        *(
            BudgetBar(name=f"tier {tier}", tier=tier, tokens=tokens)
            for tier, tokens in sorted(by_tier.items())
        ),
        BudgetBar(name="free", tier=None, tokens=free - guard),
        BudgetBar(name="guard", tier=None, tokens=guard),
        BudgetBar(name="output reserve", tier=None, tokens=room.output_reserve_tokens),
    )
