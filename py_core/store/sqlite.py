"""The store in one SQLite file: for the command line and for people who run the core natively.

Takes a path, gives the port. Erased texts are overwritten in the file, and each commit is on disk
before it is answered. Several processes may share the file. Does not know records.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from py_core.memory_errors import StorageFullError, StorageLostError
from py_core.store.ports import (
    SCHEMA_VERSION,
    Area,
    Change,
    Committed,
    Delta,
    Erase,
    Put,
    Row,
    Stale,
    StorageUse,
)

BUSY_SECONDS = 10.0
KEYS_PER_QUERY = 500

_TABLES = """
CREATE TABLE rows (
    area TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, text TEXT,
    PRIMARY KEY (area, key)
) WITHOUT ROWID;
CREATE INDEX rows_by_revision ON rows (area, revision);
CREATE TABLE state (revision INTEGER NOT NULL, wiped_at INTEGER NOT NULL);
INSERT INTO state VALUES (0, 0);
"""
_WRITE = (
    "INSERT INTO rows VALUES (?, ?, ?, ?) "
    "ON CONFLICT (area, key) DO UPDATE SET revision = excluded.revision, text = excluded.text"
)


class SqliteDatabase:
    """One file, one connection."""

    def __init__(self, path: Path | str) -> None:
        """Open or create the file.

        Raises:
            StorageLostError: it is no database, or one of a newer version.
        """
        with _translated():
            self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            # With a rollback journal and this setting no page of an erased text stays behind.
            self._connection.execute("PRAGMA secure_delete = ON")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._migrate()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    async def changes_since(self, area: Area, revision: int) -> Delta:
        """Read what changed, in one snapshot."""
        with self._transaction("DEFERRED"):
            current, wiped_at = self._read_state()
            rows = self._connection.execute(
                "SELECT key, revision, text FROM rows WHERE area = ? AND revision > ? ORDER BY key",
                (area.value, revision),
            )
            return Delta(current, wiped_at, tuple(Row(*row) for row in rows))

    async def read(self, area: Area, keys: Collection[str]) -> dict[str, str]:
        """Read texts, some hundreds a query."""
        wanted, found = list(keys), dict[str, str]()
        with self._transaction("DEFERRED"):
            for begin in range(0, len(wanted), KEYS_PER_QUERY):
                part = wanted[begin : begin + KEYS_PER_QUERY]
                marks = ", ".join("?" * len(part))
                query = (
                    "SELECT key, text FROM rows "
                    f"WHERE area = ? AND text IS NOT NULL AND key IN ({marks})"
                )
                found.update(self._connection.execute(query, (area.value, *part)).fetchall())
        return found

    async def commit(self, base_revision: int, changes: Sequence[Change]) -> Committed | Stale:
        """Write in one transaction that takes the write lock before it looks."""
        with self._transaction("IMMEDIATE"):
            current, _ = self._read_state()
            if current != base_revision:
                return Stale(current)
            revision = current + 1
            self._connection.executemany(_WRITE, [_to_row(change, revision) for change in changes])
            self._connection.execute("UPDATE state SET revision = ?", (revision,))
        return Committed(revision)

    async def wipe(self) -> Committed:
        """Remove every row and give the room back to the disk."""
        with self._transaction("IMMEDIATE"):
            current, _ = self._read_state()
            revision = current + 1
            self._connection.execute("DELETE FROM rows")
            self._connection.execute("UPDATE state SET revision = ?, wiped_at = ?", (revision,) * 2)
        with _translated():
            self._connection.execute("VACUUM")
        return Committed(revision)

    async def measure(self) -> StorageUse:
        """Give the size of the file."""
        with _translated():
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
            page_bytes = self._connection.execute("PRAGMA page_size").fetchone()[0]
        return StorageUse(used_bytes=pages * page_bytes, quota_bytes=None, is_persistent=True)

    async def persist(self) -> bool:
        """Nobody evicts a file."""
        return True

    def _migrate(self) -> None:
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise StorageLostError(reason=f"its version {version} is newer than {SCHEMA_VERSION}")
        if version == SCHEMA_VERSION:
            return
        with self._transaction("IMMEDIATE"):
            # Another process may have been faster between the look and the lock.
            if self._connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._connection.execute(statement)
            # Areas are rows of one table, so a file of an older version needs nothing else.
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _read_state(self) -> tuple[int, int]:
        revision, wiped_at = self._connection.execute(
            "SELECT revision, wiped_at FROM state"
        ).fetchone()
        return revision, wiped_at

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        with _translated():
            self._connection.execute(f"BEGIN {kind}")
            try:
                yield
            except BaseException:
                # A full disk has already ended the transaction.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _to_row(change: Change, revision: int) -> tuple[str, str, int, str | None]:
    match change:
        case Put():
            return (change.area.value, change.key, revision, change.text)
        case Erase():
            return (change.area.value, change.key, revision, None)


@contextmanager
def _translated() -> Iterator[None]:
    """Turn SQLite's errors into ours; its messages name tables, never texts."""
    try:
        yield
    except sqlite3.Error as error:
        # Built without error codes an error has no such attribute.
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if name == "SQLITE_FULL":
            raise StorageFullError from error
        raise StorageLostError(reason=name) from error
