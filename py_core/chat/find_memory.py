"""What one turn gets from memory: intent, lanes, candidates, and what acts on them.

Takes a question with its conversation, gives records with scores for the compiler and an account
for the page. Whatever fails on the way is an outcome with a notice, and the turn goes on without
memory. Finds and scores; the compiler decides what enters. Does not know models or messages.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from py_core.chat.acting_records import list_acting
from py_core.chat.memory_question import (
    ALL_CANDIDATES,
    STORE_ERRORS,
    FoundMemory,
    NoticeCode,
    Question,
    VectorPort,
)
from py_core.chat.memory_shelf import MemoryShelf
from py_core.records.kinds import Record, Retraction
from py_core.records.request_file import LaneName
from py_core.retrieval.correct_intent import correct_intent
from py_core.retrieval.document import read_document
from py_core.retrieval.event_times import resolve_events
from py_core.retrieval.features import Owner
from py_core.retrieval.injection_ledger import Injection, InjectionLedger
from py_core.retrieval.intent import RetrievalIntent, build_intent
from py_core.retrieval.lanes import (
    Gathered,
    LanePort,
    gather,
    is_wanted,
    keep_wanted,
)
from py_core.retrieval.relevance import PPM
from py_core.retrieval.retrieve import Retrieved, Search, Talk, assess, search
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.timings import SessionTimings

CONVERSATION: Final = "main"
OWNER: Final = Owner(user="default")
"""The one user of this page, by the scope id that their memories carry."""

PROMISING_PPM: Final = 75_000
"""Half of the floor: below it no other part of a score brings a record into a prompt."""

SHOWN_BELOW: Final = 8


@dataclass
class _Notes:
    """Sentences for the user, each code once."""

    by_code: dict[NoticeCode, str] = field(default_factory=dict)

    def add(self, code: NoticeCode, text: str) -> None:
        self.by_code.setdefault(code, text)


class TurnMemory:
    """The memory of one conversation: asks, and remembers what was shown."""

    def __init__(
        self,
        shelf: MemoryShelf,
        ports: Mapping[LaneName, LanePort],
        now_ms: Callable[[], float],
        *,
        vectors: VectorPort | None = None,
    ) -> None:
        """Begin a conversation.

        Args:
            shelf: The durable memory.
            ports: The lanes that are connected.
            now_ms: A clock that only goes forward.
            vectors: An embedder; without one words alone find records.
        """
        self.shelf, self.ports, self.vectors = shelf, ports, vectors
        self.log, self.timings = InjectionLedger(), SessionTimings()
        self._now_ms = now_ms
        self._retractions: dict[str, Record] = {}

    async def find(self, question: Question) -> FoundMemory:
        """Look for what may help with a turn."""
        notes = _Notes()
        with self.timing("intent"):
            intent = understand(question)
        with self.timing("lanes"):
            gathered = await gather(
                self.ports, intent, self._now_ms, is_bypassed=question.is_bypassed
            )
        self._note_lanes(gathered, notes)
        if question.is_bypassed or intent.need != "needed":
            retrieved = assess(intent, Search(None, used_vectors=False), {})
        else:
            intent, retrieved = await self._search(question, intent, gathered, notes)
        extra = await self._open_acting(question, retrieved, notes)
        identities = [(r.record_id, r.content_identity or "") for r in retrieved.candidates]
        return FoundMemory(
            intent=intent,
            retrieved=retrieved,
            lanes=gathered.reports,
            records=tuple({r.record_id: r for r in (*retrieved.candidates, *extra)}.values()),
            shown=self.log.list_references(CONVERSATION, intent.identity, identities),
            notices=tuple(notes.by_code.items()),
            indexed=len(self.shelf),
        )

    def note_shown(
        self, found: FoundMemory, turn: int, shown: Iterable[tuple[str, int]]
    ) -> tuple[str, ...]:
        """Write down which memories a prompt held, with their scores; give those of the ledger."""
        identities = {r.record_id: r.content_identity or "" for r in found.retrieved.candidates}
        rows = [
            Injection(
                CONVERSATION, found.intent.identity, name, identities[name], turn=turn, score=score
            )
            for name, score in shown
            if name in identities
        ]
        self.log.note(rows)
        return tuple(row.record_id for row in rows if row.record_id in self.shelf.heads)

    def forget_turns_from(self, turn: int) -> None:
        """Forget what was shown in a turn that takes place once more."""
        self.log.forget_from(CONVERSATION, turn)

    def forget_conversation(self) -> None:
        """Forget what was shown; the next turn begins a new conversation."""
        self.log.purge()
        self._retractions.clear()

    def still_counts(self, name: str) -> bool:
        """Tell whether a memory that was shown has neither changed nor gone."""
        return self.shelf.is_active(name)

    def is_taken_back(self, message_id: str) -> bool:
        """Tell whether the user took a message back, as far as this conversation has seen."""
        targets = (r.targets for r in self.shelf.heads.of_kind("Retraction") if r.is_active)
        return any(message_id in found for found in targets)

    async def note_plan(self, plan_hash: str, names: Sequence[str], now: datetime) -> None:
        """Tell the ledger in which plan records stood.

        Raises:
            StorageFullError: there is no room.
            StorageLostError: the store cannot be written.
        """
        await self.shelf.note_plan(plan_hash, names, now)

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Measure a stage."""
        begun = self._now_ms()
        try:
            yield
        finally:
            self.timings.note(stage, self._now_ms() - begun)

    def _note_lanes(self, gathered: Gathered, notes: _Notes) -> None:
        for report in gathered.reports:
            status = report.outcome.status
            if report.outcome.lane == "local" and status in ("refused", "malformed", "timed_out"):
                notes.add("memory_unavailable", _UNAVAILABLE[status])
        if self.shelf.damage is not None:
            self.shelf.damage = None
            notes.add("memory_index_rebuilt", "The index of the memory was made anew.")

    async def _search(
        self, question: Question, intent: RetrievalIntent, gathered: Gathered, notes: _Notes
    ) -> tuple[RetrievalIntent, Retrieved]:
        """Search what was gathered; visitors leave the index with the turn."""
        index = self.shelf.index
        wanted = keep_wanted(gathered.records, intent)
        # Where a lane gives what the ledger has too, the ledger's own counts.
        visitors = {r.record_id: r for r in wanted if r.record_id not in self.shelf.heads}
        # What another tab has deleted is known once the ledger has answered, and not before.
        has_local = _has_local(gathered)
        hidden = self._list_hidden(intent) if has_local else tuple(index.ids())
        try:
            for record in visitors.values():
                index.put(read_document(record))

            def read_text(name: str) -> str:
                visitor = visitors.get(name)
                return self.shelf.read_text(name) if visitor is None else visitor.text

            resolved = resolve_events(intent, index, read_text)
            found = await self._look_up(question, resolved, read_text, hidden)
            with self.timing("open"):
                names = (*resolved.filters.pins, *_list_promising(found))
                opened = await self._open(names, notes) if has_local else {}
            with self.timing("score"):
                talk = Talk(OWNER, CONVERSATION, self.log)
                retrieved = assess(resolved, found, {**opened, **visitors}, talk)
            return resolved, _keep_best(retrieved, question.most_candidates)
        finally:
            for name in visitors:
                index.discard(name)

    async def _look_up(
        self,
        question: Question,
        intent: RetrievalIntent,
        read_text: Callable[[str], str],
        hidden: Collection[str],
    ) -> Search:
        index = self.shelf.index
        vectors = None
        if self.vectors is not None:
            with self.timing("vectors"):
                vectors = await self.vectors.vectors_for(intent.semantic_text, index)
        # Which lane a record lies on is known once it is open, so more of them are looked at.
        takes_all = len(intent.filters.lanes) > 1
        most = min(question.most_candidates, ALL_CANDIDATES) if takes_all else ALL_CANDIDATES
        with self.timing("search"):
            return search(
                intent,
                index,
                settings=replace(RelevanceSettings(), candidates=most),
                vectors=vectors,
                read_text=read_text,
                hidden=hidden,
            )

    def _list_hidden(self, intent: RetrievalIntent) -> Collection[str]:
        project = intent.filters.project
        if not project:
            return ()
        heads = self.shelf.heads
        return [
            name
            for name in self.shelf.index.ids()
            if name in heads and not is_wanted(heads[name].scope, heads[name].scope_id, project)
        ]

    async def _open_acting(
        self, question: Question, retrieved: Retrieved, notes: _Notes
    ) -> tuple[Record, ...]:
        """Open what acts on messages and candidates, and what the message overrides."""
        heads, claimed = self.shelf.heads, list[str]()
        if question.is_bypassed or retrieved.intent.need != "needed":
            # No lane was asked, but what was deleted or taken back in another tab holds here too.
            await self._look(notes)
        else:
            claimed = [h.record_id for slot in question.slots for h in heads.with_slot(slot)]
        candidates = retrieved.candidates
        names = {*question.message_ids, *claimed, *(r.record_id for r in candidates)}
        identities = {r.content_identity for r in candidates if r.content_identity}
        acting = list_acting(heads, names, identities)
        opened = await self._open((*claimed, *acting), notes)
        for record in opened.values():
            if isinstance(record, Retraction) and record.payload.target_id in question.message_ids:
                # A visit that ends elsewhere must not bring back what was taken back here.
                self._retractions[record.record_id] = record
        return (*opened.values(), *self._retractions.values())

    async def _look(self, notes: _Notes) -> None:
        try:
            await self.shelf.look()
        except STORE_ERRORS:
            notes.add("memory_unavailable", _UNAVAILABLE["refused"])

    async def _open(self, names: Collection[str], notes: _Notes) -> dict[str, Record]:
        try:
            return await self.shelf.open(names)
        except STORE_ERRORS:
            notes.add("memory_unavailable", _UNAVAILABLE["refused"])
            return {}


