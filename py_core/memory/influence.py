"""How far a withdrawn text may have spread.

Takes the heads of the ledger and the records that change or go, gives everything that was made of
them, and everything that might have been. Three ways of spreading, in falling certainty:

    declared    `derived_from` leads to it
    echoed      it says the same, or repeats the whole text
    undeclared  it is a made record of a writer that does not declare all its sources, written
                later or in the same commit: the withdrawn text could have shaped it

What the user said, and what came from outside, is nobody's product and only ever echoed. Order of
writing is the ledger's own sequence; clocks are not trusted. Does not know repair.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from py_core.store.heads import Head, Standing

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
    origins = tuple(roots)
    root_ids = {root.record_id for root in origins}
    within = {root.tenant for root in origins}
    own = [head for head in heads.values() if head.tenant in within and _can_be_shaped(head)]
    children: dict[str, list[str]] = {}
    for head in own:
        for source in head.derived_from:
            children.setdefault(source, []).append(head.record_id)
    found: dict[str, Spread] = {}
    _follow(root_ids, children, found, root_ids)
    for head in own:
        spread = _find_hidden_spread(head, origins)
        if spread and head.record_id not in found and head.record_id not in root_ids:
            found[head.record_id] = spread
    _follow(set(found), children, found, root_ids)
    return {key: found[key] for key in sorted(found)}


def is_undeclared(head: Head) -> bool:
    """Tell whether a record is made of others without saying of all which."""
    if head.kind not in MADE_KINDS or head.source.startswith(USER_SOURCE):
        return False
    return not head.derived_from or not head.source.startswith(COMPLETE_WRITERS)


def _can_be_shaped(head: Head) -> bool:
    return head.kind in MADE_KINDS and head.standing is not Standing.REJECTED


def _follow(
    begin: Iterable[str],
    children: Mapping[str, list[str]],
    found: dict[str, Spread],
    root_ids: set[str],
) -> None:
    """Add all that is reached over declared edges; circles end where they were."""
    queue = sorted(begin)
    while queue:
        for child in children.get(queue.pop(), ()):
            if child not in found and child not in root_ids:
                found[child] = "declared"
                queue.append(child)


def _find_hidden_spread(head: Head, roots: tuple[Root, ...]) -> Spread | None:
    for root in roots:
        if root.tenant != head.tenant:
            continue
        if is_undeclared(head) and head.sequence >= root.since:
            return "undeclared"
        if root.normalization_hash and root.normalization_hash == head.normalization_hash:
            return "echoed"
        if len(root.text) >= SHORTEST_ECHO_CHARS and root.text in head.text:
            return "echoed"
    return None
