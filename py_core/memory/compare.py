"""What the ledger already says about the claims of a new record.

Takes a record and heads, gives the ids of active records that say something else, and of those that
say the same. Only slots with one value can disagree. Does not know who is right.
"""

from py_core.records.kinds import Record
from py_core.store.edits import Snapshot
from py_core.store.heads import Head


def compare(record: Record, snapshot: Snapshot) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give contradicting ids and repeating ids, sorted."""
    claims = {(fact.slot, fact.value) for fact in record.facts if not fact.is_list}
    slots = {slot for slot, _ in claims}
    repeats = [
        head.record_id
        for head in snapshot.heads.with_text(record.normalization_hash or "")
        if _is_comparable(head, record)
    ]
    contradicts = {
        head.record_id
        for slot in slots
        for head in snapshot.heads.with_slot(slot)
        if _is_comparable(head, record) and _disagrees(head, claims, slots)
    }
    return tuple(sorted(contradicts.difference(repeats))), tuple(sorted(repeats))


def _disagrees(head: Head, claims: set[tuple[str, str]], slots: set[str]) -> bool:
    return any(slot in slots and (slot, value) not in claims for slot, value in head.claims)


def _is_comparable(head: Head, record: Record) -> bool:
    is_same_place = (head.tenant, head.subject) == (record.tenant_binding, record.subject)
    return head.is_active and is_same_place and head.text_chars > 0
