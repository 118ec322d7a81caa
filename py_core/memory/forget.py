"""Deletion: the texts go at once, marks without text stay.

Takes record ids, gives a verdict that erases them with all their versions and everything that was
made of them, and that writes a tombstone for each. What is rebuilt afterwards is made only of what
is left. Does not know the store.
"""

from collections.abc import Sequence

from py_core.memory.changes import Stamp
from py_core.memory.compose import compose_tombstone
from py_core.memory.influence import Root
from py_core.memory.rebuild import SummaryShop
from py_core.memory.repair import plan_repair
from py_core.memory.verdict import Verdict
from py_core.memory.versions import find_versions
from py_core.memory_errors import ChangeRefusedError
from py_core.store.edits import Edit, Entry, Snapshot
from py_core.store.heads import Head


def forget(record_ids: Sequence[str], snapshot: Snapshot, stamp: Stamp) -> Verdict:
    """Erase records.

    Raises:
        ChangeRefusedError: one of them is not there (any more), or is a mark of a deletion.
    """
    targets = [require_head(record_id, snapshot) for record_id in record_ids]
    if any(head.kind == "Tombstone" for head in targets):
        raise ChangeRefusedError(field="record_ids", expected="names a mark of a deletion")
    chain = sorted({key for head in targets for key in find_versions(snapshot.heads, head)})
    roots = [make_root(snapshot.heads[key]) for key in chain]
    plan = plan_repair(snapshot.heads, roots, {}, SummaryShop(snapshot.heads))
    erased = tuple(dict.fromkeys((*chain, *plan.cone_ids, *plan.old_versions)))
    tombstones = [compose_tombstone(snapshot.heads[key], stamp) for key in erased]
    edit = Edit(entries=tuple(map(Entry, tombstones)), erased=erased)
    return Verdict(edit, erased=erased, repair=plan)


def make_root(head: Head) -> Root:
    """Describe a record that changes or goes."""
    return Root(head.record_id, head.tenant, head.sequence, head.text, head.normalization_hash)


def require_head(record_id: str, snapshot: Snapshot) -> Head:
    """Give a head.

    Raises:
        ChangeRefusedError: another tab has deleted the record.
    """
    head = snapshot.heads.get(record_id)
    if head is None:
        raise ChangeRefusedError(field="record_id", expected="is not in the memory any more")
    return head
