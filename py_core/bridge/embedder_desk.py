"""Everything about the embedder that the border holds: its requests, and its work in idle time.

Takes a host, the memory and its ledger; answers requests, and embeds new records while no other
request runs. Idle work stands aside as soon as one comes. Does not know chats or models.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, assert_never

from py_core.bridge.embedder_messages import (
    EmbedderFacts,
    EmbedderFactsAsked,
    EmbedderFree,
    EmbedderLoad,
    EmbedderLoadPayload,
    EmbedderRequest,
)
from py_core.bridge.host import Host
from py_core.bridge.host_bytes import HostSource
from py_core.bridge.messages import EventData, ProgressData
from py_core.chat.embedder_session import EmbedderOrigin, EmbedderSession, EmbedderStep
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.memory_shelf import MEMORY_KINDS
from py_core.chat.pacing import Pacer, StopSignal
from py_core.errors import BusyError, TinyloomError
from py_core.retrieval.document import read_document
from py_core.store.heads import Head
from py_core.store.ledger import Ledger

RECORDS_AT_ONCE: Final = 64
UNDISTURBING: Final = frozenset({"cancel", "runtime.facts", "embedder.facts"})

Emit = Callable[[EventData], None]


class EmbedderDesk:
    """The embedder of this tab and its idle work."""

    def __init__(self, host: Host, room: MemoryRoom, keeper: MemoryKeeper, ledger: Ledger) -> None:
        """Start without an embedder."""
        self._host, self._keeper, self._ledger = host, keeper, ledger
        self.session = EmbedderSession(host, room, ledger)
        self._loading: StopSignal | None = None
        self._idle_stop = StopSignal()
        self._idle_task: asyncio.Task[None] | None = None
        self._running = 0
        self._has_read_kept = False
        self._missing = 0
        self._settled_revision = -1
        """The ledger's revision at which no record lacked a vector."""

    async def answer(self, request: EmbedderRequest, request_id: int, emit: Emit) -> EmbedderFacts:
        """Do what a request asks.

        Raises:
            BusyError: an embedder is being loaded.
        """
        match request:
            case EmbedderLoad(payload=payload):
                try:
                    await self._load(payload, request_id, emit)
                finally:
                    # The shell opened it for this request, answered or refused.
                    self._host.model_close(payload.handle)
            case EmbedderFree():
                self._free()
            case EmbedderFactsAsked():
                pass
            case _:
                assert_never(request)
        return self._describe()

    @contextmanager
    def standing_aside(self, kind: str) -> Iterator[None]:
        """End idle work for the time of a request and go on after the last one."""
        if kind in UNDISTURBING:
            yield
            return
        self._idle_stop.set()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running and self.session.state.stage == "ready":
                self._begin_idle()

    async def finish_idle(self) -> None:
        """Wait until there is nothing more to embed or a request came between."""
        if self._idle_task is not None:
            await self._idle_task

    async def _load(self, payload: EmbedderLoadPayload, request_id: int, emit: Emit) -> None:
        if self._loading is not None:
            raise BusyError(running_kind="embedder.load", running_id=request_id)
        self._loading = StopSignal()
        self._has_read_kept, self._settled_revision = False, -1
        origin = EmbedderOrigin(payload.name, payload.file_bytes, payload.sha256)

        def tell(step: EmbedderStep) -> None:
            emit(ProgressData(step="load", done=step.done, total=step.total, text=payload.name))

        try:
            await self.session.load(
                HostSource(self._host, payload.handle),
                origin,
                pacer=Pacer(self._host),
                stop=self._loading,
                on_step=tell,
            )
        finally:
            self._loading = None

    def _free(self) -> None:
        if self._loading is not None:
            self._loading.set()
        self.session.free()

    def _begin_idle(self) -> None:
        before, stop = self._idle_task, StopSignal()
        self._idle_stop = stop
        self._idle_task = asyncio.get_running_loop().create_task(self._work(before, stop))

    async def _work(self, before: "asyncio.Task[None] | None", stop: StopSignal) -> None:
        if before is not None:
            await asyncio.wait([before])
        # A store that fails says so when the memory itself is asked; meanwhile words find records.
        with suppress(TinyloomError):
            await self._embed_all(stop)

    async def _embed_all(self, stop: StopSignal) -> None:
        pacer = Pacer(self._host)
        await self._ledger.refresh()
        if self._ledger.revision == self._settled_revision:
            return
        heads = _list_embedded(self._ledger)
        if not self._has_read_kept:
            await self.session.read_kept(heads, pacer, stop)
            self._has_read_kept = not stop.is_set
        missing = self.session.list_missing(heads)
        self._missing = len(missing)
        for at in range(0, len(missing), RECORDS_AT_ONCE):
            if stop.is_set:
                return
            await self._embed(missing[at : at + RECORDS_AT_ONCE], pacer, stop)
            self._missing = len(missing) - min(len(missing), at + RECORDS_AT_ONCE)
        if not stop.is_set and not self.session.list_missing(_list_embedded(self._ledger)):
            self._settled_revision = self._ledger.revision

    async def _embed(self, heads: Sequence[Head], pacer: Pacer, stop: StopSignal) -> None:
        records = await self._keeper.read_serving([head.record_id for head in heads])
        await self.session.embed_idle(map(read_document, records), pacer, stop)

    def _describe(self) -> EmbedderFacts:
        session = self.session
        return EmbedderFacts(
            stage=session.state.stage,
            reason=session.state.reason,
            text=session.state.text,
            name=session.name,
            op_set=session.op_set,
            weight_bytes=session.weight_bytes,
            vectors=session.vector_count,
            missing=self._missing,
            heap_bytes=int(self._host.heap_bytes()),
        )


def _list_embedded(ledger: Ledger) -> list[Head]:
    return [head for head in ledger.heads.values() if head.is_active and head.kind in MEMORY_KINDS]
