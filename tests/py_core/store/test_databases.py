"""The contract of the storage port, held by every implementation alike."""

import asyncio
import json
from contextlib import closing

import pytest

from py_core.memory_errors import StorageFullError, StorageLostError
from py_core.store.host_database import HostDatabase
from py_core.store.ports import SCHEMA_VERSION, Area, Committed, Erase, Put, Row, Stale
from tests.py_core.store.databases import (
    HAS_SQLITE,
    KINDS,
    FakeDatabaseHost,
    open_sqlite,
    opened_database,
    run,
)
from tests.source_tree import ROOT

needs_sqlite = pytest.mark.skipif(
    not HAS_SQLITE, reason="the ledger of the browser is not in SQLite"
)
OPERATIONS = json.loads((ROOT / "fixtures/memory/store_operations.json").read_text("utf-8"))


@pytest.fixture(params=KINDS)
def database(request, tmp_path):
    """An empty store of each kind."""
    with opened_database(request.param, tmp_path) as opened:
        yield opened


def test_a_commit_is_there_as_a_whole_with_the_next_revision(database):
    """All rows of a commit carry its revision, and each area gives its own."""
    outcome = run(database.commit(0, [Put(Area.HEADS, "b", "2"), Put(Area.RECORDS, "b", "3")]))

    assert outcome == Committed(1)
    delta = run(database.changes_since(Area.HEADS, 0))
    assert (delta.revision, delta.wiped_at, delta.rows) == (1, 0, (Row("b", 1, "2"),))
    assert run(database.read(Area.RECORDS, ["b", "x"])) == {"b": "3"}


def test_a_commit_on_an_old_revision_changes_nothing(database):
    """Two tabs that decided on the same state cannot both write."""
    run(database.commit(0, [Put(Area.HEADS, "a", "first")]))

    assert run(database.commit(0, [Put(Area.HEADS, "a", "lost")])) == Stale(1)
    assert run(database.read(Area.HEADS, ["a"])) == {"a": "first"}


def test_an_erased_row_gives_no_text_but_tells_that_it_changed(database):
    """Other tabs must hear of an erasure."""
    run(database.commit(0, [Put(Area.HEADS, "a", "secret"), Put(Area.HEADS, "b", "kept")]))
    run(database.commit(1, [Erase(Area.HEADS, "a")]))

    assert run(database.changes_since(Area.HEADS, 1)).rows == (Row("a", 2, None),)
    assert run(database.read(Area.HEADS, ["a", "b"])) == {"b": "kept"}


def test_only_what_changed_after_a_revision_is_read(database):
    """A tab pays for what is new, in the order of keys."""
    run(database.commit(0, [Put(Area.HEADS, "a", "1")]))
    run(database.commit(1, [Put(Area.HEADS, "c", "2"), Put(Area.HEADS, "b", "2")]))

    rows = run(database.changes_since(Area.HEADS, 1)).rows
    assert [row.key for row in rows] == ["b", "c"]


def test_wiping_leaves_no_row_and_no_mark(database):
    """Delete everything means keys as well; the revision goes on so that other tabs notice."""
    run(database.commit(0, [Put(area, "a", "x") for area in Area]))

    assert run(database.wipe()) == Committed(2)
    for area in Area:
        delta = run(database.changes_since(area, 0))
        assert (delta.revision, delta.wiped_at, delta.rows) == (2, 2, ())
    assert run(database.commit(2, [Put(Area.HEADS, "b", "y")])) == Committed(3)


def test_texts_come_back_as_they_were(database):
    """Line ends, quotes, astral characters and long texts survive."""
    text = 'a"b\\\n\r\u2028 \U0001f600 ' + "x" * 100_000
    run(database.commit(0, [Put(Area.STARTUP, "a b/ü", text)]))

    assert run(database.read(Area.STARTUP, ["a b/ü"])) == {"a b/ü": text}


def test_more_keys_than_one_query_takes_are_read(database):
    """The number of keys has no limit that a caller must know."""
    run(database.commit(0, [Put(Area.RECORDS, f"k{n}", str(n)) for n in range(1_200)]))

    found = run(database.read(Area.RECORDS, [f"k{n}" for n in range(1_200)]))
    assert found == {f"k{n}": str(n) for n in range(1_200)}


def test_of_simultaneous_commits_on_one_revision_one_wins(database):
    """Whoever loses hears the revision to decide on again."""

    async def race():
        asks = (database.commit(0, [Put(Area.HEADS, "a", str(n))]) for n in range(5))
        return await asyncio.gather(*asks)

    outcomes = run(race())
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Committed"] + ["Stale"] * 4


