"""Everything about memory that the border holds: keeper, shelf, lanes, hints.

Takes a host and the transcript; warms the memory, answers its requests, tells what a message means
for it, and gives the memory of the conversation to a turn. Does not know models.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from py_core.bridge.answer_chat import preview_intent
from py_core.bridge.answer_memory import answer_memory, report_preview
from py_core.bridge.host import Host
from py_core.bridge.host_clock import read_utc
from py_core.bridge.memory_hints import find_hint
from py_core.bridge.memory_requests import MemoryApply, MemoryPreview, MemoryRequest, RetractAction
from py_core.bridge.memory_values import MemoryDetail, MemoryValue, RawTurn, SummaryDraft
from py_core.bridge.messages import EventData, IntentPreview
from py_core.bridge.retrieval_messages import IntentShown
from py_core.chat.conversation_summary import (
    SummaryPorts,
    draft_by_model,
    draft_by_rule,
    list_turns,
)
from py_core.chat.find_memory import TurnMemory
from py_core.chat.lane_ports import LocalLane, SessionLane
from py_core.chat.loaded_model import LoadedModel
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_question import STORE_ERRORS
from py_core.chat.memory_shelf import MemoryShelf
from py_core.chat.message_ids import name_message
from py_core.chat.transcript import Transcript
from py_core.chat.turn_records import TENANT
from py_core.memory.changes import KeepSummary, Stamp
from py_core.memory_errors import ChangeRefusedError
from py_core.records.kinds import ShortTermSummary
from py_core.store.ledger import Ledger


class MemoryDesk:
    """The memory of this tab."""

    def __init__(self, host: Host, transcript: Transcript, ledger: Ledger) -> None:
        """Start unread."""
        self._host, self._transcript = host, transcript
        self._running, self._is_idle = 0, asyncio.Event()
        self._is_idle.set()
        self._tidying: asyncio.Task[None] | None = None
        self.keeper = MemoryKeeper(ledger, TENANT)
        self._shelf = MemoryShelf(self.keeper, ledger, host.pause)
        self.memory = TurnMemory(
            self._shelf,
            {"local": LocalLane(self._shelf), "session": SessionLane(self.keeper, self._stamp())},
            host.now_ms,
        )

    async def warm(self) -> None:
        """Read the memory and its index ahead of the first request.

        With the first tab a visit begins, so what was kept for the last one goes. A memory that
        cannot be read says so when it is asked.
        """
        with suppress(*STORE_ERRORS, ChangeRefusedError):
            await self.keeper.open()
            is_first = bool(await self._host.begin_visit())
            await self.keeper.start_visit(self._host.now_utc(), is_new_session=is_first)
        await self.keeper.warm(self._rest_until_idle)
        # Packs first: they take a second at most, the index of words many for a large memory.
        await self.keeper.pack(self._rest_until_idle)
        await self._keep_index()

    async def answer(self, request: IntentPreview | MemoryRequest) -> IntentShown | MemoryValue:
        """Do what a request about the memory asks; the memory never waits for the model.

        Raises:
            TinyloomError: what went wrong, for an error reply.
        """
        if isinstance(request, IntentPreview):
            return preview_intent(
                request.payload, self._transcript, self.memory, read_utc(self._host)
            )
        value = await answer_memory(self._date(request), self.keeper, self._host.now_utc())
        return self._add_raw_turns(value) if isinstance(value, MemoryDetail) else value

    async def summarise_by_rule(self) -> SummaryDraft:
        """Draft a summary of whole sentences.

        Raises:
            ChangeRefusedError: nothing was said that could be summed up.
        """
        heads = await self.keeper.list_heads()
        turns = list_turns(self._transcript, heads)
        return await self._show_draft(draft_by_rule(turns, heads, self._stamp()))

    async def summarise_by_model(self, model: LoadedModel, ports: SummaryPorts) -> SummaryDraft:
        """Draft a summary in the model's words.

        Raises:
            ChangeRefusedError: nothing was said that could be summed up.
            RequestCancelledError: it was stopped.
        """
        heads = await self.keeper.list_heads()
        turns = list_turns(self._transcript, heads)
        draft = await draft_by_model(model, turns, heads, self._stamp(), ports)
        return await self._show_draft(draft)

    async def _show_draft(self, draft: ShortTermSummary) -> SummaryDraft:
        self.keeper.keep_draft(draft)
        report = await report_preview(KeepSummary(draft), self.keeper, self._host.now_utc())
        return SummaryDraft(draft_id=draft.record_id, report=report)

    def _stamp(self) -> Stamp:
        return Stamp(TENANT, read_utc(self._host).isoformat())

    def _add_raw_turns(self, detail: MemoryDetail) -> MemoryDetail:
        """Lead from a record back to the messages of this conversation that it was made of."""
        said = {turn.record_id: turn.text for turn in list_turns(self._transcript, {})}
        raw = [RawTurn(record_id=key, text=said[key]) for key in detail.raw_sources if key in said]
        return detail.model_copy(update={"raw_turns": tuple(raw)})

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Let the reading of the memory stand aside for the time of a request."""
        self._running += 1
        self._is_idle.clear()
        try:
            yield
        finally:
            self._running -= 1
            if self._running == 0:
                self._is_idle.set()

    async def hint(self, text: str, emit: Callable[[EventData], None]) -> None:
        """Tell the page what the coming message means for the memory."""
        transcript = self._transcript
        with suppress(*STORE_ERRORS):
            await self.keeper.end_what_is_over(self._host.now_utc())
        transcript.mark_revision(self.keeper.revision)
        message_id = name_message(transcript.session_key, transcript.next_number, "user")
        hint = await find_hint(text, message_id, self.keeper, self._host.now_utc())
        if hint is not None:
            emit(hint)

    def tidy(self) -> None:
        """Keep the index once nobody waits for anything."""
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.get_running_loop().create_task(self._keep_index())

    async def _keep_index(self) -> None:
        """Bring the index up to date and write it down; a store that refuses costs nothing else."""
        with suppress(*STORE_ERRORS):
            await self._rest_until_idle()
            await self._shelf.follow(self._rest_until_idle)
            await self._shelf.save(self._rest_until_idle)

    async def _rest_until_idle(self) -> None:
        await self._host.pause()
        await self._is_idle.wait()

    def _date(self, request: MemoryRequest) -> MemoryRequest:
        """Fill in what a message that is taken back said, and since when it could shape records."""
        if not isinstance(request, MemoryPreview | MemoryApply):
            return request
        change = request.payload.change
        if not isinstance(change, RetractAction) or change.since:
            return request
        known = {
            "since": self._transcript.find_revision(change.target_id),
            "text": change.text or self._transcript.find_text(change.target_id),
        }
        dated = change.model_copy(update=known)
        payload = request.payload.model_copy(update={"change": dated})
        return request.model_copy(update={"payload": payload})
