"""Builders of heads and small ledgers for tests of the memory."""

from collections.abc import Mapping
from typing import Any

from py_core.records.kinds import Record
from py_core.records.record_text import make_record as read_value
from py_core.store.edits import Edit, Snapshot, plan_heads
from py_core.store.head_table import HeadTable
from py_core.store.heads import Standing, make_head
from tests.record_builders import make_record


def make_typed(record_id: str, kind: str, text: str | None = None, **overrides: Any) -> Record:
    """Build a record as it lies in the ledger."""
    return read_value(make_record(record_id, kind, text, **overrides))


def make_said(record_id: str, text: str, **overrides: Any) -> Record:
    """Build a memory in the user's own words."""
    values = {"source": "user:remember", **overrides}
    return make_typed(record_id, "LongTermMemoryRecord", text, **values)


def make_summary(record_id: str, text: str, sources: list[str], **overrides: Any) -> Record:
    """Build a summary of our own, which declares its sources."""
    values = {"source": "summary:extractive/1", "derived_from": sources, **overrides}
    return make_typed(record_id, "ShortTermSummary", text, **values)


def make_heads(*records: Record) -> HeadTable:
    """Give heads as if the records were written one after the other."""
    return HeadTable(
        {
            record.record_id: make_head(record, Standing.ACTIVE, sequence)
            for sequence, record in enumerate(records, 1)
        }
    )


def make_snapshot(
    *records: Record, choices: Mapping[str, str] | None = None, revision: int | None = None
) -> Snapshot:
    """Give a ledger with these records, all opened."""
    return Snapshot(
        revision=len(records) if revision is None else revision,
        heads=make_heads(*records),
        records={record.record_id: record for record in records},
        choices=dict(choices or {}),
    )


def apply_edit(snapshot: Snapshot, edit: Edit) -> Snapshot:
    """Give the ledger after an edit, as a commit would leave it."""
    heads = HeadTable({**snapshot.heads, **plan_heads(edit, snapshot)})
    records = {
        **snapshot.records,
        **{entry.record.record_id: entry.record for entry in edit.entries},
    }
    for record_id in edit.erased:
        heads.pop(record_id, None)
        records.pop(record_id, None)
    choices = {**snapshot.choices, **edit.choices}
    return Snapshot(snapshot.revision + 1, heads, records, choices)
