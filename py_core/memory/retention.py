"""Which records are past their time.

Takes heads and a time, gives ids. A record that was kept for a session ends with the next visit.
A clock that jumps back keeps records longer, never shorter than agreed. Does not know how they go.
"""

from collections.abc import Mapping

from py_core.store.head_table import as_table
from py_core.store.heads import Head


def find_ended(heads: Mapping[str, Head], now: str, *, session_until: int) -> tuple[str, ...]:
    """Give the ids of all records whose time is over, sorted.

    Args:
        heads: the ledger.
        now: aware UTC in ISO form, as the heads write it, so that texts compare as times do.
        session_until: what was kept for a session up to this revision belongs to an earlier one;
            0 for nothing.
    """
    return tuple(
        sorted(
            head.record_id
            for head in as_table(heads).with_retention()
            if _has_ended(head, now, session_until)
        )
    )


def _has_ended(head: Head, now: str, session_until: int) -> bool:
    if head.kind == "Tombstone":
        return False
    match head.retention_rule:
        case "until":
            return head.keep_until <= now
        case "session":
            return head.sequence <= session_until
        case _:
            return False
