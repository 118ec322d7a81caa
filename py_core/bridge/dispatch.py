"""What each kind of request does, in one exhaustive match.

Takes typed requests and a way to emit event data, gives the value of the reply or raises. One
request at a time holds the model; what only looks (a plan, the runtime) and `cancel` never wait.
Does not know JSON, tasks or how replies are sent.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Literal

from py_core.bridge.answer_chat import TurnEvents, answer_chat_send
from py_core.bridge.answer_load import answer_model_load, answer_model_plan, describe_model
from py_core.bridge.answer_plan import export_document, show_record
from py_core.bridge.chat_messages import ChatSendPayload
from py_core.bridge.embedder_desk import EmbedderDesk
from py_core.bridge.embedder_messages import EmbedderFactsAsked, EmbedderFree, EmbedderLoad
from py_core.bridge.host import Host
from py_core.bridge.host_clock import read_utc
from py_core.bridge.memory_desk import MemoryDesk
from py_core.bridge.memory_requests import MemoryRequest, MemorySummarise
from py_core.bridge.memory_values import SummaryDraft
from py_core.bridge.messages import (
    PROTOCOL_VERSION,
    Cancel,
    CancelOutcome,
    ChatReset,
    ChatSend,
    ContextReset,
    EventData,
    IntentPreview,
    NoticeData,
    PageRequest,
    ReplyValue,
    RuntimeFacts,
    RuntimeFactsAsked,
    TurnResult,
)
from py_core.bridge.model_messages import (
    ModelFacts,
    ModelFree,
    ModelFreed,
    ModelLoad,
    ModelLoadPayload,
    ModelPlanAsked,
)
from py_core.bridge.plan_messages import PlanRecordAsked, ReceiptExportAsked
from py_core.chat.cache_reuse import CacheDesk
from py_core.chat.conversation_summary import SummaryPorts
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.model_session import ModelSession
from py_core.chat.op_sets import list_op_sets
from py_core.chat.pacing import LOAD_REST_EVERY_MS, Pacer, StopSignal
from py_core.chat.plan_shelf import PlanShelf
from py_core.chat.simd_engine import report_lost_thread
from py_core.chat.transcript import Transcript
from py_core.chat.turn import TurnPorts
from py_core.errors import BusyError, ModelNotLoadedError
from py_core.store.host_database import HostDatabase
from py_core.store.host_prefixes import HostPrefixes
from py_core.store.ledger import Ledger

Emit = Callable[[EventData], None]


@dataclass(frozen=True, slots=True)
class _Holder:
    """The request that has the model now, and how to stop it."""

    request_id: int
    kind: str
    stop: StopSignal


class Dispatcher:
    """The state behind the border: one session, one transcript, at most one holder."""

    def __init__(self, host: Host) -> None:
        """Start with nothing loaded."""
        self._host = host
        room = MemoryRoom(host)
        self._session = ModelSession(room, list_op_sets(host))
        self._transcript = Transcript(secrets.token_hex(16))
        self._shelf = PlanShelf()
        ledger = Ledger(HostDatabase(host))
        self._memory_desk = MemoryDesk(host, self._transcript, ledger)
        self._cache_desk = CacheDesk(HostPrefixes(host))
        self._embedder_desk = EmbedderDesk(host, room, self._memory_desk.keeper, ledger)
        self._memory_desk.memory.vectors = self._embedder_desk.session
        self._holder: _Holder | None = None

    async def warm(self) -> None:
        """Do what would make the first requests wait."""
        await self._memory_desk.warm()

    async def answer(self, request: PageRequest, emit: Emit) -> ReplyValue:
        """Do what a request asks and give the value of its reply.

        Raises:
            TinyloomError: what went wrong, for an error reply.
        """
        with self._memory_desk.busy(), self._embedder_desk.standing_aside(request.kind):
            return await self._answer(request, emit)

    async def _answer(self, request: PageRequest, emit: Emit) -> ReplyValue:
        match request:
            case ModelLoad(payload=load):
                try:
                    with self._holding(request) as stop:
                        return await self._load(load, emit, stop)
                finally:
                    # The shell opened it for this request, answered or refused.
                    self._host.model_close(load.handle)
            case ChatSend(payload=send):
                with (
                    self._holding(request) as stop,
                    self._transcript.replacing_last(is_asked=send.replaces_last),
                ):
                    result = await self._send(send, emit, stop)
                self._memory_desk.tidy()
                return result
            case ModelFree() | ChatReset():
                with self._holding(request):
                    return self._free() if isinstance(request, ModelFree) else self._reset()
            case MemorySummarise():
                return await self._summarise(request, emit)
            case EmbedderLoad() | EmbedderFree() | EmbedderFactsAsked():
                return await self._embedder_desk.answer(request, request.id, emit)
            case _:
                return await self._look(request)

    async def _look(
        self,
        request: ModelPlanAsked
        | IntentPreview
        | PlanRecordAsked
        | ReceiptExportAsked
        | Cancel
        | RuntimeFactsAsked
        | MemoryRequest,
    ) -> ReplyValue:
        """Answer what never waits."""
        match request:
            case ModelPlanAsked():
                return answer_model_plan(request.payload, self._session, self._host)
            case PlanRecordAsked():
                return show_record(self._shelf, request.payload)
            case ReceiptExportAsked():
                return export_document(self._shelf, request.payload)
            case Cancel():
                return self._cancel(request.payload.target)
            case RuntimeFactsAsked():
                return self._describe_runtime()
            case _:
                # The memory never waits for the model.
                return await self._memory_desk.answer(request)

    async def _load(self, payload: ModelLoadPayload, emit: Emit, stop: StopSignal) -> ModelFacts:
        pacer = Pacer(self._host, LOAD_REST_EVERY_MS)
        return await answer_model_load(
            payload, self._session, self._host, pacer=pacer, emit=emit, stop=stop
        )

    async def _send(self, payload: ChatSendPayload, emit: Emit, stop: StopSignal) -> TurnResult:
        model = self._session.require_model()
        self._memory_desk.memory.forget_turns_from(self._transcript.next_number)
        await self._memory_desk.hint(payload.text, emit)
        ports = TurnPorts(
            Pacer(self._host),
            TurnEvents(emit, payload.text),
            stop,
            self._shelf,
            now=read_utc(self._host),
            memory=self._memory_desk.memory,
            desk=self._cache_desk,
        )
        result = await answer_chat_send(payload, model, self._transcript, ports, host=self._host)
        if text := report_lost_thread(model.ops):
            emit(NoticeData(code="thread_lost", text=text))
        return result

    async def _summarise(self, request: MemorySummarise, emit: Emit) -> SummaryDraft:
        if request.payload.mode == "rule":
            return await self._memory_desk.summarise_by_rule()
        model = self._session.require_model()
        with self._holding(request) as stop:
            ports = SummaryPorts(Pacer(self._host), TurnEvents(emit, ""), stop)
            return await self._memory_desk.summarise_by_model(model, ports)

    def _free(self) -> ModelFreed:
        was_loaded = self._session.free()
        return ModelFreed(was_loaded=was_loaded, heap_bytes=int(self._host.heap_bytes()))

    def _reset(self) -> ContextReset:
        model = self._session.model
        self._memory_desk.memory.forget_conversation()
        return ContextReset(
            turns_dropped=self._transcript.clear(),
            cached_tokens_dropped=model.forget_context() if model else 0,
        )

    @contextmanager
    def _holding(
        self, request: ModelLoad | ModelFree | ChatSend | ChatReset | MemorySummarise
    ) -> Iterator[StopSignal]:
        """Take the model for one request.

        Raises:
            BusyError: another request has it.
            ModelNotLoadedError: a chat was sent while the first model is loading.
        """
        holder = self._holder
        if holder is not None:
            if request.kind == "chat.send" and self._session.model is None:
                raise ModelNotLoadedError(is_loading=True)
            raise BusyError(running_kind=holder.kind, running_id=holder.request_id)
        self._holder = _Holder(request.id, request.kind, StopSignal())
        try:
            yield self._holder.stop
        finally:
            self._holder = None

    def _cancel(self, target: int) -> CancelOutcome:
        holder = self._holder
        if holder is None or holder.request_id != target:
            return CancelOutcome(target=target, outcome="not_running")
        holder.stop.set()
        return CancelOutcome(target=target, outcome="stopping")

    def _describe_runtime(self) -> RuntimeFacts:
        model = self._session.model
        return RuntimeFacts(
            protocol=PROTOCOL_VERSION,
            version=_find_version("tinyloom"),
            python=python_version(),
            numpy=_find_version("numpy"),
            op_sets=self._session.op_set_names,
            heap_bytes=int(self._host.heap_bytes()),
            state=self._name_state(),
            model=describe_model(model, self._host) if model else None,
        )

    def _name_state(self) -> Literal["empty", "loading", "ready", "busy"]:
        if self._holder is not None:
            return "loading" if self._holder.kind == "model.load" else "busy"
        return "empty" if self._session.model is None else "ready"


def _find_version(package: str) -> str:
    """Give the installed version; a checkout that is not installed has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
