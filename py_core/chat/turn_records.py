"""A conversation as typed records.

Takes the system text, the earlier exchanges and the message; gives the records and the request
that the compiler works on. Does not know models beyond their numbers, or how ids are generated.

No shell has told the time of day yet, so the number of a turn stands for its time: in a
conversation only the order matters, and the same conversation gives the same plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from py_core.compiler.budget import measure_room
from py_core.compiler.policy import choose_row
from py_core.compiler.request import CompileRequest, PromptTemplate, TokenCounter
from py_core.errors import ContextOverflowError, InvalidTextError
from py_core.records.fields import LARGEST_TEXT_CHARS, Sensitivity
from py_core.records.kinds import (
    Record,
    RoleTaggedMessage,
    SystemPolicyRecord,
    UntrustedContentBlock,
)
from py_core.records.payloads import MessagePayload, SystemPolicyPayload, UntrustedPayload
from py_core.records.request_file import Capacity, Intent, PolicyChoice, Session
from py_core.unicode_text import has_visible_text

TENANT = "local"
SYSTEM_ID = "system-text"
_FIRST_TURN = datetime(2000, 1, 1, tzinfo=UTC)


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


def make_compile_request(
    conversation: Conversation, model: ModelNumbers, max_tokens: int
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
        records=tuple(_make_records(conversation)),
        session=Session(
            tenant=TENANT,
            clearance=Sensitivity.SECRET,
            now=_time_of(conversation.number),
            session_key=conversation.session_key,
            turn=conversation.number,
        ),
        capacity=capacity,
        policy=PolicyChoice(),
        scores={},
        intent=Intent(),
        lanes=(),
        counter=model.counter,
        template=model.template,
    )


def _make_records(conversation: Conversation) -> list[Record]:
    records: list[Record] = []
    if has_visible_text(conversation.system_text):
        payload = SystemPolicyPayload(text=conversation.system_text, layer="application")
        records.append(
            SystemPolicyRecord(
                record_id=SYSTEM_ID,
                payload=payload,
                tenant_binding=TENANT,
                source="page",
                observation_time=_FIRST_TURN,
            )
        )
    for exchange in conversation.earlier:
        records.append(_make_message(exchange.number, "user", exchange.user_text))
        records += _make_blocks(exchange.number, exchange.attachments)
        # A model may answer with nothing at all; there is no record of nothing.
        if has_visible_text(exchange.assistant_text):
            records.append(_make_message(exchange.number, "assistant", exchange.assistant_text))
    records.append(_make_message(conversation.number, "user", conversation.message))
    records += _make_blocks(conversation.number, conversation.attachments)
    return records


def _make_message(number: int, role: Literal["user", "assistant"], text: str) -> RoleTaggedMessage:
    return RoleTaggedMessage(
        record_id=f"turn-{number}-{role}",
        payload=MessagePayload(text=text, role=role, turn=number),
        tenant_binding=TENANT,
        source="conversation",
        observation_time=_time_of(number),
    )


def _make_blocks(number: int, attachments: Sequence[Attachment]) -> list[UntrustedContentBlock]:
    return [
        UntrustedContentBlock(
            record_id=f"turn-{number}-attachment-{index}",
            payload=UntrustedPayload(text=attachment.text),
            tenant_binding=TENANT,
            source=attachment.name,
            observation_time=_time_of(number),
        )
        for index, attachment in enumerate(attachments, 1)
    ]


def _time_of(number: int) -> datetime:
    return _FIRST_TURN + timedelta(seconds=number)


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
