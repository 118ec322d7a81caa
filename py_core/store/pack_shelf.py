"""Which heads lie in which pack, and which wait to be packed.

Takes the rows of the packs and of the heads as they are read, gives the rows that a deletion or a
packing has to write beside its own. Packs only ever repeat what the heads say: without them a
memory opens more slowly, and they are written anew. Does not know when that is due.
"""

import gc
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import nsmallest
from operator import itemgetter

from py_core.store.head_table import HeadTable
from py_core.store.packs import drop_from_pack, read_pack, write_pack
from py_core.store.ports import Area, Change, Database, Delta, Erase, Put, Row

MOST_COPIES = 2
"""How often a head may lie in packs on average before all packs are written anew."""

_KEY_DIGITS = 8


@dataclass(frozen=True, slots=True)
class _Known:
    """What is remembered of a pack: the revision it is complete to, and whose heads it holds."""

    until: int
    record_ids: tuple[str, ...]


_Waiting = list[tuple[str, int]]
_NOTHING = _Known(0, ())


@dataclass(frozen=True, slots=True)
class PackOrder:
    """What to write for one pack; without a key, the end of all packs."""

    changes: tuple[Change, ...]
    key: str
    pack: _Known


class PackShelf:
    """The packs of one ledger, as far as they are known here.

    All heads that changed after `_covered` wait here. A pack may say that it is complete to a
    revision only while the packs that are there are complete to `_covered`.
    """

    def __init__(self, database: Database, pack_rows: int) -> None:
        """Know nothing yet."""
        self._database, self._pack_rows = database, pack_rows
        self._packs: dict[str, _Known] = {}
        self._waiting: dict[str, int] = {}
        self._revision = self._covered = self._last_number = 0
        self._is_damaged = False

    async def open(self, heads: HeadTable) -> int:
        """Fill an empty table; give the revision that the packs are complete to."""
        self.clear()
        delta = await self._database.changes_since(Area.PACKS, 0)
        try:
            with _without_collections():
                self._take_over(delta, heads)
        except (ValueError, KeyError):
            # All heads are read from their own rows then, and all packs are written anew.
            heads.clear()
            self._packs = {row.key: _NOTHING for row in delta.rows if row.text is not None}
            self._is_damaged = True
        self._covered = self._until
        return self._covered

    def clear(self) -> None:
        """Everything was wiped."""
        self._packs.clear()
        self._waiting.clear()
        self._covered, self._is_damaged = 0, False

    def note_heads(self, rows: Iterable[Row]) -> None:
        """Take note of heads that were written or erased."""
        for row in rows:
            if row.text is None:
                self._waiting.pop(row.key, None)
            else:
                self._waiting[row.key] = row.revision

    async def erase(self, record_ids: Collection[str]) -> list[Change]:
        """Give the packs without these heads, for the commit that erases them."""
        await self._catch_up()
        gone = frozenset(record_ids)
        keys = [key for key, pack in self._packs.items() if not gone.isdisjoint(pack.record_ids)]
        texts = await self._database.read(Area.PACKS, keys)
        return [Put(Area.PACKS, key, drop_from_pack(text, gone)) for key, text in texts.items()]

    async def order(self, heads: HeadTable) -> PackOrder | None:
        """Give the next pack to write, or None when too little waits for one."""
        await self._catch_up()
        if self._until < self._covered:
            # Packs are gone that others were built upon: begin again with all heads.
            self._waiting, self._covered = dict.fromkeys(heads, self._revision), 0
        copies = sum(len(pack.record_ids) for pack in self._packs.values())
        if self._is_damaged or copies > MOST_COPIES * (len(heads) + self._pack_rows):
            return PackOrder(tuple(Erase(Area.PACKS, key) for key in self._packs), "", _NOTHING)
        if len(self._waiting) < self._pack_rows:
            return None
        oldest = nsmallest(self._pack_rows + 1, self._waiting.items(), key=itemgetter(1))
        chosen, rest = oldest[: self._pack_rows], oldest[self._pack_rows :]
        ids = tuple(key for key, _ in chosen)
        known = _Known(_find_end(chosen, rest, self._until), ids)
        key = f"{self._last_number + 1:0{_KEY_DIGITS}}"
        text = write_pack(known.until, (heads[record_id] for record_id in ids))
        return PackOrder((Put(Area.PACKS, key, text),), key, known)

    def keep(self, order: PackOrder) -> None:
        """Take note of an order that was carried out."""
        if not order.key:
            self._packs.clear()
            self._is_damaged = False
            return
        self._packs[order.key] = order.pack
        self._last_number = int(order.key)
        for record_id in order.pack.record_ids:
            self._waiting.pop(record_id, None)
        self._covered = self._until

    @property
    def _until(self) -> int:
        return max((pack.until for pack in self._packs.values()), default=0)

    async def _catch_up(self) -> None:
        """Learn which packs other tabs have written; their heads are known here already."""
        self._take_over(await self._database.changes_since(Area.PACKS, self._revision), None)
        until = self._until
        if until > self._covered:
            done = [key for key, revision in self._waiting.items() if revision <= until]
            for key in done:
                del self._waiting[key]
            self._covered = until

    def _take_over(self, delta: Delta, heads: HeadTable | None) -> None:
        if delta.wiped_at > self._revision:
            self._packs.clear()
        self._revision = delta.revision
        for row in sorted(delta.rows, key=lambda row: row.key):
            self._last_number = max(self._last_number, int(row.key))
            if row.text is None:
                self._packs.pop(row.key, None)
                continue
            pack = read_pack(row.text)
            self._packs[row.key] = _Known(pack.until, pack.record_ids)
            if heads is not None:
                heads.put_rows(pack.record_ids, pack.rows)


def _find_end(chosen: _Waiting, rest: _Waiting, until: int) -> int:
    """Give the revision that a pack is complete to, the oldest of the rest coming behind it."""
    if not rest:
        return chosen[-1][1]
    # A revision that goes on in the next pack is complete only there.
    whole = (revision for _, revision in chosen if revision < rest[0][1])
    return max(whole, default=until)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Make many small objects without a search for circles among them after each few hundred."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
