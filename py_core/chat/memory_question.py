"""What a turn asks of memory, and what it gets: the values between conversation and search.

Takes nothing, gives frozen types and the one port of the embedder. Does not know how anything is
found.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from py_core.errors import BadRequestError
from py_core.memory_errors import StorageFullError, StorageLostError
from py_core.records.kinds import Record
from py_core.retrieval.correct_intent import Correction
from py_core.retrieval.intent import RetrievalIntent, Turn
from py_core.retrieval.lanes import LaneReport
from py_core.retrieval.relevance import VectorScores
from py_core.retrieval.retrieve import Retrieved
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.text_index import TextIndex

ALL_CANDIDATES: Final = RelevanceSettings().candidates
STORE_ERRORS: Final = (StorageLostError, StorageFullError, BadRequestError)
"""What a store may say no with; a turn goes on after each of them."""

NoticeCode = Literal["memory_unavailable", "memory_index_rebuilt", "memory_not_noted"]


class VectorPort(Protocol):
    """An embedder with the vectors of what is indexed."""

    async def vectors_for(self, query_text: str, index: TextIndex) -> VectorScores | None:
        """Compare a question with all documents; None where that cannot be done now."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a turn asks, and what it has been talking about.

    Attributes:
        turn: The message, the turns before, the clock.
        correction: What the user changed for this turn.
        is_bypassed: The model has no room for memory, so no lane is asked.
        most_candidates: More rows than these cannot fit.
        slots: Claims of the message; memories that claim the same are needed to be overridden.
        message_ids: All messages of the conversation.
    """

    turn: Turn
    correction: Correction | None = None
    is_bypassed: bool = False
    most_candidates: int = ALL_CANDIDATES
    slots: tuple[str, ...] = ()
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """What goes to the compiler, and what is told of it.

    Attributes:
        intent: What was looked for.
        retrieved: The candidates with their scores.
        lanes: How asking each lane ended.
        records: All that the request needs besides the conversation.
        shown: Record to the turn whose answer was made with it, for the very same question.
        notices: What went wrong, as code and sentence.
        indexed: How many records can be found.
    """

    intent: RetrievalIntent
    retrieved: Retrieved
    lanes: tuple[LaneReport, ...]
    records: tuple[Record, ...]
    shown: Mapping[str, int]
    notices: tuple[tuple[NoticeCode, str], ...]
    indexed: int
