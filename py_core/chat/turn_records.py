"""A conversation as typed records.

Takes the system text, the earlier exchanges, the message and what memory found; gives the records
and the request that the compiler works on. Does not know models beyond their numbers, or how ids
are generated.

A message carries the time at which it was sent, as the shell's clock says; the time of the newest
one is the request's own, so a request verifies whenever it is compiled again. Order comes from the
numbers of turns: a clock that jumps back changes no prompt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from py_core.chat.message_ids import name_message
from py_core.chat.traits import list_traits
from py_core.compiler.budget import measure_room
from py_core.compiler.policy import choose_row
from py_core.compiler.request import CompileRequest, PromptTemplate, TokenCounter
from py_core.errors import ContextOverflowError, InvalidTextError
from py_core.records.fields import LARGEST_TEXT_CHARS, Sensitivity
from py_core.records.kinds import (
    Record,
    Retraction,
    RoleTaggedMessage,
    SystemPolicyRecord,
    UntrustedContentBlock,
)
from py_core.records.payloads import (
    MessagePayload,
    RetractionPayload,
    SystemPolicyPayload,
    UntrustedPayload,
)
from py_core.records.request_file import (
    Capacity,
    Intent,
    LaneOutcome,
    PolicyChoice,
    Score,
    Session,
)
from py_core.unicode_text import has_visible_text

TENANT = "local"
SYSTEM_ID = "system-text"
NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Of the system text, which is as old as the page, and of a shell without a clock."""

Role = Literal["user", "assistant"]
ROLES: tuple[Role, ...] = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Attachment:
    """Foreign text that came with a message: to be looked at, never obeyed."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """One earlier pair: what the user said and what was answered, in full or until stopped."""

    number: int
    user_text: str
    assistant_text: str
    attachments: tuple[Attachment, ...] = ()
    said_at: datetime = NO_TIME
    used_ids: tuple[str, ...] = ()
    """Memories that stood in the prompt of the answer."""


@dataclass(frozen=True, slots=True)
class MemoryForPrompt:
    """What memory gives to one request; the defaults are no memory at all."""

    records: tuple[Record, ...] = ()
    scores: Mapping[str, Score] = field(default_factory=dict)
    intent: Intent = field(default_factory=Intent)
    lanes: tuple[LaneOutcome, ...] = ()
    shown: Mapping[str, int] = field(default_factory=dict)
    """Record to the turn whose answer was made with it."""

    withdrawn_turns: frozenset[int] = frozenset()
    """Turns whose answers were made with a memory that does not count any more."""


@dataclass(frozen=True, slots=True)
class ModelNumbers:
    """What the compiler has to know of the loaded model."""

    context_tokens: int
    identity: str
    template: PromptTemplate
    counter: TokenCounter


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything that was said, and what is said now."""

    system_text: str
    earlier: Sequence[Exchange]
    message: str
    number: int
    """Of this turn; it becomes the number of the exchange."""

    session_key: str
    attachments: Sequence[Attachment] = ()
    now: datetime = NO_TIME
    raw_message: str = ""
    """The message with its commands about memory, where it has any."""

    def name(self, number: int, role: Role) -> str:
        """Give the id of a message."""
        return name_message(self.session_key, number, role)

    @property
    def message_ids(self) -> tuple[str, ...]:
        """Give the ids of all messages, this one's last."""
        earlier = [self.name(exchange.number, role) for exchange in self.earlier for role in ROLES]
        return (*earlier, self.name(self.number, "user"))


NO_MEMORY = MemoryForPrompt()


def make_compile_request(
    conversation: Conversation,
    model: ModelNumbers,
    max_tokens: int,
    memory: MemoryForPrompt = NO_MEMORY,
) -> CompileRequest:
    """Make the request of one turn.

    Raises:
        InvalidTextError: the message holds nothing that can be seen, or is too long for a record.
        ContextOverflowError: system text or message is hopelessly longer than the prompt may be.
    """
    if not has_visible_text(conversation.message):
        raise InvalidTextError(field="text", expected="type a message")
    for index, attachment in enumerate(conversation.attachments):
        if not has_visible_text(attachment.text):
            field = f"attachments[{index}].text"
            raise InvalidTextError(field=field, expected="attach a text that can be seen")
    capacity = Capacity(
        context_tokens=model.context_tokens,
        max_tokens=max_tokens,
        model_identity=model.identity,
        template=model.template.kind,
    )
    for tier, text in ((1, conversation.system_text), (2, conversation.message)):
        _refuse_endless(text, tier, capacity, model.counter)
    return CompileRequest(
        records=(*_make_records(conversation, memory.withdrawn_turns), *memory.records),
        session=Session(
            tenant=TENANT,
            clearance=Sensitivity.SECRET,
            now=conversation.now,
            session_key=conversation.session_key,
            turn=conversation.number,
        ),
        capacity=capacity,
        policy=PolicyChoice(),
        scores=memory.scores,
        intent=memory.intent,
        lanes=memory.lanes,
        counter=model.counter,
        template=model.template,
        shown={
            name: conversation.name(number, "assistant") for name, number in memory.shown.items()
        },
    )


