"""Every implementation of the storage port that runs natively, and a way to run async calls."""

import asyncio
import json
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from py_core.memory_errors import StorageFullError
from py_core.store.host_database import HostDatabase
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ports import Area, Committed, Database, Erase, Put

Result = TypeVar("Result")

# The command line keeps its ledger in SQLite; the browser has IndexedDB for that.
HAS_SQLITE = sys.platform != "emscripten" and find_spec("sqlite3") is not None
KINDS = ("memory", "sqlite", "host") if HAS_SQLITE else ("memory", "host")


def run(waiting: Coroutine[Any, Any, Result]) -> Result:
    """Run one call to its end."""
    return asyncio.run(waiting)


def open_database(kind: str, folder: Path) -> Database:
    """Open an empty store of a kind."""
    match kind:
        case "memory":
            return MemoryDatabase()
        case "sqlite":
            database: Database = open_sqlite(folder / "ledger.sqlite")
            return database
        case _:
            return HostDatabase(FakeDatabaseHost())


@contextmanager
def opened_database(kind: str, folder: Path) -> Iterator[Database]:
    """Open an empty store of a kind for a while."""
    database = open_database(kind, folder)
    try:
        yield database
    finally:
        if kind == "sqlite":
            cast(Any, database).close()


def open_sqlite(path: Path) -> Any:
    """Open a file; the module is imported only where it can be."""
    return import_module("py_core.store.sqlite").SqliteDatabase(path)


class FakeDatabaseHost:
    """The database functions of the shell, as JSON texts over a store in memory."""

    def __init__(self, database: Database | None = None) -> None:
        self.database = database or MemoryDatabase()
        self.next_failure = ""
        self.lasting_failure = ""

    async def ledger_changes(self, area: str, revision: int) -> str:
        """Read what changed."""
        delta = await self.database.changes_since(Area(area), revision)
        rows = [[row.key, row.revision, row.text] for row in delta.rows]
        return self._answer({"revision": delta.revision, "wiped_at": delta.wiped_at, "rows": rows})

    async def ledger_read(self, area: str, keys: str) -> str:
        """Read texts."""
        found = await self.database.read(Area(area), json.loads(keys))
        return self._answer({"texts": list(found.items())})

    async def ledger_commit(self, base_revision: int, changes: str) -> str:
        """Write changes, if nobody was faster."""
        parsed = [
            Erase(Area(area), key) if text is None else Put(Area(area), key, text)
            for area, key, text in json.loads(changes)
        ]
        if self.next_failure or self.lasting_failure:
            return self._answer({})
        outcome = await self.database.commit(base_revision, parsed)
        is_committed = isinstance(outcome, Committed)
        return self._answer({"revision": outcome.revision, "is_committed": is_committed})

    async def ledger_wipe(self) -> str:
        """Remove everything."""
        return self._answer({"revision": (await self.database.wipe()).revision})

    async def ledger_measure(self) -> str:
        """Tell sizes."""
        use = await self.database.measure()
        return self._answer(
            {
                "used_bytes": use.used_bytes,
                "quota_bytes": use.quota_bytes,
                "is_persistent": use.is_persistent,
            }
        )

    async def ledger_persist(self) -> str:
        """Grant nothing."""
        return self._answer({"is_persistent": False})

    def _answer(self, value: dict[str, Any]) -> str:
        failure, self.next_failure = self.next_failure or self.lasting_failure, ""
        return json.dumps({"error": failure} if failure else value)


class FullDatabase(MemoryDatabase):
    """A store that has room for a number of commits."""

    def __init__(self, commits_left: int) -> None:
        super().__init__()
        self._commits_left = commits_left

    async def commit(self, base_revision, changes):
        """Commit while there is room."""
        if self._commits_left == 0:
            raise StorageFullError(used_bytes=1, quota_bytes=1)
        self._commits_left -= 1
        return await super().commit(base_revision, changes)
