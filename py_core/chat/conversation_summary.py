"""A summary of the conversation: which turns, written by the rule or by the loaded model.

Takes the transcript, the heads of the ledger and, for the second way, the model; gives a draft that
nobody keeps yet. What was taken back is not read. Does not know requests or the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from py_core.chat.loaded_model import LoadedModel
from py_core.chat.message_ids import name_message
from py_core.chat.pacing import Pacer, StopSignal
from py_core.chat.plan_shelf import PlanShelf
from py_core.chat.transcript import Transcript
from py_core.chat.turn import TurnAsk, TurnListener, TurnPorts, make_sampling, run_turn
from py_core.chat.turn_records import ROLES, TENANT, Exchange
from py_core.errors import RequestCancelledError
from py_core.memory.changes import Stamp
from py_core.memory.model_summary import (
    POLICY,
    accept_summary,
    write_note,
    write_summary_request,
)
from py_core.memory.summary import summarise
from py_core.memory_errors import ChangeRefusedError
from py_core.records.kinds import Record, RoleTaggedMessage, ShortTermSummary
from py_core.records.payloads import MessagePayload
from py_core.store.head_table import as_table
from py_core.store.heads import Head
from py_core.unicode_text import has_visible_text

# Frames, system text and guard of the prompt that the model is asked with.
FRAME_TOKENS = 160
NOTHING_TO_SAY = "needs turns that say something and fit into the model's context"


@dataclass(frozen=True, slots=True)
class SummaryPorts:
    """The outside of a model's work: time, ears, the wish to stop."""

    pacer: Pacer
    listener: TurnListener
    stop: StopSignal


def list_turns(transcript: Transcript, heads: Mapping[str, Head]) -> tuple[Record, ...]:
    """Give the messages of the conversation as records, oldest first, under their own names."""
    taken_back = {
        target for head in as_table(heads).of_kind("Retraction") for target in head.targets
    }
    found: list[Record] = []
    for exchange in transcript.exchanges:
        names = [name_message(transcript.session_key, exchange.number, role) for role in ROLES]
        if names[0] not in taken_back:
            texts = (exchange.user_text, exchange.assistant_text)
            found += _make_pair(exchange, names, texts)
    return tuple(found)


def _make_pair(
    exchange: Exchange, names: Sequence[str], texts: Sequence[str]
) -> Iterator[RoleTaggedMessage]:
    for name, role, text in zip(names, ROLES, texts, strict=True):
        if has_visible_text(text):
            yield RoleTaggedMessage(
                record_id=name,
                payload=MessagePayload(text=text, role=role, turn=exchange.number),
                tenant_binding=TENANT,
                source="conversation",
                observation_time=exchange.said_at,
            )


def find_older(heads: Mapping[str, Head], turns: Sequence[Record]) -> tuple[str, ...]:
    """Give the summaries of no other turns than these; a new one takes their place."""
    names = {turn.record_id for turn in turns}
    return tuple(
        sorted(
            head.record_id
            for head in as_table(heads).of_kind("ShortTermSummary")
            if head.is_active and head.derived_from and names.issuperset(head.derived_from)
        )
    )


def draft_by_rule(
    turns: Sequence[Record], heads: Mapping[str, Head], stamp: Stamp
) -> ShortTermSummary:
    """Pick whole sentences.

    Raises:
        ChangeRefusedError: there is nothing to sum up.
    """
    return _require(summarise(turns, stamp, supersedes=find_older(heads, turns)))


async def draft_by_model(
    model: LoadedModel,
    turns: Sequence[Record],
    heads: Mapping[str, Head],
    stamp: Stamp,
    ports: SummaryPorts,
) -> ShortTermSummary:
    """Let the model write, having read as many of the newest turns as fit.

    Raises:
        ChangeRefusedError: there is nothing to sum up, or the model wrote nothing.
        RequestCancelledError: it was stopped.
    """
    read = _choose_newest(turns, model)
    if not read:
        raise ChangeRefusedError(field="summary", expected=NOTHING_TO_SAY)
    ask = TurnAsk(
        text=write_summary_request(read),
        system_text=POLICY.system_text,
        sampling=make_sampling(0.0, 1, top_p=1.0, seed=1),
        max_tokens=_count_answer_tokens(model),
    )
    now = datetime.fromisoformat(stamp.now).astimezone(UTC)
    turn_ports = TurnPorts(ports.pacer, ports.listener, ports.stop, PlanShelf(), now=now)
    outcome = await run_turn(model, Transcript("summary"), ask, turn_ports)
    if outcome.finish_reason == "stopped":
        raise RequestCancelledError(kind="memory.summarise")
    summary = accept_summary(
        outcome.text,
        read,
        f"{model.facts.name}@{model.facts.sha256[:12]}",
        stamp,
        unread=len(turns) - len(read),
        supersedes=find_older(heads, turns),
    )
    return _require(summary)


def _choose_newest(turns: Sequence[Record], model: LoadedModel) -> tuple[Record, ...]:
    request = len(model.counter.encode(POLICY.request_text))
    room = model.facts.context_tokens - _count_answer_tokens(model) - FRAME_TOKENS - request
    chosen: list[Record] = []
    for number, turn in enumerate(reversed(turns), 1):
        room -= len(model.counter.encode(write_note(turn, number))) + 1
        if room < 0:
            break
        chosen.append(turn)
    return tuple(reversed(chosen))


def _count_answer_tokens(model: LoadedModel) -> int:
    return min(POLICY.most_tokens, model.facts.context_tokens // 4)


def _require(found: ShortTermSummary | None) -> ShortTermSummary:
    if found is None:
        raise ChangeRefusedError(field="summary", expected=NOTHING_TO_SAY)
    return found
