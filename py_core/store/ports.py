"""The one port to durable storage: named areas of small texts, and commits that are all or nothing.

Takes changes that were decided on a known revision, gives the new revision, or says that somebody
else was faster. Every implementation keeps four promises:

    atomic      a commit is there as a whole or not at all
    durable     a commit that was answered survives the end of the program
    ordered     each commit gets the next revision; a row carries that of its last change
    honest      a commit on an old revision changes nothing, so no update of another tab is lost

Does not know records; texts are opaque.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

SCHEMA_VERSION = 3
"""Version 1 had settings only, version 2 no area for search."""


class Area(StrEnum):
    """The shelves of the store."""

    RECORDS = "records"
    HEADS = "heads"
    PLANS = "plans"
    CHOICES = "choices"
    STARTUP = "startup"
    OUTBOX = "outbox"
    CURSOR = "cursor"
    SEARCH = "search"
    """What can be made anew from the records, such as the index of their words."""


@dataclass(frozen=True, slots=True)
class Put:
    """Write a row, whether it is there or not."""

    area: Area
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Erase:
    """Take a row's text away; what stays is that the key was there."""

    area: Area
    key: str


Change = Put | Erase


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is now; None stands for an erased text."""

    key: str
    revision: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What happened in one area after a revision, in the order of keys.

    Attributes:
        revision: the revision of the store at the moment of reading.
        wiped_at: the last revision that wiped everything, 0 for never. Who knew less has to
            forget all before taking the rows.
        rows: each changed row once.
    """

    revision: int
    wiped_at: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Committed:
    """The changes are kept, as this revision."""

    revision: int


@dataclass(frozen=True, slots=True)
class Stale:
    """Nothing was changed: the store is already at this revision."""

    revision: int


@dataclass(frozen=True, slots=True)
class StorageUse:
    """Bytes in use and allowed; the limit is None where nobody states one."""

    used_bytes: int
    quota_bytes: int | None
    is_persistent: bool


class Database(Protocol):
    """Durable storage as the ledger sees it.

    Raises in any method:
        StorageFullError: there is no room; nothing was written.
        StorageLostError: the store cannot be used.
    """

    async def changes_since(self, area: Area, revision: int) -> Delta:
        """Read all rows of an area that changed after a revision; 0 gives all of them."""

    async def read(self, area: Area, keys: Collection[str]) -> dict[str, str]:
        """Read the texts of those keys that have one."""

    async def commit(self, base_revision: int, changes: Sequence[Change]) -> Committed | Stale:
        """Make all changes, if the store still is at the revision they were decided on."""

    async def wipe(self) -> Committed:
        """Remove every row of every area, and the marks of erased ones."""

    async def measure(self) -> StorageUse:
        """Tell how much room there is."""

    async def persist(self) -> bool:
        """Ask that the store is not evicted when room gets short; tell whether it is granted."""
