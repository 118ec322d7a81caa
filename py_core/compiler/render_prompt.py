"""Step 9: the chosen candidates become pieces of token ids, in order.

Takes the chosen candidates, gives the pieces of the prompt, after a check that nothing below the
trust line holds a control token and that the boundary marks enclose all of it and nothing else.
Does not choose or count.
"""

from collections.abc import Iterable
from dataclasses import replace

from py_core.compiler.authority import is_trusted
from py_core.compiler.candidate import Piece
from py_core.compiler.draft import Draft
from py_core.compiler.prompt_parts import arrange_prompt
from py_core.compiler.request import CompileRequest
from py_core.errors import InvariantError


def render_prompt(draft: Draft, request: CompileRequest) -> Draft:
    """Render the prompt piece by piece.

    Raises:
        InvariantError: untrusted text holds a control token or stands outside the marks.
    """
    arranged = arrange_prompt(draft, request, repeats=draft.repeats_request)
    check_boundary(arranged.pieces, request)
    return replace(draft, pieces=arranged.pieces)


def check_boundary(pieces: Iterable[Piece], request: CompileRequest) -> None:
    """Check that trusted and untrusted pieces are kept apart.

    Raises:
        InvariantError: untrusted text holds a control token or stands outside the marks.
    """
    control_ids = frozenset(request.counter.control_ids.values())
    is_open = False
    for piece in pieces:
        if piece.name in {"start_mark", "end_mark"}:
            is_open = piece.name == "start_mark"
        elif not is_trusted(piece.tier):
            _check_untrusted(piece, control_ids, is_open=is_open)
        elif is_open:
            raise InvariantError(what=f"trusted piece {piece.name} inside the boundary marks")
    if is_open:
        raise InvariantError(what="the boundary marks do not pair")


def _check_untrusted(piece: Piece, control_ids: frozenset[int], *, is_open: bool) -> None:
    if not is_open:
        raise InvariantError(what=f"untrusted piece {piece.name} outside the boundary marks")
    if not control_ids.isdisjoint(piece.ids):
        raise InvariantError(what=f"untrusted piece {piece.name} holds a control token")
