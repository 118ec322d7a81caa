"""The memory of one workspace, as the page and the command line use it.

Takes a ledger, a tenant and the time; runs decisions: shows what a change would do, commits it,
then rebuilds what is worth it. Barrier and publication are two commits, so that nothing withdrawn
is ever served, whatever happens in between. Does not know messages or the browser.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from py_core.memory.browse import (
    BrowseAsk,
    BrowsePage,
    History,
    browse,
    trace_history,
)
from py_core.memory.changes import MemoryChange, Stamp, Sweep
from py_core.memory.compose import list_deleted_identities
from py_core.memory.decide_change import decide_change, want_records
from py_core.memory.exchange import ImportReport, export_lines, merge, read_lines
from py_core.memory.inference import suggest
from py_core.memory.rebuild import Rebuilder, SuccessorCheck
from py_core.memory.repair import RepairPlan, publish_repairs
from py_core.memory.retention import find_ended
from py_core.memory.startup import (
    BootPackage,
    FilePackage,
    make_boot_package,
    read_package,
)
from py_core.memory.summary import summarise
from py_core.memory.verdict import Verdict
from py_core.memory_errors import ChangeRefusedError, StorageFullError, StorageLostError
from py_core.records.kinds import Record, ShortTermSummary
from py_core.store.edits import Edit, Entry, Snapshot
from py_core.store.head_table import HeadTable, as_table
from py_core.store.heads import Head
from py_core.store.ledger import Ledger
from py_core.store.loss import Loss, find_loss
from py_core.store.ports import Area, Put, StorageUse

MOST_DRAFTS = 8


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that was made: what it did, and old id to new id of what was rebuilt."""

    verdict: Verdict
    rebuilt: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record opened: itself, its history, and the plans it stood in, newest first."""

    record: Record
    history: History
    plans: tuple[tuple[str, str], ...]


class MemoryKeeper:
    """Runs what the memory decides."""

    def __init__(self, ledger: Ledger, tenant: str) -> None:
        """Serve one workspace."""
        self._ledger, self._tenant = ledger, tenant
        self._found_revision = 0
        self._drafts: dict[str, ShortTermSummary] = {}

    @property
    def ledger_id(self) -> str:
        """Which ledger this is; empty until something was written."""
        return self._ledger.ledger_id

    @property
    def revision(self) -> int:
        """The ledger's revision as far as it was read; a retraction names it."""
        return self._ledger.revision

    async def warm(self, pause: Callable[[], Awaitable[object]]) -> None:
        """Read the memory ahead of the first request; one that cannot be read says so then.

        What is only needed later is made in steps, so that a request never waits for all of it.
        """
        with suppress(StorageLostError, StorageFullError):
            await self._ledger.refresh()
            for _ in self._ledger.heads.warm_steps():
                await pause()

    async def open(self) -> None:
        """Read the heads for the first time; what is kept for a visit from here on is its own.

        Raises:
            StorageLostError: the store cannot be used.
        """
        await self._ledger.refresh()
        self._found_revision = self._ledger.revision

    async def start_visit(self, now: str, *, is_new_session: bool) -> tuple[str, ...]:
        """Delete what is past its time; give the ids of what went.

        Args:
            now: the time of day.
            is_new_session: whether no other tab is open, so that what was kept for a visit goes.
        """
        sweep = Sweep(self._found_revision if is_new_session else 0)
        return (await self.apply(sweep, now)).verdict.erased

    async def end_what_is_over(self, now: str) -> None:
        """Delete what is past its time, while a page stays open; a look at the heads if nothing is.

        Raises:
            StorageFullError: there is no room for the marks.
            StorageLostError: the store cannot be used.
        """
        if find_ended(await self.list_heads(), self._stamp(now).now, session_until=0):
            with suppress(ChangeRefusedError):
                await self.apply(Sweep(), now)

    async def pack(self, pause: Callable[[], Awaitable[object]]) -> None:
        """Put heads that were written since the last visit together, for a faster start."""
        with suppress(StorageLostError, StorageFullError):
            while await self._ledger.pack_once():
                await pause()

    async def preview(self, change: MemoryChange, now: str) -> Verdict:
        """Show what a change would do.

        Raises:
            ChangeRefusedError: it makes no sense now.
            SensitiveTextError: a text holds a secret.
        """
        snapshot = await self._ledger.look(lambda heads: want_records(change, heads))
        return decide_change(change, snapshot, self._stamp(now))

    async def apply(self, change: MemoryChange, now: str) -> Applied:
        """Make a change, decided on the state at the moment of its commit.

        Raises:
            ChangeRefusedError: it makes no sense any more.
            SensitiveTextError: a text holds a secret; nothing was kept.
            StorageFullError: nothing was kept.
        """
        verdicts: list[Verdict] = []

        def decide(snapshot: Snapshot) -> Edit:
            verdicts.append(decide_change(change, snapshot, self._stamp(now)))
            return verdicts[-1].edit

        await self._ledger.apply(decide, lambda heads: want_records(change, heads))
        rebuilt = await self._publish(verdicts[-1].repair, now)
        return Applied(verdicts[-1], rebuilt)

    async def suggest(self, message: str, message_id: str, now: str) -> tuple[str, ...]:
        """Let a message of the user leave pending inferences; give their ids."""
        stamp = self._stamp(now)
        edit, _ = await self._ledger.apply(
            lambda snapshot: suggest(message, message_id, snapshot, stamp)
        )
        return tuple(entry.record.record_id for entry in edit.entries)

    async def summarise(self, records: Sequence[Record], now: str) -> Record | None:
        """Keep a summary of records by rule; unreviewed until the user confirms it."""
        summary = summarise(records, self._stamp(now))
        if summary is not None:
            entry = Edit(entries=(Entry(summary),))
            await self._ledger.apply(
                lambda snapshot: Edit() if summary.record_id in snapshot.heads else entry
            )
        return summary

    def keep_draft(self, summary: ShortTermSummary) -> None:
        """Hold a summary until the user has seen it; nothing is written."""
        self._drafts[summary.record_id] = summary
        for oldest in list(self._drafts)[:-MOST_DRAFTS]:
            del self._drafts[oldest]

    def find_draft(self, draft_id: str) -> ShortTermSummary:
        """Give a summary that was shown.

        Raises:
            ChangeRefusedError: it was shown too long ago.
        """
        if draft_id not in self._drafts:
            raise ChangeRefusedError(field="draft_id", expected="has to be shown first")
        return self._drafts[draft_id]

    async def read_serving(self, record_ids: Collection[str] | None = None) -> tuple[Record, ...]:
        """Open what a compiler may see: active records and the marks of deletions.

        Args:
            record_ids: those that retrieval asks for; None for all.
        """
        await self._ledger.refresh()
        wanted = self._ledger.heads if record_ids is None else record_ids
        active = [
            key for key in wanted if key in self._ledger.heads and self._ledger.heads[key].is_active
        ]
        records = await self._ledger.read_records(active)
        # A record that went in the meantime is missing here, and that is right.
        return tuple(records[key] for key in sorted(records))

    @property
    def heads(self) -> HeadTable:
        """All heads as they were read last."""
        return self._ledger.heads

    async def list_heads(self) -> Mapping[str, Head]:
        """Give all heads as they are now."""
        await self._ledger.refresh()
        return self._ledger.heads

    async def browse(self, ask: BrowseAsk) -> BrowsePage:
        """List a page."""
        return browse(await self.list_heads(), ask)

    async def show(self, record_id: str) -> RecordView | None:
        """Open one record; None when it is gone."""
        heads = await self.list_heads()
        records = await self._ledger.read_records([record_id])
        if record_id not in records:
            return None
        plans = await self._ledger.find_plans(record_id)
        return RecordView(records[record_id], trace_history(heads, record_id), tuple(plans))

    async def note_plan(self, plan_hash: str, record_ids: Sequence[str], now: str) -> None:
        """Remember which records stood in a plan."""
        if record_ids:
            await self._ledger.note_plan(plan_hash, record_ids, now)

    async def export(self) -> str:
        """Write the whole memory as lines."""
        heads = dict(await self.list_heads())
        records = await self._ledger.read_records(heads)
        present = {key: head for key, head in heads.items() if key in records}
        return export_lines(present, records)

    async def merge(self, text: str, now: str, *, is_preview: bool = False) -> ImportReport:
        """Take over an export, or show what that would do.

        Raises:
            LedgerFileError: the file is foreign or damaged; nothing was taken over.
        """
        lines, reports = read_lines(text), list[ImportReport]()

        def decide(snapshot: Snapshot) -> Edit:
            reports.append(merge(lines, snapshot, self._stamp(now)))
            return reports[-1].edit

        if is_preview:
            decide(await self._ledger.look())
        else:
            await self._ledger.apply(decide)
        return reports[-1]

    async def read_startup(self) -> FilePackage:
        """Read the start-up files."""
        return read_package(await self._ledger.read_area(Area.STARTUP))

    async def read_boot(self, package: FilePackage, now: str) -> BootPackage:
        """Put together what a session begins with, from what is kept now."""
        heads = await self.list_heads()
        profile = [head.record_id for head in as_table(heads).of_kind("UserPreferenceAssertion")]
        fields = await self.read_serving(profile)
        waiting = await self._ledger.read_area(Area.OUTBOX)
        cursor = (await self._ledger.read_area(Area.CURSOR)).get("revision", "")
        return make_boot_package(package.files, fields, sorted(waiting), cursor, self._stamp(now))

    async def write_startup(self, path: str, text: str) -> FilePackage:
        """Check and keep one start-up file.

        Raises:
            StartupFileError: a rule is broken; the old file stays.
        """
        checked = read_package({path: text})
        if checked.broken:
            raise checked.broken[0]
        put = Put(Area.STARTUP, path, checked.files[0].text)
        await self._ledger.apply(lambda snapshot: Edit(rows=(put,)))
        return await self.read_startup()

    async def check(self, known_id: str, known_revision: int) -> Loss | None:
        """Compare the store with what the page remembers of it elsewhere.

        Raises:
            StorageLostError: it went away while this page was open.
        """
        await self._ledger.refresh()
        return find_loss(self._ledger, known_id, known_revision)

    async def begin_anew(self) -> None:
        """Go on with whatever store is there now."""
        await self._ledger.read_anew()

    async def erase_everything(self) -> None:
        """Remove every record, mark, choice, plan and file."""
        await self._ledger.wipe()

    async def measure(self) -> StorageUse:
        """Tell how much room there is."""
        return await self._ledger.measure()

    async def persist(self) -> bool:
        """Ask that the memory is not evicted."""
        return await self._ledger.persist()

    async def _publish(self, plan: RepairPlan, now: str) -> Mapping[str, str]:
        """Rebuild after the barrier; the support is read anew, it may have gone meanwhile."""
        if not plan.to_rebuild:
            return {}
        support = {key for item in plan.to_rebuild for key in item.support}
        published: dict[str, str] = {}

        def decide(snapshot: Snapshot) -> Edit:
            rebuild = Rebuilder(self._stamp(now), snapshot.heads.keys())
            deleted = list_deleted_identities(snapshot)
            check = SuccessorCheck(plan.roots, deleted, snapshot.records)
            edit, renewed = publish_repairs(plan, snapshot, rebuild, check)
            published.clear()
            published.update(renewed)
            return edit

        await self._ledger.apply(decide, lambda heads: support & heads.keys())
        return published

    def _stamp(self, now: str) -> Stamp:
        # One spelling of time, so that texts compare as times do.
        return Stamp(self._tenant, datetime.fromisoformat(now).astimezone(UTC).isoformat())
