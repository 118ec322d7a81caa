"""The compiler: a request in, the plan of one prompt out.

Takes texts, capacity, template and token counter; gives the plan with its ids, or refuses. Knows
no clock, no model and no store. This is the minimal compiler of conversations: system text,
earlier turns, current message.
"""

from collections.abc import Sequence

from py_core.compiler.fit_budget import Fit, Room, fit_budget, measure_room
from py_core.compiler.piece import Piece
from py_core.compiler.plan import Plan, PlanNode
from py_core.compiler.render_prompt import (
    render_answer_frame,
    render_exchange,
    render_message,
    render_opening,
    render_system,
)
from py_core.compiler.request import CompileRequest
from py_core.errors import ContextOverflowError
from py_core.identity import content_hash


def compile_context(request: CompileRequest) -> Plan:
    """Compile the prompt of one turn.

    Raises:
        ContextOverflowError: system text and message do not fit; nothing is ever cut from them.
    """
    room = measure_room(request.capacity, request.policy)
    _refuse_by_bound(request, room)
    opening = (*render_opening(request), *render_system(request))
    closing = (render_message(request), *render_answer_frame(request))
    pairs = [render_exchange(request, exchange) for exchange in request.history]
    fit = fit_budget((*opening, *closing), pairs, room, request.capacity.context_tokens)
    history = [piece for pair in fit.kept_pairs for piece in pair]
    return _make_plan(request, fit, (*opening, *history, *closing))


def _refuse_by_bound(request: CompileRequest, room: Room) -> None:
    """Refuse what cannot fit before the exact and slow encoding of a very long text."""
    allowed, needed = room.core_limit_tokens, 0
    system_text = request.system_text or request.template.default_system
    for tier, text in ((1, system_text), (2, request.message)):
        needed += request.counter.least_tokens(text, enough=allowed)
        if needed > allowed:
            raise ContextOverflowError(needed=needed, allowed=allowed, tier=tier, is_exact=False)


def _make_plan(request: CompileRequest, fit: Fit, pieces: Sequence[Piece]) -> Plan:
    nodes = tuple(
        PlanNode(
            node_id=piece.node_id,
            kind=piece.kind,
            tier=piece.tier,
            content_hash=piece.content_hash,
            text_tokens=piece.text_tokens,
            cost_tokens=len(piece.ids),
        )
        for piece in pieces
    )
    unsealed = Plan(
        plan_hash="",
        policy_version=request.policy.version,
        model_identity=request.capacity.model_identity,
        tokenizer_identity=request.counter.identity,
        template=request.template.kind,
        allowance=fit.allowance,
        nodes=nodes,
        exclusions=fit.exclusions,
        prompt_ids=tuple(token for piece in pieces for token in piece.ids),
    )
    return unsealed.model_copy(update={"plan_hash": content_hash(unsealed.model_dump(mode="json"))})
