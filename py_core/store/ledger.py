"""The ledger: all heads in memory, records on demand, every change one commit.

Takes a database and decisions, gives snapshots. Before each decision it takes over what other tabs
have written; a decision that came too late is taken again on the new state, so nothing is lost and
nothing is written twice. Does not decide anything itself.
"""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from py_core.identity import content_hash
from py_core.memory_errors import StorageLostError
from py_core.records.kinds import Record
from py_core.records.record_text import read_record
from py_core.store.edits import Decide, Edit, Snapshot, Wanted, list_changes, plan_heads
from py_core.store.head_table import HeadTable
from py_core.store.heads import Head, read_heads
from py_core.store.pack_shelf import PackShelf
from py_core.store.packs import PACK_ROWS
from py_core.store.ports import Area, Database, Put, Row, Stale, StorageUse

MOST_ATTEMPTS = 50
MOST_PLANS = 500

LEDGER_ID = "ledger_id"
"""The choice that names the ledger; it follows from the first thing that was written."""

_ID_DIGITS = 16


def want_nothing(heads: Mapping[str, Head]) -> Collection[str]:
    """Ask for no record: the heads suffice."""
    del heads
    return ()


class Ledger:
    """The memory of one workspace."""

    def __init__(self, database: Database, pack_rows: int = PACK_ROWS) -> None:
        """Start unread; the first call reads."""
        self._database = database
        self._heads = HeadTable()
        self._packs = PackShelf(database, pack_rows)
        self._choices: dict[str, str] = {}
        self._wiped_at = 0
        self._revisions: dict[Area, int] = {Area.HEADS: 0, Area.CHOICES: 0}
        # Of two refreshes at once the slower one would bring older rows last.
        self._refreshing = asyncio.Lock()

    @property
    def heads(self) -> HeadTable:
        """All heads as of the last refresh."""
        return self._heads

    @property
    def revision(self) -> int:
        """The revision of the heads."""
        return self._revisions[Area.HEADS]

    @property
    def ledger_id(self) -> str:
        """The name of the ledger; empty until something was written."""
        return self._choices.get(LEDGER_ID, "")

    @property
    def wiped_at(self) -> int:
        """The last revision that removed everything, 0 for never."""
        return self._wiped_at

    async def read_anew(self) -> None:
        """Forget what was read and read whatever is there; nobody sees the moment between."""
        async with self._refreshing:
            self._heads.clear()
            self._choices.clear()
            self._packs.clear()
            self._revisions = dict.fromkeys(self._revisions, 0)
            await self._take_over_changes()

    async def refresh(self) -> None:
        """Take over what changed since the last time, in this tab or another."""
        async with self._refreshing:
            await self._take_over_changes()

    async def _take_over_changes(self) -> None:
        if self.revision == 0:
            self._revisions[Area.HEADS] = await self._packs.open(self._heads)
        before = self.revision
        rows = await self._read_changes(Area.HEADS, self._heads)
        self._packs.note_heads(rows)
        for row in rows:
            if row.text is None:
                self._heads.drop(row.key)
        self._heads.put_all(read_heads([row.text for row in rows if row.text is not None]))
        if self.revision == before == self._revisions[Area.CHOICES]:
            return
        for row in await self._read_changes(Area.CHOICES, self._choices):
            self._choices[row.key] = row.text or ""

    async def read_records(self, record_ids: Collection[str]) -> dict[str, Record]:
        """Open records; ids that are not there are left out."""
        texts = await self._database.read(Area.RECORDS, record_ids)
        return {key: read_record(text) for key, text in texts.items()}

    async def look(self, want: Wanted = want_nothing) -> Snapshot:
        """Give the present state, with the wanted records opened.

        The heads are those of the ledger itself: a decision has to end before the next refresh.
        """
        await self.refresh()
        records = await self.read_records(want(self._heads))
        return Snapshot(self.revision, self._heads, records, dict(self._choices))

    async def apply(self, decide: Decide, want: Wanted = want_nothing) -> tuple[Edit, Snapshot]:
        """Decide on the present state and commit; decide again when another tab was faster.

        Returns:
            The edit that was made, and the state it was made on.

        Raises:
            StorageLostError: other tabs write without end.
        """
        for _ in range(MOST_ATTEMPTS):
            snapshot = await self.look(want)
            base, edit = snapshot.revision, decide(snapshot)
            if edit.is_empty:
                return edit, snapshot
            edit = self._sign(edit)
            heads = plan_heads(edit, snapshot)
            changes = list_changes(edit, heads)
            if edit.erased:
                changes += await self._packs.erase(edit.erased)
            outcome = await self._database.commit(base, changes)
            if not isinstance(outcome, Stale):
                await self._take_over_own(edit, heads, base)
                return edit, snapshot
        raise StorageLostError(reason="other tabs never stop writing")

    def _sign(self, edit: Edit) -> Edit:
        """Name the ledger with its first edit."""
        if LEDGER_ID in self._choices:
            return edit
        first = [entry.record.envelope_hash for entry in edit.entries]
        name = content_hash([first, dict(edit.choices), self.revision])[:_ID_DIGITS]
        return edit.join(Edit(choices={LEDGER_ID: name}))

    async def _take_over_own(self, edit: Edit, heads: Mapping[str, Head], base: int) -> None:
        """Take over what this ledger has just written: nobody else can have come between."""
        async with self._refreshing:
            if self.revision == self._revisions[Area.CHOICES] == base:
                for record_id in edit.erased:
                    self._heads.drop(record_id)
                self._heads.put_all(heads.values())
                self._choices.update(edit.choices)
                self._revisions = dict.fromkeys(self._revisions, base + 1)
                self._packs.note_heads(
                    [Row(record_id, base + 1, "") for record_id in heads]
                    + [Row(record_id, base + 1, None) for record_id in edit.erased]
                )
            else:
                await self._take_over_changes()

    async def pack(self) -> int:
        """Write packs as long as enough heads wait for one; give how many were written."""
        written = 0
        while await self.pack_once():
            written += 1
        return written

    async def pack_once(self) -> bool:
        """Write one pack, or clear away old ones; tell whether there was something to do.

        When another tab writes at the same moment, the rest waits for another visit.
        """
        await self.refresh()
        base = self.revision
        order = await self._packs.order(self._heads)
        if order is None:
            return False
        if isinstance(await self._database.commit(base, order.changes), Stale):
            return False
        self._packs.keep(order)
        return True

    async def wipe(self) -> None:
        """Remove everything; another tab sees it at its next refresh."""
        await self._database.wipe()
        await self.refresh()

    async def note_plan(self, plan_hash: str, record_ids: Sequence[str], at: str) -> None:
        """Remember in which plan records stood; ids and hash only, no text."""
        plan = {"at": at, "plan_hash": plan_hash, "record_ids": list(record_ids)}
        for _ in range(MOST_ATTEMPTS):
            await self.refresh()
            # The shelf is a ring, so it never grows beyond its size.
            put = Put(Area.PLANS, str(self.revision % MOST_PLANS), json.dumps(plan))
            if not isinstance(await self._database.commit(self.revision, [put]), Stale):
                return
        raise StorageLostError(reason="other tabs never stop writing")

    async def find_plans(self, record_id: str) -> list[tuple[str, str]]:
        """Give time and hash of the plans that a record stood in, newest first, at most 500."""
        delta = await self._database.changes_since(Area.PLANS, 0)
        found = []
        for row in delta.rows:
            plan = json.loads(row.text or "{}")
            if record_id in plan.get("record_ids", ()):
                found.append((str(plan["at"]), str(plan["plan_hash"])))
        return sorted(found, reverse=True)

    async def read_area(self, area: Area) -> dict[str, str]:
        """Give all texts of an area."""
        delta = await self._database.changes_since(area, 0)
        return {row.key: row.text for row in delta.rows if row.text is not None}

    async def read_texts(self, area: Area, keys: Collection[str]) -> dict[str, str]:
        """Give some texts of an area."""
        return await self._database.read(area, keys)

    async def measure(self) -> StorageUse:
        """Tell how much room there is."""
        return await self._database.measure()

    async def persist(self) -> bool:
        """Ask that the memory is not evicted."""
        return await self._database.persist()

    async def _read_changes(self, area: Area, known: dict[str, Any]) -> Sequence[Row]:
        since = self._revisions[area]
        delta = await self._database.changes_since(area, since)
        if delta.revision < since:
            # Revisions never go back, so the store is gone and an empty one stands in its place.
            raise StorageLostError(reason="it was emptied from outside this page")
        if delta.wiped_at > since:
            known.clear()
            if area is Area.HEADS:
                self._packs.clear()
            delta = await self._database.changes_since(area, 0)
        self._revisions[area], self._wiped_at = delta.revision, delta.wiped_at
        return delta.rows
