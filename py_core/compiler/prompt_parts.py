"""The order of a prompt's parts.

Takes the chosen candidates, gives the pieces of each part and of the whole, first to last:
system, history, notes, caveat and notice, the user's turn with the quoted block, the answer frame.
What changes from turn to turn stands late, so that a cached beginning stays valid.
Does not count.
"""

from dataclasses import dataclass

from py_core.compiler.authority import is_core, is_trusted
from py_core.compiler.candidate import Candidate, Piece
from py_core.compiler.draft import Draft
from py_core.compiler.history import gather_exchanges
from py_core.compiler.layout import PromptLayout, split_core
from py_core.compiler.request import CompileRequest
from py_core.errors import InvariantError


@dataclass(frozen=True, slots=True)
class PromptParts:
    """The pieces of a prompt by part."""

    core: tuple[Piece, ...]
    history: tuple[Piece, ...]
    notes: tuple[Piece, ...]
    quotes: tuple[Piece, ...]
    pieces: tuple[Piece, ...]
    """The whole prompt in order."""


def arrange_prompt(draft: Draft, request: CompileRequest, *, repeats: bool) -> PromptParts:
    """Put the pieces in order.

    Args:
        draft: with nothing in it but what enters the prompt.
        request: for layout and counter.
        repeats: state the request before and behind the quoted block.
    """
    if draft.boundary is None:
        raise InvariantError(what="a prompt is arranged before its mark was drawn")
    layout, mark = PromptLayout(request), draft.boundary.mark
    policies, instructions = split_core(draft.kept)
    rows = [found for found in draft.kept if not found.is_turn and not is_core(found.ranked_tier)]
    trusted = [row for row in rows if is_trusted(row.ranked_tier)]
    untrusted = [row for row in rows if not is_trusted(row.ranked_tier)]
    opening = [*layout.opening(), *layout.system(policies)]
    history = [piece for found in _earlier(draft) for piece in layout.turn(found)]
    notes, quotes = layout.notes(trusted), layout.quotes(untrusted, mark)
    notice = layout.notice(mark, asks=_asks(untrusted)) if untrusted else []
    breach = layout.breach(instructions)
    closing = [
        *layout.instruction(instructions, quotes, repeats=repeats),
        *layout.answer(),
    ]
    plain_closing = [*layout.instruction(instructions, (), repeats=False), *layout.answer()]
    return PromptParts(
        core=(*opening, *breach, *plain_closing),
        history=tuple(history),
        notes=tuple(notes),
        quotes=tuple(quotes),
        pieces=(*opening, *history, *notes, *breach, *notice, *closing),
    )


def _earlier(draft: Draft) -> list[Candidate]:
    turns = [found for found in draft.kept if found.is_turn and not is_core(found.ranked_tier)]
    return [message for exchange in gather_exchanges(turns) for message in exchange.messages]


def _asks(untrusted: list[Candidate]) -> bool:
    return any(caveat.startswith("diagnostic_ask") for row in untrusted for caveat in row.caveats)
