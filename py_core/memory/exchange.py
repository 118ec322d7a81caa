"""The memory as a file: JSON lines out, and foreign or damaged lines in.

Takes the ledger's heads and records, gives the lines of an export; takes the text of such a file,
gives an edit that merges it, or refuses the whole file with the number of the line. What was
deleted here stays deleted, what holds a secret is left out, and both are counted. Does not know
files or stores.

    line 1     {"format": "tinyloom-memory/1", "records": N, "sha256": hash over the other lines}
    others     {"record": ..., "standing": ..., "withdrawn_by": [...]}
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from py_core.errors import BadRequestError
from py_core.identity import sha256_hex
from py_core.memory.changes import Stamp
from py_core.memory.forget import forget
from py_core.memory.sensitivity import scan
from py_core.memory.versions import find_circle
from py_core.memory_errors import LedgerFileError
from py_core.records.kinds import Record, Tombstone
from py_core.records.read_request import read_json
from py_core.records.record_text import read_record, write_record
from py_core.store.edits import Edit, Entry, Restand, Snapshot
from py_core.store.heads import Head, Standing

FORMAT = "tinyloom-memory/1"
LARGEST_FILE_CHARS = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """One record of a file."""

    line: int
    record: Record
    standing: Standing
    withdrawn_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a file brings, in counts; nothing vanishes without one of them.

    Attributes:
        edit: what is to be committed.
        added: new records.
        known: records that are here already, equal in every byte.
        deleted_here: records that were deleted here; they stay deleted.
        with_secrets: records that hold a secret.
        foreign: records of another workspace.
        deletes: records of this ledger that the file's tombstones take away.
    """

    edit: Edit
    added: int
    known: int
    deleted_here: int
    with_secrets: int
    foreign: int
    deletes: tuple[str, ...]


def export_lines(heads: Mapping[str, Head], records: Mapping[str, Record]) -> str:
    """Write the whole ledger in the order in which it was written."""
    lines = []
    for head in sorted(heads.values(), key=lambda head: (head.sequence, head.record_id)):
        value = {
            "record": json.loads(write_record(records[head.record_id])),
            "standing": head.standing.value,
            "withdrawn_by": list(head.withdrawn_by),
        }
        lines.append(json.dumps(value, ensure_ascii=False, sort_keys=True))
    body = "".join(f"{line}\n" for line in lines)
    header = {"format": FORMAT, "records": len(lines), "sha256": sha256_hex(body.encode())}
    return f"{json.dumps(header)}\n{body}"


def read_lines(text: str) -> tuple[ImportedLine, ...]:
    """Read and check a file as a whole.

    Raises:
        LedgerFileError: with the first line and field that are wrong.
    """
    header, _, body = text.partition("\n")
    _check_header(header, body)
    lines = [_read_line(number, line) for number, line in enumerate(_split(body), 2)]
    _refuse_double_ids(lines)
    _refuse_circle(lines, {})
    return tuple(lines)


def merge(lines: Iterable[ImportedLine], snapshot: Snapshot, stamp: Stamp) -> ImportReport:
    """Decide what of a file is taken over.

    Raises:
        LedgerFileError: a record has an id of this ledger and another content, or its
            replacements run in a circle with those that are here.
    """
    counts = dict.fromkeys(("known", "deleted_here", "with_secrets", "foreign"), 0)
    gone_ids, gone_identities = _list_deleted(snapshot)
    taken: list[ImportedLine] = []
    for line in lines:
        fate = _find_fate(line, snapshot, stamp, gone_ids | gone_identities)
        if fate == "added":
            taken.append(line)
        else:
            counts[fate] += 1
    entries = tuple(Entry(line.record, line.standing) for line in taken)
    restands = tuple(
        Restand(line.record.record_id, line.standing, line.withdrawn_by)
        for line in taken
        if line.withdrawn_by
    )
    _refuse_circle(taken, snapshot.heads)
    deletes = _find_deleted_by(taken, snapshot)
    edit = Edit(entries=entries, restands=restands)
    if deletes:
        edit = edit.join(forget(deletes, snapshot, stamp).edit)
    return ImportReport(edit=edit, added=len(taken), deletes=deletes, **counts)


