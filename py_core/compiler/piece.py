"""One framed text as token ids: what rendering gives and the budget counts.

Takes and gives values only; does not know templates or limits.
"""

from dataclasses import dataclass

from py_core.compiler.plan import NodeKind


@dataclass(frozen=True, slots=True)
class Piece:
    """One text with its frame as token ids, or a frame alone."""

    node_id: str
    kind: NodeKind
    tier: int
    content_hash: str
    text_tokens: int
    ids: tuple[int, ...]
