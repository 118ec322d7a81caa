r"""Turn texts into framed pieces of token ids, one by one.

Takes a text with its role and the template, gives a piece whose ids are final. Role marks enter
only as ids, so no text can become one. Does not know budgets.

ChatML, for each turn:  [turn_start] encode("role\n") encode(text) [turn_end] encode("\n")
and for the answer:     [turn_start] encode("assistant\n")
Plain: the begin mark, then every text followed by a line end, the message without one, so that
the model goes on where the message stops.
"""

from dataclasses import dataclass
from typing import Literal, assert_never

from py_core.compiler.piece import Piece
from py_core.compiler.plan import NodeKind
from py_core.compiler.request import CompileRequest, Exchange
from py_core.errors import InvariantError
from py_core.identity import text_hash

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class _Source:
    node_id: str
    kind: NodeKind
    tier: int
    role: Role
    text: str


def render_opening(request: CompileRequest) -> tuple[Piece, ...]:
    """Render what stands before the first turn: the begin mark of a plain prompt."""
    begin_id = request.counter.begin_id
    if request.template.kind == "chatml" or begin_id is None:
        return ()
    return (Piece("begin", "begin_frame", 1, text_hash(""), 0, (begin_id,)),)


def render_system(request: CompileRequest) -> tuple[Piece, ...]:
    """Render the system text, or the template's default when none is given."""
    text = request.system_text or request.template.default_system
    if not text:
        return ()
    return (_frame(request, _Source("system", "system_text", 1, "system", text)),)


def render_exchange(request: CompileRequest, exchange: Exchange) -> tuple[Piece, Piece]:
    """Render one earlier pair, user first."""
    stem = f"turn-{exchange.number}"
    user = _Source(f"{stem}-user", "user_turn", 4, "user", exchange.user_text)
    answer = _Source(f"{stem}-assistant", "assistant_turn", 5, "assistant", exchange.assistant_text)
    return _frame(request, user), _frame(request, answer)


def render_message(request: CompileRequest) -> Piece:
    """Render the current message."""
    return _frame(request, _Source("current", "current_message", 2, "user", request.message))


def render_answer_frame(request: CompileRequest) -> tuple[Piece, ...]:
    """Render what opens the answer; a plain prompt needs nothing."""
    if request.template.kind == "plain":
        return ()
    ids = (_mark(request, request.template.turn_start), *request.counter.encode("assistant\n"))
    return (Piece("answer", "answer_frame", 1, text_hash("assistant"), 0, ids),)


def _frame(request: CompileRequest, source: _Source) -> Piece:
    encode, template = request.counter.encode, request.template
    text_ids = tuple(encode(source.text))
    match template.kind:
        case "chatml":
            ids = (
                _mark(request, template.turn_start),
                *encode(f"{source.role}\n"),
                *text_ids,
                _mark(request, template.turn_end),
                *encode("\n"),
            )
        case "plain":
            is_open_ended = source.kind == "current_message"
            ids = text_ids if is_open_ended else (*text_ids, *encode("\n"))
        case _:
            assert_never(template.kind)
    return Piece(
        node_id=source.node_id,
        kind=source.kind,
        tier=source.tier,
        content_hash=text_hash(source.text),
        text_tokens=len(text_ids),
        ids=ids,
    )


def _mark(request: CompileRequest, name: str) -> int:
    mark = request.counter.control_ids.get(name)
    if mark is None:
        raise InvariantError(what=f"the template's mark {name!r} is not a control token")
    return mark
