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
from py_core.bridge.answer_memory import answer_memory
from py_core.bridge.answer_plan import export_document, show_record
from py_core.bridge.chat_messages import ChatSendPayload
from py_core.bridge.host import Host
from py_core.bridge.memory_hints import find_hint
from py_core.bridge.memory_requests import MemoryRequest
from py_core.bridge.messages import (
    PROTOCOL_VERSION,
    Cancel,
    CancelOutcome,
    ChatReset,
    ChatSend,
    ContextReset,
    EventData,
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
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.message_ids import name_message
from py_core.chat.model_session import ModelSession
from py_core.chat.op_sets import list_op_sets
from py_core.chat.pacing import LOAD_REST_EVERY_MS, Pacer, StopSignal
from py_core.chat.plan_shelf import PlanShelf
from py_core.chat.simd_engine import report_lost_thread
from py_core.chat.transcript import Transcript
from py_core.chat.turn import TurnPorts
from py_core.chat.turn_records import TENANT
from py_core.errors import BusyError, ModelNotLoadedError
from py_core.store.host_database import HostDatabase
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
        self._session = ModelSession(MemoryRoom(host), list_op_sets(host))
        self._transcript = Transcript(secrets.token_hex(16))
        self._shelf = PlanShelf()
        self._keeper = MemoryKeeper(Ledger(HostDatabase(host)), TENANT)
        self._holder: _Holder | None = None

    async def warm(self) -> None:
        """Do what would make the first requests wait."""
        await self._keeper.warm()

    async def answer(self, request: PageRequest, emit: Emit) -> ReplyValue:
        """Do what a request asks and give the value of its reply.

        Raises:
            TinyloomError: what went wrong, for an error reply.
        """
        match request:
            case ModelLoad(payload=load):
                try:
                    with self._holding(request) as stop:
                        return await self._load(load, emit, stop)
                finally:
                    # The shell opened it for this request, answered or refused.
                    self._host.model_close(load.handle)
            case ChatSend(payload=send):
                with self._holding(request) as stop:
                    return await self._send(send, emit, stop)
            case ModelFree():
                with self._holding(request):
                    return self._free()
            case ChatReset():
                with self._holding(request):
                    return self._reset()
            case _:
                return await self._look(request)

    async def _look(
        self,
        request: ModelPlanAsked
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
                return await answer_memory(request, self._keeper, self._host.now_utc())

    async def _load(self, payload: ModelLoadPayload, emit: Emit, stop: StopSignal) -> ModelFacts:
        pacer = Pacer(self._host, LOAD_REST_EVERY_MS)
        return await answer_model_load(
            payload, self._session, self._host, pacer=pacer, emit=emit, stop=stop
        )

    async def _send(self, payload: ChatSendPayload, emit: Emit, stop: StopSignal) -> TurnResult:
        model = self._session.require_model()
        await self._hint_at_memory(payload.text, emit)
        ports = TurnPorts(Pacer(self._host), TurnEvents(emit), stop, self._shelf)
        result = await answer_chat_send(payload, model, self._transcript, ports, host=self._host)
        if text := report_lost_thread(model.ops):
            emit(NoticeData(code="thread_lost", text=text))
        return result

    async def _hint_at_memory(self, text: str, emit: Emit) -> None:
        transcript = self._transcript
        message_id = name_message(transcript.session_key, transcript.next_number, "user")
        hint = await find_hint(text, message_id, self._keeper, self._host.now_utc())
        if hint is not None:
            emit(hint)

    def _free(self) -> ModelFreed:
        was_loaded = self._session.free()
        return ModelFreed(was_loaded=was_loaded, heap_bytes=int(self._host.heap_bytes()))

    def _reset(self) -> ContextReset:
        model = self._session.model
        return ContextReset(
            turns_dropped=self._transcript.clear(),
            cached_tokens_dropped=model.forget_context() if model else 0,
        )

    @contextmanager
    def _holding(
        self, request: ModelLoad | ModelFree | ChatSend | ChatReset
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