def _find_fate(line: ImportedLine, snapshot: Snapshot, stamp: Stamp, gone: frozenset[str]) -> str:
    record = line.record
    known = snapshot.heads.get(record.record_id)
    if known is not None:
        if known.content_identity != (record.content_identity or ""):
            _fail(line.line, "record.record_id", "expected an id of its own, it is in use here")
        return "known"
    if record.tenant_binding != stamp.tenant:
        return "foreign"
    names = {record.record_id, record.content_identity, *record.derived_from}
    if not isinstance(record, Tombstone) and names & gone:
        # What was made of something deleted here would bring it back.
        return "deleted_here"
    return "with_secrets" if scan(record.plain_text) else "added"


def _list_deleted(snapshot: Snapshot) -> tuple[frozenset[str], frozenset[str]]:
    tombstones = list(snapshot.heads.of_kind("Tombstone"))
    ids = frozenset(key for head in tombstones for key in head.supersedes)
    return ids, frozenset(head.content_identity for head in tombstones)


def _refuse_circle(lines: Sequence[ImportedLine], heads: Mapping[str, Head]) -> None:
    line_of = {line.record.record_id: line.line for line in lines}
    links = {line.record.record_id: line.record.supersedes for line in lines}
    links.update((key, head.supersedes) for key, head in heads.items())
    circle = find_circle(links)
    if circle:
        number = min((line_of[key] for key in circle if key in line_of), default=1)
        _fail(number, "record.supersedes", "expected no circle of replacements")


def _find_deleted_by(taken: Iterable[ImportedLine], snapshot: Snapshot) -> tuple[str, ...]:
    """Give the records of this ledger that tombstones of the file name."""
    named: set[str] = set()
    for line in taken:
        if isinstance(line.record, Tombstone):
            named.update((*line.record.supersedes, line.record.content_identity or ""))
    return tuple(
        sorted(
            key
            for key, head in snapshot.heads.items()
            if head.kind != "Tombstone" and {key, head.content_identity} & named
        )
    )


def _check_header(header: str, body: str) -> None:
    value = _read_object(1, header)
    if value.get("format") != FORMAT:
        _fail(1, "format", f"expected {FORMAT}")
    if len(body) > LARGEST_FILE_CHARS:
        _fail(1, "file", f"expected at most {LARGEST_FILE_CHARS} characters")
    if value.get("sha256") != sha256_hex(body.encode("utf-8", "surrogatepass")):
        _fail(1, "sha256", "expected the hash of the lines below, the file is damaged")
    if value.get("records") != len(_split(body)):
        _fail(1, "records", "expected the number of lines below")


def _split(body: str) -> list[str]:
    # `splitlines` would also cut at separators that stand inside of texts.
    return body.removesuffix("\n").split("\n") if body else []


def _read_line(number: int, text: str) -> ImportedLine:
    value = _read_object(number, text)
    if set(value) != {"record", "standing", "withdrawn_by"}:
        _fail(number, "line", "expected record, standing and withdrawn_by")
    standing, withdrawn_by = value["standing"], value["withdrawn_by"]
    if standing not in {known.value for known in Standing}:
        _fail(number, "standing", "expected a standing of the ledger")
    if not isinstance(withdrawn_by, list) or not all(isinstance(key, str) for key in withdrawn_by):
        _fail(number, "withdrawn_by", "expected a list of ids")
    try:
        record = read_record(json.dumps(value["record"]))
    except BadRequestError as error:
        raise LedgerFileError(
            line=number, field=f"record.{error.field}", expected=error.expected
        ) from error
    return ImportedLine(number, record, Standing(standing), tuple(withdrawn_by))


def _read_object(number: int, text: str) -> dict[str, object]:
    try:
        value = read_json(text.encode("utf-8", "surrogatepass"))
    except BadRequestError as error:
        raise LedgerFileError(line=number, field="line", expected=error.expected) from error
    if not isinstance(value, dict):
        _fail(number, "line", "expected a JSON object")
    return value


def _refuse_double_ids(lines: Iterable[ImportedLine]) -> None:
    seen: set[str] = set()
    for line in lines:
        if line.record.record_id in seen:
            _fail(line.line, "record.record_id", "expected an id of its own")
        seen.add(line.record.record_id)


def _fail(line: int, field: str, expected: str) -> NoReturn:
    raise LedgerFileError(line=line, field=field, expected=expected)
