"""Every message that crosses the border, as frozen strict models. Protocol version 1.

    page -> worker   request {v, id, kind, payload}
    worker -> page   event   {v, id, event, data}                    zero or more for each request
    worker -> page   reply   {v, id, ok: true, value}                then exactly one of these
                             {v, id, ok: false, error: {code, message, details}}

Takes JSON text, gives typed records; knows no session, host or model. The page states the same in
its protocol file, and `fixtures/protocol/` holds one example of each message. Requests whose kind
begins with `store.` are answered by the worker's JavaScript and never come here.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from py_core.bridge.chat_messages import ChatSendPayload, IntentPreviewPayload, ReuseData
from py_core.bridge.embedder_messages import EMBEDDER_KINDS, EmbedderFacts, EmbedderRequest
from py_core.bridge.memory_requests import MEMORY_KINDS, MemoryRequest, MemorySummarise
from py_core.bridge.memory_values import MemoryValue
from py_core.bridge.message_shape import AnswerEnvelope, Message, Nothing, RequestEnvelope
from py_core.bridge.model_messages import (
    ModelFacts,
    ModelFree,
    ModelFreed,
    ModelLoad,
    ModelPlan,
    ModelPlanAsked,
)
from py_core.bridge.plan_messages import (
    ExportedFile,
    PlanRecordAsked,
    ReceiptExportAsked,
    RecordShown,
)
from py_core.bridge.retrieval_messages import IntentShown, RetrievalShown
from py_core.compiler.plan import Plan

PROTOCOL_VERSION = 1
UNREADABLE_ID = 0
"""Id of the reply to a message whose own id could not be read; the page counts from 1."""


class CancelPayload(Message):
    """The id of the request to stop."""

    target: int


class ChatSend(RequestEnvelope):
    """Answer a message."""

    kind: Literal["chat.send"]
    payload: ChatSendPayload


class IntentPreview(RequestEnvelope):
    """Ask what a message would look for."""

    kind: Literal["intent.preview"]
    payload: IntentPreviewPayload


class ChatReset(RequestEnvelope):
    """Forget the conversation: earlier turns and the key/value cache."""

    kind: Literal["chat.reset"]
    payload: Nothing


class Cancel(RequestEnvelope):
    """Stop another request."""

    kind: Literal["cancel"]
    payload: CancelPayload


class RuntimeFactsAsked(RequestEnvelope):
    """Ask what runs here."""

    kind: Literal["runtime.facts"]
    payload: Nothing


PageRequest = Annotated[
    ModelLoad
    | ModelPlanAsked
    | ModelFree
    | ChatSend
    | IntentPreview
    | ChatReset
    | PlanRecordAsked
    | ReceiptExportAsked
    | Cancel
    | RuntimeFactsAsked
    | MemorySummarise
    | EmbedderRequest
    | MemoryRequest,
    Field(discriminator="kind"),
]


class TurnResult(Message):
    """How a turn ended. A stopped turn is a result too; its text stays in the conversation."""

    finish_reason: Literal["end", "length", "context", "stopped", "halted"]
    text: str
    prompt_tokens: int
    generated_tokens: int
    reused_tokens: int
    prefill_ms: float
    decode_ms: float
    prefill_tokens_per_s: float
    decode_tokens_per_s: float
    output_ids: tuple[int, ...]
    kv_bytes_used: int
    kv_bytes_total: int
    threads: int
    heap_bytes: int
    reuse: ReuseData


class ContextReset(Message):
    """What the reset forgot."""

    turns_dropped: int
    cached_tokens_dropped: int


class CancelOutcome(Message):
    """Whether the target could still be stopped."""

    target: int
    outcome: Literal["stopping", "not_running"]


class RuntimeFacts(Message):
    """What runs here."""

    protocol: int
    version: str
    python: str
    numpy: str
    op_sets: tuple[str, ...]
    heap_bytes: int
    state: Literal["empty", "loading", "ready", "busy"]
    model: ModelFacts | None


ReplyValue = (
    ModelFacts
    | ModelPlan
    | ModelFreed
    | TurnResult
    | IntentShown
    | ContextReset
    | RecordShown
    | ExportedFile
    | CancelOutcome
    | RuntimeFacts
    | EmbedderFacts
    | MemoryValue
)


class ProgressData(Message):
    """A step under way; `total` 0 means that the amount is not known."""

    step: Literal["convert", "load", "prefill"]
    done: int
    total: int
    text: str


class PlanData(Message):
    """The frozen prompt plan; comes before the first token."""

    plan: Plan
    retrieval: RetrievalShown | None
    """How its memories were found."""


class TokenData(Message):
    """New text and the ids it came from; text may be empty while a character is incomplete."""

    text: str
    ids: tuple[int, ...]


class NoticeData(Message):
    """Something the person should know that is no error."""

    code: Literal[
        "op_set_fallback",
        "kv_cache_fallback",
        "old_model_freed",
        "thread_lost",
        "memory_unavailable",
        "memory_index_rebuilt",
        "memory_not_noted",
    ]
    text: str


class MemoryHintData(Message):
    """What the message means for the memory; nothing is kept before the user agrees.

    The text is that to remember, the thing to forget, the words that the message puts in the place
    of a memory, or why the memory cannot be reached.
    """

    command: Literal["none", "remember", "forget_last", "forget_about", "correct", "unavailable"]
    text: str
    message_id: str
    pending: tuple[str, ...] = ()
    record_id: str = ""
    """The memory that the message overrides for this turn; for `correct` only."""


class ProgressEvent(AnswerEnvelope):
    """A step under way."""

    event: Literal["progress"] = "progress"
    data: ProgressData


class PlanEvent(AnswerEnvelope):
    """The plan of the prompt."""

    event: Literal["plan"] = "plan"
    data: PlanData


class TokenEvent(AnswerEnvelope):
    """Newly generated text."""

    event: Literal["token"] = "token"
    data: TokenData


class NoticeEvent(AnswerEnvelope):
    """A remark."""

    event: Literal["notice"] = "notice"
    data: NoticeData


class MemoryEvent(AnswerEnvelope):
    """A hint to the memory."""

    event: Literal["memory"] = "memory"
    data: MemoryHintData


WorkerEvent = Annotated[
    ProgressEvent | PlanEvent | TokenEvent | NoticeEvent | MemoryEvent,
    Field(discriminator="event"),
]
EventData = ProgressData | PlanData | TokenData | NoticeData | MemoryHintData


class ErrorBody(Message):
    """A stable code, one sentence, and the values it was built from."""

    code: str
    message: str
    details: dict[str, str | int | None]


class OkReply(AnswerEnvelope):
    """The one reply of a request that worked."""

    ok: Literal[True] = True
    value: ReplyValue


class ErrorReply(AnswerEnvelope):
    """The one reply of a request that did not."""

    ok: Literal[False] = False
    error: ErrorBody


REQUEST_KINDS = (
    MEMORY_KINDS
    | EMBEDDER_KINDS
    | frozenset(
        {
            "model.load",
            "model.plan",
            "model.free",
            "chat.send",
            "intent.preview",
            "chat.reset",
            "plan.record",
            "receipt.export",
            "cancel",
            "runtime.facts",
        }
    )
)
_PAGE_REQUEST: TypeAdapter[PageRequest] = TypeAdapter(PageRequest)


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing that is wrong with a message: where, and what was expected there."""

    path: tuple[str | int, ...]
    expected: str


def read_request(text: str) -> PageRequest | Fault:
    """Validate one message; the fault never repeats a value of it."""
    try:
        return _PAGE_REQUEST.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return Fault(first["loc"], first["msg"])