def test_recorded_operations_give_their_recorded_answers(database):
    """The same list is replayed on the browser's own database."""
    for step in OPERATIONS:
        match step["do"]:
            case "commit":
                changes = [
                    Erase(Area(area), key) if text is None else Put(Area(area), key, text)
                    for area, key, text in step["changes"]
                ]
                outcome = run(database.commit(step["base"], changes))
                is_committed = isinstance(outcome, Committed)
                answer = {"revision": outcome.revision, "is_committed": is_committed}
            case "changes":
                delta = run(database.changes_since(Area(step["area"]), step["since"]))
                rows = [[row.key, row.revision, row.text] for row in delta.rows]
                answer = {"revision": delta.revision, "wiped_at": delta.wiped_at, "rows": rows}
            case "read":
                texts = run(database.read(Area(step["area"]), step["keys"]))
                answer = {"texts": [[key, texts[key]] for key in step["keys"] if key in texts]}
            case _:
                answer = {"revision": run(database.wipe()).revision}
        assert answer == step["answer"]


@needs_sqlite
def test_a_sqlite_file_keeps_commits_and_no_erased_text(tmp_path):
    """The raw bytes of the file hold what was committed and nothing that was erased."""
    path = tmp_path / "ledger.sqlite"
    first = open_sqlite(path)
    text = "the quick brown fox " * 500
    run(first.commit(0, [Put(Area.RECORDS, "a", text), Put(Area.RECORDS, "b", "lazy dog")]))
    assert b"quick brown" in path.read_bytes()
    run(first.commit(1, [Erase(Area.RECORDS, "a")]))

    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"quick brown" not in kept
    assert b"lazy dog" in kept
    first.close()
    with closing(open_sqlite(path)) as again:
        assert run(again.changes_since(Area.RECORDS, 0)).revision == 2


@needs_sqlite
def test_two_connections_to_one_file_see_each_other(tmp_path):
    """Two processes on one file are like two tabs."""
    path = tmp_path / "ledger.sqlite"
    with closing(open_sqlite(path)) as first, closing(open_sqlite(path)) as second:
        run(first.commit(0, [Put(Area.HEADS, "a", "1")]))

        assert run(second.commit(0, [Put(Area.HEADS, "a", "2")])) == Stale(1)
        assert run(second.commit(1, [Put(Area.HEADS, "a", "2")])) == Committed(2)
        assert run(first.read(Area.HEADS, ["a"])) == {"a": "2"}


@needs_sqlite
def test_a_full_disk_writes_nothing(tmp_path):
    """Storage that fills up in the middle of a write leaves the state before it."""
    with closing(open_sqlite(tmp_path / "ledger.sqlite")) as database:
        run(database.commit(0, [Put(Area.RECORDS, "a", "small")]))
        pages = database._connection.execute("PRAGMA page_count").fetchone()[0]
        database._connection.execute(f"PRAGMA max_page_count = {pages + 2}")

        puts = [Put(Area.RECORDS, "a", "changed"), Put(Area.RECORDS, "b", "x" * 100_000)]
        with pytest.raises(StorageFullError):
            run(database.commit(1, puts))
        assert run(database.read(Area.RECORDS, ["a", "b"])) == {"a": "small"}
        assert run(database.changes_since(Area.RECORDS, 0)).revision == 1


@needs_sqlite
def test_a_file_that_is_no_database_is_refused_without_its_text(tmp_path):
    """The error names SQLite's own code."""
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"no database at all, but long enough to look at" * 100)

    with pytest.raises(StorageLostError) as refusal:
        open_sqlite(path)
    assert refusal.value.reason == "SQLITE_NOTADB"


@needs_sqlite
def test_a_newer_file_is_refused(tmp_path):
    """An older program must not write into what it does not know."""
    database = open_sqlite(tmp_path / "ledger.sqlite")
    database._connection.execute("PRAGMA user_version = 99")
    database.close()

    with pytest.raises(StorageLostError, match="newer"):
        open_sqlite(tmp_path / "ledger.sqlite")


@needs_sqlite
def test_a_file_of_the_version_before_is_taken_over(tmp_path):
    """Areas are rows, so what was kept is there and the new area is empty."""
    database = open_sqlite(tmp_path / "ledger.sqlite")
    run(database.commit(0, [Put(Area.RECORDS, "a", "kept")]))
    database._connection.execute("PRAGMA user_version = 2")
    database.close()

    again = open_sqlite(tmp_path / "ledger.sqlite")
    assert run(again.read(Area.RECORDS, ["a"])) == {"a": "kept"}
    assert run(again.read(Area.SEARCH, ["a"])) == {}
    assert again._connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    again.close()


@pytest.mark.parametrize(
    ("name", "error"),
    [("QuotaExceededError", StorageFullError), ("InvalidStateError", StorageLostError)],
)
def test_a_refusal_of_the_browser_becomes_our_error(name, error):
    """The page can tell a full store from a lost one, and nothing was written."""
    host = FakeDatabaseHost()
    database = HostDatabase(host)
    host.next_failure = name

    with pytest.raises(error):
        run(database.commit(0, [Put(Area.HEADS, "a", "1")]))
    assert run(database.commit(0, [Put(Area.HEADS, "a", "1")])) == Committed(1)
