"""Step 8: what fits, by authority and rank, with exact token costs.

Takes ranked candidates, gives those that enter and an exclusion for each other one, with the
account of every token. The core is never cut. What stays out for want of room never makes way for
something of a lower rank, so a larger room keeps all that a smaller one held. Does not know how
the prompt is put together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from py_core.compiler.account import write_account
from py_core.compiler.authority import Tier, is_core, is_trusted
from py_core.compiler.boundary import draw_mark
from py_core.compiler.budget import Parts, Room, divide, measure_room
from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import Draft, exclude
from py_core.compiler.history import Exchange, gather_exchanges, order_by_worth
from py_core.compiler.layout import PromptLayout, count_tokens, split_core
from py_core.compiler.packing import Packed, pack_beginning, weave_lanes
from py_core.compiler.plan import BoundaryMark, Exclusion, Reason
from py_core.compiler.representations import RowMaker, make_row_maker
from py_core.compiler.request import CompileRequest
from py_core.errors import ContextOverflowError

# A message a few times too long is counted, so that the error can say how much to take away.
_COUNTED_EXACTLY_UP_TO = 8


@dataclass(frozen=True, slots=True)
class _Row:
    """A memory row with its cost, and that of the frame which it opens."""

    candidate: Candidate
    frame_tokens: int
    row_tokens: int

    @property
    def cost_tokens(self) -> int:
        return self.frame_tokens + self.row_tokens


class _Shelf:
    """Writes rows when they are asked for, once each, and knows what they cost."""

    def __init__(self, layout: PromptLayout, maker: RowMaker, mark: str) -> None:
        self._layout, self._maker, self._mark = layout, maker, mark
        self._rows: dict[str, Candidate] = {}

    def write(self, candidate: Candidate) -> Candidate:
        """Give the candidate with its row."""
        written = self._rows.get(candidate.record_id)
        if written is None:
            written = self._rows[candidate.record_id] = self._maker.write(candidate)
        return written

    def cost(self, candidate: Candidate) -> int:
        """Count the row and its caveats."""
        return count_tokens(self._layout.row(self.write(candidate)))

    def frame_cost(self, first: Candidate) -> int:
        """Count what the first row of a block brings with it."""
        written = self.write(first)
        row = count_tokens(self._layout.row(written))
        if is_trusted(first.ranked_tier):
            return count_tokens(self._layout.notes([written])) - row
        asks = 0
        if any(caveat.startswith("diagnostic_ask") for caveat in first.caveats):
            asks = count_tokens(self._layout.notice(self._mark, asks=True)) - count_tokens(
                self._layout.notice(self._mark)
            )
        return count_tokens(self._layout.quotes([written], self._mark)) - row + asks


def fit_budget(draft: Draft, request: CompileRequest) -> Draft:
    """Choose what enters.

    Raises:
        ContextOverflowError: policy and current instruction alone do not fit.
    """
    layout = PromptLayout(request)
    room = measure_room(request.capacity, request.row)
    _refuse_by_bound(draft, request, room)
    core_tokens = _require_core(draft, layout, room)
    mark = draw_mark(draft.kept, request)
    notice_tokens = count_tokens(layout.notice(mark.mark)) if request.row.memory_share_ppm else 0
    turns = [found for found in draft.kept if found.is_turn and not is_core(found.ranked_tier)]
    rows = [f for f in draft.kept if not f.is_turn and not is_core(f.ranked_tier)]
    exchanges = gather_exchanges(turns)
    maker = make_row_maker(draft.kept, request)
    shelf = _Shelf(layout, maker, mark.mark)
    parts = divide(
        request.capacity,
        request.row,
        core_tokens=core_tokens,
        notice_tokens=notice_tokens,
        verified_tokens=_count_verified(rows, shelf, room.memory_share_tokens),
        history_demand_tokens=_count_demand(exchanges, layout, room.history_share_tokens),
    )
    history = _fit_history(draft, exchanges, layout, parts.history_tokens)
    shelf = _Shelf(layout, replace(maker, known=_find_known(request, history)), mark.mark)
    memory = pack_beginning(
        _chain(rows, shelf, request), parts.memory_tokens, lambda row: row.cost_tokens
    )
    return _conclude(draft, request, _Fitting(layout, room, parts, mark, history, memory))


@dataclass(frozen=True, slots=True)
class _Fitting:
    layout: PromptLayout
    room: Room
    parts: Parts
    mark: BoundaryMark
    history: Packed[Exchange]
    memory: Packed[_Row]


def _refuse_by_bound(draft: Draft, request: CompileRequest, room: Room) -> None:
    """Refuse what cannot fit before the exact and slow encoding of a very long text."""
    allowed, needed = room.core_limit_tokens, 0
    hopeless = allowed * _COUNTED_EXACTLY_UP_TO
    for candidate in sorted(draft.kept, key=lambda found: int(found.ranked_tier)):
        if not is_core(candidate.ranked_tier):
            break
        needed += request.counter.least_tokens(candidate.text, enough=hopeless)
        if needed > hopeless:
            tier = int(candidate.ranked_tier)
            raise ContextOverflowError(needed=needed, allowed=allowed, tier=tier, is_exact=False)


def _require_core(draft: Draft, layout: PromptLayout, room: Room) -> int:
    policies, instructions = split_core(draft.kept)
    own = [*layout.opening(), *layout.system(policies), *layout.breach(instructions)]
    first = count_tokens([*own, *layout.answer()])
    needed = first + count_tokens(layout.instruction(instructions, (), repeats=False))
    allowed = room.core_limit_tokens
    if needed > allowed:
        raise ContextOverflowError(needed=needed, allowed=allowed, tier=1 if first > allowed else 2)
    return needed


def _count_verified(rows: Sequence[Candidate], shelf: _Shelf, enough: int) -> int:
    """Count what tier 3 would take with its frame, no further than `enough`."""
    verified = [row for row in rows if row.tier is Tier.VERIFIED_NOW]
    if not verified or not enough:
        return 0
    return shelf.frame_cost(verified[0]) + _count_until(
        (shelf.cost(row) for row in verified), enough
    )


def _count_demand(exchanges: Sequence[Exchange], layout: PromptLayout, enough: int) -> int:
    costs = (_price(exchange, layout) for exchange in reversed(exchanges))
    return _count_until(costs, enough)


def _count_until(costs: Iterator[int], enough: int) -> int:
    total = 0
    for cost in costs:
        total += cost
        if total >= enough:
            break
    return total


def _price(exchange: Exchange, layout: PromptLayout) -> int:
    return sum(count_tokens(layout.turn(message)) for message in exchange.messages)


def _fit_history(
    draft: Draft, exchanges: list[Exchange], layout: PromptLayout, room_tokens: int
) -> Packed[Exchange]:
    keeps_first = layout.request.row.truncation == "turn_aware"
    ordered = order_by_worth(exchanges, draft.preferred_turns, keeps_first=keeps_first)
    return pack_beginning(ordered, room_tokens, lambda exchange: _price(exchange, layout))


def _find_known(request: CompileRequest, history: Packed[Exchange]) -> frozenset[str]:
    """Give the records whose earlier answer the prompt still holds."""
    answers = {message.record_id for exchange in history.chosen for message in exchange.messages}
    return frozenset(name for name, answer in request.shown.items() if answer in answers)


def _chain(rows: Sequence[Candidate], shelf: _Shelf, request: CompileRequest) -> Iterator[_Row]:
    """Give rows tier by tier, the lanes of a tier woven; the first of a block carries its frame."""
    tiers: dict[Tier, dict[str, list[tuple[int, Candidate]]]] = {}
    for rank, row in enumerate(rows):
        lanes_of_tier = tiers.setdefault(row.ranked_tier, {})
        lanes_of_tier.setdefault(row.lane.value, []).append((rank, row))
    shares = {lane.value: share for lane, share in request.row.lane_shares.items()}
    opened: set[bool] = set()
    for _, lanes in sorted(tiers.items()):
        for candidate in weave_lanes(lanes, shares, shelf.cost):
            block = is_trusted(candidate.ranked_tier)
            frame = 0 if block in opened else shelf.frame_cost(candidate)
            opened.add(block)
            yield _Row(shelf.write(candidate), frame, shelf.cost(candidate))


def _conclude(draft: Draft, request: CompileRequest, fit: _Fitting) -> Draft:
    """Put together what was chosen, why the rest was not, and the account."""
    core = [found for found in draft.kept if is_core(found.ranked_tier)]
    turns = [message for exchange in fit.history.chosen for message in exchange.messages]
    # Chosen in the woven order, shown in the order of rank.
    ranks = {found.record_id: rank for rank, found in enumerate(draft.kept)}
    rows = [row.candidate for row in fit.memory.chosen]
    rows.sort(key=lambda row: ranks[row.record_id])
    kept = (*core, *turns, *rows)
    blocked = _blocked_ids(fit)
    kept_ids = {candidate.record_id for candidate in kept}
    excluded = [_exclude(found, blocked) for found in draft.kept if found.record_id not in kept_ids]
    has_quotes = any(not is_trusted(row.ranked_tier) for row in rows)
    chosen = replace(
        draft,
        kept=kept,
        excluded=(*draft.excluded, *excluded),
        boundary=fit.mark.model_copy(update={"is_used": has_quotes}),
        is_truncated=fit.history.blocked is not None,
    )
    return write_account(chosen, request, fit.room, fit.parts)


def _blocked_ids(fit: _Fitting) -> set[str]:
    ids: set[str] = set()
    if fit.history.blocked is not None:
        ids.update(message.record_id for message in fit.history.blocked.messages)
    if fit.memory.blocked is not None:
        ids.add(fit.memory.blocked.candidate.record_id)
    return ids


def _exclude(candidate: Candidate, blocked: set[str]) -> Exclusion:
    is_blocked = candidate.record_id in blocked
    reason = Reason.OVER_BUDGET if is_blocked else Reason.BEHIND_OVER_BUDGET
    return exclude(candidate, "fit_budget", reason)
