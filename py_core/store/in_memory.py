"""The store in memory: for tests, and for a visit that keeps nothing.

Takes and gives what the port says. Does not outlive the process, and says so by `is_persistent`.
"""

from collections.abc import Collection, Sequence

from py_core.store.ports import (
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


class MemoryDatabase:
    """Rows in dictionaries."""

    def __init__(self) -> None:
        """Start empty, at revision 0."""
        self._areas: dict[Area, dict[str, Row]] = {area: {} for area in Area}
        self._revision = 0
        self._wiped_at = 0

    async def changes_since(self, area: Area, revision: int) -> Delta:
        """Read what changed."""
        rows = self._areas[area]
        changed = (rows[key] for key in sorted(rows) if rows[key].revision > revision)
        return Delta(self._revision, self._wiped_at, tuple(changed))

    async def read(self, area: Area, keys: Collection[str]) -> dict[str, str]:
        """Read texts."""
        rows = self._areas[area]
        found = ((key, rows[key].text) for key in keys if key in rows)
        return {key: text for key, text in found if text is not None}

    async def commit(self, base_revision: int, changes: Sequence[Change]) -> Committed | Stale:
        """Apply all changes; nothing in here can fail half way."""
        if base_revision != self._revision:
            return Stale(self._revision)
        self._revision += 1
        for change in changes:
            self._areas[change.area][change.key] = self._make_row(change)
        return Committed(self._revision)

    async def wipe(self) -> Committed:
        """Remove everything."""
        self._revision += 1
        self._wiped_at = self._revision
        for rows in self._areas.values():
            rows.clear()
        return Committed(self._revision)

    async def measure(self) -> StorageUse:
        """Count the characters of keys and texts."""
        used = sum(
            len(row.key) + len(row.text or "")
            for rows in self._areas.values()
            for row in rows.values()
        )
        return StorageUse(used_bytes=used, quota_bytes=None, is_persistent=False)

    async def persist(self) -> bool:
        """Memory ends with the process."""
        return False

    def _make_row(self, change: Change) -> Row:
        match change:
            case Put():
                return Row(change.key, self._revision, change.text)
            case Erase():
                return Row(change.key, self._revision, None)