_UNAVAILABLE: Final[Mapping[str, str]] = {
    "refused": "The memory cannot be read now; this answer is made without it.",
    "malformed": "A kept memory is damaged; this answer is made without memory.",
    "timed_out": "The memory is still being read; this answer is made without it.",
}


def understand(question: Question) -> RetrievalIntent:
    """Give the intent of a turn as the user corrected it."""
    intent = build_intent(question.turn)
    return intent if question.correction is None else correct_intent(intent, question.correction)


def _has_local(gathered: Gathered) -> bool:
    """Tell whether the ledger has answered; one that is not connected has nothing to hide."""
    statuses = {report.outcome.lane: report.outcome.status for report in gathered.reports}
    return statuses["local"] in ("answered", "empty", "off")


def _list_promising(found: Search) -> list[str]:
    """List the hits that may pass a relevance floor, and a few more to show what was left."""
    if found.findings is None:
        return []
    hits, strength = found.findings.hits, found.strength_ppm
    promising = sum(hit.total_ppm * strength // PPM >= PROMISING_PPM for hit in hits)
    return [hit.document_id for hit in hits[: promising + SHOWN_BELOW]]


def _keep_best(retrieved: Retrieved, most: int) -> Retrieved:
    if len(retrieved.candidates) <= most:
        return retrieved
    kept = retrieved.candidates[:most]
    return replace(
        retrieved,
        candidates=kept,
        reports=retrieved.reports[:most],
        scores={record.record_id: retrieved.scores[record.record_id] for record in kept},
    )
