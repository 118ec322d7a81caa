"""Which earlier turns stay when not all of them fit.

Takes earlier messages, gives exchanges in the order in which they are taken in: sources that a
summary was found too thin for, then the newest, and with turn-aware truncation the very first
exchange right after the newest one. Does not know costs.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from py_core.compiler.candidate import Candidate
from py_core.records.kinds import RoleTaggedMessage


@dataclass(frozen=True, slots=True)
class Exchange:
    """The messages of one earlier turn, taken in or left out together."""

    conversation: str
    turn: int
    messages: tuple[Candidate, ...]


def gather_exchanges(candidates: Iterable[Candidate]) -> list[Exchange]:
    """Group earlier messages by turn, oldest first."""
    groups: dict[tuple[int, str], list[Candidate]] = {}
    for candidate in candidates:
        record = candidate.record
        if isinstance(record, RoleTaggedMessage):
            payload = record.payload
            groups.setdefault((payload.turn, payload.conversation), []).append(candidate)
    return [
        Exchange(conversation, turn, tuple(sorted(group, key=_speaking_order)))
        for (turn, conversation), group in sorted(groups.items())
    ]


def order_by_worth(
    exchanges: list[Exchange], preferred: frozenset[str], *, keeps_first: bool
) -> list[Exchange]:
    """Order exchanges by how long they are kept; independent of any budget."""
    newest_first = list(reversed(exchanges))
    if keeps_first and len(newest_first) > 1:
        newest_first.insert(1, newest_first.pop())
    # A stable sort: among the wanted and among the others the order stays.
    return sorted(newest_first, key=lambda exchange: not _holds(exchange, preferred))


def _holds(exchange: Exchange, ids: frozenset[str]) -> bool:
    return any(message.record_id in ids for message in exchange.messages)


def _speaking_order(message: Candidate) -> tuple[bool, object, str]:
    record = message.record
    is_answer = isinstance(record, RoleTaggedMessage) and record.payload.role == "assistant"
    return is_answer, record.observation_time, record.record_id
