"""The durable memory as one turn needs it: an index that follows the ledger, and records on demand.

Takes keeper, ledger and a way to rest; gives the index over all active records and opens those that
a question hits. Records are read once, when they are new; what was deleted, corrected or withdrawn
has left before the next question. The index is kept between visits and made anew where it is
missing, damaged or of another version. Does not know questions or prompts.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from py_core.chat.memory_keeper import MemoryKeeper
from py_core.records.kinds import Record
from py_core.retrieval.document import read_document
from py_core.retrieval.index_file import Damage, read_index, write_index_steps
from py_core.retrieval.text_index import TextIndex
from py_core.store.edits import WORD_INDEX, Edit
from py_core.store.head_table import HeadTable
from py_core.store.ledger import Ledger
from py_core.store.ports import Area, Put

MEMORY_KINDS: Final = frozenset(
    {
        "SessionFact",
        "UserPreferenceAssertion",
        "LongTermMemoryRecord",
        "ShortTermSummary",
        "MemoryPointer",
        "RetrievalHit",
    }
)
"""What may be found. A message or a policy in a ledger came from an import: it is never asked, so
that no file can put an instruction into a prompt."""

BATCH_RECORDS: Final = 16
"""So few that a request which comes meanwhile waits some milliseconds only."""

MOST_OPEN: Final = 512
SAVE_AFTER_CHANGES: Final = 32

Rest = Callable[[], Awaitable[object]]


class MemoryShelf:
    """The index of one workspace and its open records."""

    def __init__(self, keeper: MemoryKeeper, ledger: Ledger, rest: Rest) -> None:
        """Start unread.

        Args:
            keeper: Opens records.
            ledger: Keeps the index.
            rest: Gives others a turn between batches.
        """
        self._keeper, self._ledger, self._rest = keeper, ledger, rest
        self.index = TextIndex()
        self.damage: Damage | None = None
        """Why the kept index had to be made anew."""

        self._stamps: dict[str, int] = {}
        """Id to sequence of what the index holds."""

        self._open: dict[str, tuple[int, Record]] = {}
        self._version: int | None = None
        self._is_loaded = False
        self._unsaved = 0
        self._projects: tuple[str, ...] = ()
        self._projects_of = -1

    @property
    def heads(self) -> HeadTable:
        """All heads as of the last look."""
        return self._ledger.heads

    @property
    def revision(self) -> int:
        """The ledger's revision as of the last look."""
        return self._ledger.revision

    @property
    def projects(self) -> tuple[str, ...]:
        """Names of the projects that records belong to."""
        if self._projects_of != self.heads.version:
            found = {head.scope_id for head in self.heads.values() if head.scope == "project"}
            self._projects, self._projects_of = tuple(sorted(found)), self.heads.version
        return self._projects

    def __len__(self) -> int:
        """Count the records that can be found."""
        return len(self._stamps)

    async def look(self) -> None:
        """Take over what any tab has changed; opens nothing.

        Raises:
            StorageLostError: the store cannot be read.
        """
        await self._ledger.refresh()

    async def follow(self, rest: Rest | None = None) -> None:
        """Bring the index up to date.

        A call that is cancelled half way keeps what it has done.

        Args:
            rest: Waits between batches, where there is more time than in a turn.

        Raises:
            StorageLostError: the store cannot be read.
            BadRequestError: a kept record is damaged.
        """
        if not self._is_loaded:
            await self._load()
        await self.look()
        version = self.heads.version
        if version == self._version:
            return
        changed = None if self._version is None else self.heads.changed_after(self._version)
        looked_at = self.heads.keys() | self._stamps.keys() if changed is None else changed
        wanted = _list_wanted(self.heads, looked_at)
        for name in [n for n in looked_at if self._stamps.get(n, wanted.get(n)) != wanted.get(n)]:
            self._drop(name)
        missing = [name for name in wanted if name not in self._stamps]
        for begin in range(0, len(missing), BATCH_RECORDS):
            await self._take_in(missing[begin : begin + BATCH_RECORDS], wanted)
            await (rest or self._rest)()
        self._version = version

    async def open(self, names: Collection[str]) -> dict[str, Record]:
        """Open active records; what is not there or not active any more is left out.

        Raises:
            StorageLostError: the store cannot be read.
            BadRequestError: a kept record is damaged.
        """
        heads = self.heads
        active = [name for name in names if name in heads and heads[name].is_active]
        missing = [name for name in active if not self._is_open(name)]
        if missing:
            self._keep_open(await self._keeper.read_serving(missing))
        found = {name: self._open[name][1] for name in active if self._is_open(name)}
        self._make_room(found)
        return found

    def read_text(self, name: str) -> str:
        """Give what the head shows of a record's text."""
        head = self.heads.get(name)
        return "" if head is None else head.text

    def is_active(self, name: str) -> bool:
        """Tell whether a record still counts."""
        head = self.heads.get(name)
        return head is not None and head.is_active

    async def note_plan(self, plan_hash: str, names: Sequence[str], now: datetime) -> None:
        """Remember which records stood in a plan.

        Raises:
            StorageFullError: there is no room.
            StorageLostError: the store cannot be written.
        """
        await self._keeper.note_plan(plan_hash, names, now.isoformat())

    async def save(self, rest: Rest | None = None, *, at_once: bool = False) -> bool:
        """Keep the index for the next visit once enough has changed; tell whether it was written.

        Args:
            rest: Waits between the steps; an index that changes meanwhile is kept the next time.
            at_once: Also when little has changed.

        Raises:
            StorageFullError: there is no room.
            StorageLostError: the store cannot be written.
        """
        if self._unsaved < (1 if at_once else SAVE_AFTER_CHANGES):
            return False
        # Decided on the state that was indexed: what another tab deletes now is not written again.
        version = self.heads.version
        text = await self._write(rest)
        if text is None:
            return False
        self._unsaved = 0

        def decide(_: object) -> Edit:
            is_current = self.heads.version == version
            return Edit(rows=(Put(Area.SEARCH, WORD_INDEX, text),)) if is_current else Edit()

        edit, _ = await self._ledger.apply(decide)
        return not edit.is_empty

    async def _write(self, rest: Rest | None) -> str | None:
        stamps, version = json.dumps(self._stamps, separators=(",", ":")), self.index.version
        steps = write_index_steps(self.index)
        while True:
            try:
                next(steps)
            except StopIteration as finished:
                index: bytes = finished.value
                return f"{stamps}\n{index.decode('ascii')}"
            if rest is not None:
                await rest()
            if self.index.version != version:
                return None

    async def _load(self) -> None:
        kept = (await self._ledger.read_texts(Area.SEARCH, [WORD_INDEX])).get(WORD_INDEX)
        self._is_loaded = True
        if kept is None:
            return
        stamps, _, index = kept.partition("\n")
        loaded = read_index(index.encode("utf-8", "surrogatepass"))
        self.damage = loaded.damage
        known = _read_stamps(stamps)
        if loaded.damage is None and known.keys() == set(loaded.index.ids()):
            self.index, self._stamps = loaded.index, known
        else:
            self.damage = self.damage or "inconsistent"
            self._unsaved = SAVE_AFTER_CHANGES

    async def _take_in(self, names: Sequence[str], wanted: Mapping[str, int]) -> None:
        # Another call may have been here while this one rested.
        unread = [name for name in names if name not in self._stamps]
        for record in await self._keeper.read_serving(unread) if unread else ():
            self.index.put(read_document(record))
            self._stamps[record.record_id] = wanted[record.record_id]
            self._unsaved += 1

    def _drop(self, name: str) -> None:
        self.index.discard(name)
        del self._stamps[name]
        self._open.pop(name, None)
        # The deletion has taken the kept index with it, so the next one is due.
        self._unsaved = max(self._unsaved + 1, SAVE_AFTER_CHANGES)

    def _is_open(self, name: str) -> bool:
        kept = self._open.get(name)
        return kept is not None and kept[0] == self.heads[name].sequence

    def _keep_open(self, records: Iterable[Record]) -> None:
        for record in records:
            head = self.heads.get(record.record_id)
            if head is not None:
                self._open[record.record_id] = (head.sequence, record)

    def _make_room(self, used: Iterable[str]) -> None:
        """Let go of what was not used for longest."""
        for name in used:
            self._open[name] = self._open.pop(name)
        while len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]


def _list_wanted(heads: HeadTable, names: Iterable[str]) -> dict[str, int]:
    found = ((name, heads.get(name)) for name in names)
    return {
        name: head.sequence
        for name, head in found
        if head is not None and head.is_active and head.kind in MEMORY_KINDS
    }


def _read_stamps(text: str) -> dict[str, int]:
    """Read id to sequence; anything else counts as nothing kept."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or not all(isinstance(n, int) for n in value.values()):
        return {}
    return value
