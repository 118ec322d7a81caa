"""Which records are past their time.

Takes heads and a time, gives ids. A record that was kept for a session ends with the next visit.
A clock that jumps back keeps records longer, never shorter than agreed. Does not know how they go.
"""

from collections.abc import Mapping

from py_core.store.head_table import as_table
from py_core.store.heads import Head


def find_ended(heads: Mapping[str, Head], now: str, *, is_new_session: bool) -> tuple[str, ...]:
    """Give the ids of all records whose time is over, sorted.

    Args:
        heads: the ledger.
        now: aware UTC in ISO form, as the heads write it, so that texts compare as times do.
        is_new_session: whether what was kept for a session belongs to an earlier one.
    """
    return tuple(
        sorted(
            head.record_id
            for head in as_table(heads).with_retention()
            if _has_ended(head, now, is_new_session)
        )
    )


def _has_ended(head: Head, now: str, is_new_session: bool) -> bool:  # noqa: FBT001 - private
    if head.kind == "Tombstone":
        return False
    match head.retention_rule:
        case "until":
            return head.keep_until <= now
        case "session":
            return is_new_session
        case _:
            return False
