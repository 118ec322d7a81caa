"""How far a withdrawn text may have spread.

Takes the heads of the ledger and the records that change or go, gives everything that was made of
them, and everything that might have been. Three ways of spreading, in falling certainty:

    declared    `derived_from` leads to it
    echoed      it says the same, or, written by a program, repeats the whole text
    undeclared  it is a made record of a writer that does not declare all its sources, written
                later or in the same commit: the withdrawn text could have shaped it

What the user said, and what came from outside, is nobody's product and only ever echoed. Order of
writing is the ledger's own sequence; clocks are not trusted. Does not know repair.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from py_core.store.head_table import HeadTable, as_table
from py_core.store.heads import TEXT_PLACE, Head, Standing

Spread = Literal["declared", "echoed", "undeclared"]

# Sources of our own writers; each of them declares every record it has read.
USER_SOURCE = "user:"
COMPLETE_WRITERS = (USER_SOURCE, "inference:", "summary:")
MADE_KINDS = frozenset(
    {
        "ShortTermSummary",
        "LongTermMemoryRecord",
        "UserPreferenceAssertion",
        "SessionFact",
        "MemoryPointer",
    }
)
SHORTEST_ECHO_CHARS = 12


@dataclass(frozen=True, slots=True)
class Root:
    """A record that changes or goes.

    Attributes:
        since: the revision after which its text could be read; 0 when not known.
        text: its plain text, for echoes; empty to look for none.
        normalization_hash: of its text; empty to look for no repetition.
        tenant: whose it is.
    """

    record_id: str
    tenant: str
    since: int = 0
    text: str = ""
    normalization_hash: str = ""


def find_cone(heads: Mapping[str, Head], roots: Iterable[Root]) -> dict[str, Spread]:
    """Give each record that a root has reached, and how; the roots are not in it."""
    origins, table = tuple(roots), as_table(heads)
    root_ids = {root.record_id for root in origins}
    found: dict[str, Spread] = {}
    _follow(root_ids, table, found, origins)
    for root in origins:
        for head, spread in _find_hidden(table, root):
            if head.record_id not in root_ids:
                found.setdefault(head.record_id, spread)
    _follow(set(found), table, found, origins)
    return {key: found[key] for key in sorted(found)}


def is_undeclared(head: Head) -> bool:
    """Tell whether a record is made of others without saying of all which."""
    if head.kind not in MADE_KINDS or head.source.startswith(USER_SOURCE):
        return False
    return not head.derived_from or not head.source.startswith(COMPLETE_WRITERS)


def _can_be_shaped(head: Head, tenant: str) -> bool:
    is_made = head.kind in MADE_KINDS and head.tenant == tenant
    return is_made and head.standing is not Standing.REJECTED


def _follow(
    begin: Iterable[str], table: HeadTable, found: dict[str, Spread], roots: tuple[Root, ...]
) -> None:
    """Add all that is reached over declared edges; circles end where they were."""
    root_ids, tenants = {root.record_id for root in roots}, {root.tenant for root in roots}
    queue = sorted(begin)
    while queue:
        for head in table.made_of(queue.pop()):
            key = head.record_id
            is_new = key not in found and key not in root_ids
            if is_new and any(_can_be_shaped(head, tenant) for tenant in tenants):
                found[key] = "declared"
                queue.append(key)


def _find_hidden(table: HeadTable, root: Root) -> Iterable[tuple[Head, Spread]]:
    """Give what declares no edge from the root: repetitions, quotes, and what hides its sources."""
    for head in table.with_text(root.normalization_hash) if root.normalization_hash else ():
        if _can_be_shaped(head, root.tenant):
            yield (head, "echoed")
    for head in table.not_written_by(USER_SOURCE):
        if not _can_be_shaped(head, root.tenant):
            continue
        if is_undeclared(head) and head.sequence >= root.since:
            yield (head, "undeclared")
        elif _is_quote(head, root):
            yield (head, "echoed")


def _is_quote(head: Head, root: Root) -> bool:
    return len(root.text) >= SHORTEST_ECHO_CHARS and root.text in head.row[TEXT_PLACE]
