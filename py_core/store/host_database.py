"""The store behind the shell's functions: IndexedDB in the browser.

Takes the host object, gives the port; JSON texts cross. The shell answers `{"error": name}` where
the browser refused, with the browser's own name for it. Does not know records.
"""

import json
from collections.abc import Awaitable, Collection, Sequence
from typing import Any, Protocol

from py_core.memory_errors import StorageFullError, StorageLostError
from py_core.store.ports import (
    Area,
    Change,
    Committed,
    Delta,
    Put,
    Row,
    Stale,
    StorageUse,
)


class DatabaseHost(Protocol):
    """The shell's functions for the ledger; each gives JSON."""

    def ledger_changes(self, area: str, revision: int, /) -> Awaitable[str]:
        """Give `{revision, wiped_at, rows: [[key, revision, text or null]]}`, sorted by key."""

    def ledger_read(self, area: str, keys: str, /) -> Awaitable[str]:
        """Give `{texts: [[key, text]]}` for a JSON list of keys."""

    def ledger_commit(self, base_revision: int, changes: str, /) -> Awaitable[str]:
        """Write `[[area, key, text or null]]`; give `{revision, is_committed}`."""

    def ledger_wipe(self) -> Awaitable[str]:
        """Remove all rows; give `{revision}`."""

    def ledger_measure(self) -> Awaitable[str]:
        """Give `{used_bytes, quota_bytes, is_persistent}`."""

    def ledger_persist(self) -> Awaitable[str]:
        """Give `{is_persistent}`."""


class HostDatabase:
    """The port over a host."""

    def __init__(self, host: DatabaseHost) -> None:
        """Keep the host; nothing is opened yet."""
        self._host = host

    async def changes_since(self, area: Area, revision: int) -> Delta:
        """Read what changed."""
        answer = _read_answer(await self._host.ledger_changes(area.value, revision))
        rows = tuple(Row(key, row_revision, text) for key, row_revision, text in answer["rows"])
        return Delta(answer["revision"], answer["wiped_at"], rows)

    async def read(self, area: Area, keys: Collection[str]) -> dict[str, str]:
        """Read texts; asking for none asks nobody."""
        if not keys:
            return {}
        answer = _read_answer(await self._host.ledger_read(area.value, json.dumps(list(keys))))
        return dict(answer["texts"])

    async def commit(self, base_revision: int, changes: Sequence[Change]) -> Committed | Stale:
        """Write; answered only when the browser's transaction is complete."""
        rows = [_to_row(change) for change in changes]
        text = json.dumps(rows, ensure_ascii=False)
        answer = _read_answer(await self._host.ledger_commit(base_revision, text))
        outcome = Committed if answer["is_committed"] else Stale
        return outcome(answer["revision"])

    async def wipe(self) -> Committed:
        """Remove everything."""
        return Committed(_read_answer(await self._host.ledger_wipe())["revision"])

    async def measure(self) -> StorageUse:
        """Tell how much room there is."""
        answer = _read_answer(await self._host.ledger_measure())
        return StorageUse(answer["used_bytes"], answer["quota_bytes"], answer["is_persistent"])

    async def persist(self) -> bool:
        """Ask the browser not to evict this site."""
        return bool(_read_answer(await self._host.ledger_persist())["is_persistent"])


def _to_row(change: Change) -> tuple[str, str, str | None]:
    return (change.area.value, change.key, change.text if isinstance(change, Put) else None)


def _read_answer(text: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(text)
    error = answer.get("error")
    if error == "QuotaExceededError":
        raise StorageFullError(
            used_bytes=answer.get("used_bytes"), quota_bytes=answer.get("quota_bytes")
        )
    if error is not None:
        raise StorageLostError(reason=str(error))
    return answer
