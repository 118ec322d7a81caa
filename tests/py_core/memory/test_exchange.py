"""An export is a copy that can be checked, and a foreign file never undoes a deletion."""

import json

import pytest

from py_core.identity import sha256_hex
from py_core.memory.changes import Stamp
from py_core.memory.exchange import FORMAT, export_lines, merge, read_lines
from py_core.memory.forget import forget
from py_core.memory_errors import LedgerFileError
from py_core.store.edits import Snapshot
from py_core.store.head_table import HeadTable
from tests.py_core.memory.heads import (
    apply_edit,
    make_heads,
    make_said,
    make_snapshot,
    make_summary,
    make_typed,
)

STAMP = Stamp("ws-1", "2026-07-10T12:00:00+00:00")
EMPTY = Snapshot(0, HeadTable(), {}, {})


def export(snapshot):
    """Write a ledger."""
    return export_lines(snapshot.heads, snapshot.records)


def seal(*lines):
    """Put a right header over lines."""
    body = "".join(f"{line}\n" for line in lines)
    header = {"format": FORMAT, "records": len(lines), "sha256": sha256_hex(body.encode())}
    return json.dumps(header) + "\n" + body


def make_line(record_id="a", text="apples", **overrides):
    """Write one line of a file."""
    record = json.loads(make_said(record_id, text).model_dump_json())
    return json.dumps({"record": record | overrides, "standing": "active", "withdrawn_by": []})


def test_an_export_read_into_an_empty_ledger_gives_the_same_ledger():
    """Records, standings and order come back; a second import adds nothing."""
    snapshot = make_snapshot(
        make_said("a", "apples \u2028 are red"), make_summary("s", "red apples", ["a"])
    )
    lines = read_lines(export(snapshot))
    report = merge(lines, EMPTY, STAMP)
    copy = apply_edit(EMPTY, report.edit)

    assert copy.records == snapshot.records
    assert report.added == 2
    again = merge(lines, copy, STAMP)
    assert (again.added, again.known, again.edit.is_empty) == (0, 2, True)


def test_what_was_deleted_here_does_not_come_back():
    """Neither the record nor what was made of it."""
    snapshot = make_snapshot(
        make_said("a", "apples are red"), make_summary("s", "red apples", ["a"])
    )
    text = export(snapshot)
    after = apply_edit(snapshot, forget(["a"], snapshot, STAMP).edit)
    report = merge(read_lines(text), after, STAMP)
    assert (report.added, report.deleted_here) == (0, 2)


def test_a_tombstone_of_the_file_deletes_here():
    """A deletion on another device reaches this one, with everything made of the record."""
    snapshot = make_snapshot(
        make_said("a", "apples are red"), make_summary("s", "red apples", ["a"])
    )
    there = apply_edit(snapshot, forget(["a"], snapshot, STAMP).edit)
    report = merge(read_lines(export(there)), snapshot, STAMP)
    after = apply_edit(snapshot, report.edit)

    assert report.deletes == ("a", "s")
    assert {head.kind for head in after.heads.values()} == {"Tombstone"}


def test_a_secret_in_a_file_is_left_out_and_counted():
    """The search runs before anything durable, also on imports."""
    report = merge(read_lines(seal(make_line(text="my PIN is 4711"))), EMPTY, STAMP)
    assert (report.added, report.with_secrets) == (0, 1)


def test_records_of_another_workspace_are_left_out_and_counted():
    """A tenant's border holds for files too."""
    stranger = make_typed("x", "LongTermMemoryRecord", "x", tenant_binding="ws-2")
    text = export_lines(make_heads(stranger), {"x": stranger})
    assert merge(read_lines(text), EMPTY, STAMP).foreign == 1


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("", 1, "line"),
        ("{}", 1, "format"),
        ("[1]", 1, "line"),
        ('{"format": "other/1"}\n', 1, "format"),
        (seal(make_line()).replace("apples", "pears!"), 1, "sha256"),
        (seal(make_line())[:-40], 1, "sha256"),
        (seal(make_line()).replace('"records": 1', '"records": 2'), 1, "records"),
        (seal(make_line(), "not json"), 3, "line"),
        (seal('{"record": 1}'), 2, "line"),
        (seal(make_line(kind="Nonsense")), 2, "record.kind"),
        (seal(make_line(content_identity="0" * 64)), 2, "record.content_identity"),
        (seal(make_line().replace('"active"', '"undead"')), 2, "standing"),
        (seal(make_line().replace('"withdrawn_by": []', '"withdrawn_by": [1]')), 2, "withdrawn_by"),
        (seal(make_line(), make_line()), 3, "record.record_id"),
        (seal(make_line(supersedes=["a"])), 2, "record.supersedes"),
        (
            seal(make_line("a", supersedes=["b"]), make_line("b", supersedes=["a"])),
            2,
            "record.supersedes",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_line_and_field(text, line, field):
    """Nothing of it is taken over, and no text of it is repeated."""
    with pytest.raises(LedgerFileError) as refusal:
        read_lines(text)
    assert (refusal.value.line, refusal.value.field) == (line, field)
    assert "apples" not in str(refusal.value)


def test_an_id_in_use_with_other_content_refuses_the_file():
    """Two records never share an id."""
    here = make_snapshot(make_said("a", "pears"))
    with pytest.raises(LedgerFileError, match="in use here"):
        merge(read_lines(seal(make_line())), here, STAMP)


def test_a_circle_through_records_that_are_here_is_refused():
    """A record that supersedes itself through a chain never enters."""
    here = make_snapshot(make_said("a", "pears", supersedes=["b"]))
    with pytest.raises(LedgerFileError, match="circle"):
        merge(read_lines(seal(make_line("b", supersedes=["a"]))), here, STAMP)