def _make_records(conversation: Conversation, withdrawn: frozenset[int]) -> list[Record]:
    records: list[Record] = []
    if has_visible_text(conversation.system_text):
        payload = SystemPolicyPayload(text=conversation.system_text, layer="application")
        records.append(
            SystemPolicyRecord(
                record_id=SYSTEM_ID,
                payload=payload,
                tenant_binding=TENANT,
                source="page",
                observation_time=NO_TIME,
            )
        )
    for exchange in conversation.earlier:
        records += _make_exchange(conversation, exchange)
        if exchange.number in withdrawn:
            records.append(_withdraw(conversation, exchange))
    now, number = conversation.now, conversation.number
    name = conversation.name(number, "user")
    records.append(_make_message(name, "user", conversation.message, number, now))
    records += _make_blocks(name, conversation.attachments, now)
    return records


def _make_exchange(conversation: Conversation, exchange: Exchange) -> list[Record]:
    number, said_at = exchange.number, exchange.said_at
    asked = conversation.name(number, "user")
    records: list[Record] = [_make_message(asked, "user", exchange.user_text, number, said_at)]
    records += _make_blocks(asked, exchange.attachments, said_at)
    # A model may answer with nothing at all; there is no record of nothing.
    if has_visible_text(exchange.assistant_text):
        name, text = conversation.name(number, "assistant"), exchange.assistant_text
        # What the user takes back must not live on in what was answered to it.
        records.append(_make_message(name, "assistant", text, number, said_at, (asked,)))
    return records


def _make_message(
    name: str,
    role: Role,
    text: str,
    number: int,
    said_at: datetime,
    sources: tuple[str, ...] = (),
) -> RoleTaggedMessage:
    facts = list_traits(text) if role == "user" else ()
    return RoleTaggedMessage(
        record_id=name,
        payload=MessagePayload(text=text, facts=facts, role=role, turn=number),
        tenant_binding=TENANT,
        source="conversation",
        observation_time=said_at,
        derived_from=sources,
    )


def _make_blocks(
    name: str, attachments: Sequence[Attachment], said_at: datetime
) -> list[UntrustedContentBlock]:
    turn, _, session = name.partition("-user")
    return [
        UntrustedContentBlock(
            record_id=f"{turn}-attachment-{index}{session}",
            payload=UntrustedPayload(text=attachment.text),
            tenant_binding=TENANT,
            source=attachment.name,
            observation_time=said_at,
            derived_from=(name,),
        )
        for index, attachment in enumerate(attachments, 1)
    ]


def _withdraw(conversation: Conversation, exchange: Exchange) -> Retraction:
    """Take an answer back that was made with a memory which does not count any more."""
    name = conversation.name(exchange.number, "assistant")
    return Retraction(
        record_id=f"withdrawn-{name}",
        payload=RetractionPayload(target_id=name, reason="made with a memory that is gone"),
        tenant_binding=TENANT,
        source="memory",
        observation_time=conversation.now,
    )


def _refuse_endless(text: str, tier: int, capacity: Capacity, counter: TokenCounter) -> None:
    """Refuse what no record can hold, with the tokens that it would need at least."""
    if len(text) <= LARGEST_TEXT_CHARS:
        return
    room = measure_room(capacity, choose_row(capacity.context_tokens, PolicyChoice()))
    allowed = room.core_limit_tokens
    needed = counter.least_tokens(text, enough=allowed)
    if needed > allowed:
        raise ContextOverflowError(needed=needed, allowed=allowed, tier=tier, is_exact=False)
    raise InvalidTextError(field="text", expected=f"at most {LARGEST_TEXT_CHARS} characters")
