"""What the compiler is asked, and what it asks of a tokenizer.

Takes a checked request file, a token counter and a template; gives one frozen request, so that no
step reads a clock, a file or a model. Does not know where any of it came from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from py_core.compiler.policy import PolicyRow, choose_row
from py_core.records.kinds import Record
from py_core.records.request_file import (
    Capacity,
    Intent,
    LaneOutcome,
    PolicyChoice,
    RequestFile,
    Score,
    Session,
)


class TokenCounter(Protocol):
    """A tokenizer as the compiler sees it."""

    @property
    def identity(self) -> str:
        """The sha256 of the tokenizer."""

    @property
    def control_ids(self) -> Mapping[str, int]:
        """Role marks and end marks by name; encoding a text never yields one of these ids."""

    @property
    def begin_id(self) -> int | None:
        """The mark that opens a prompt, where the tokenizer has one."""

    def encode(self, text: str) -> Sequence[int]:
        """The token ids of a text on its own, without begin and end marks."""

    def least_tokens(self, text: str, enough: int) -> int:
        """A lower bound of the token count, cheap; exact work may stop once above `enough`."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """How turns are framed. ChatML names its two marks; plain texts are parted by line ends."""

    kind: Literal["chatml", "plain"]
    default_system: str = ""
    turn_start: str = ""
    turn_end: str = ""


@dataclass(frozen=True)
class CompileRequest:
    """Everything that decides the prompt; the same request gives the same plan."""

    records: tuple[Record, ...]
    session: Session
    capacity: Capacity
    policy: PolicyChoice
    scores: Mapping[str, Score]
    intent: Intent
    lanes: tuple[LaneOutcome, ...]
    counter: TokenCounter
    template: PromptTemplate
    shown: Mapping[str, str] = field(default_factory=dict)
    """Records that were shown for this very question and have not changed, each with the answer
    that was made with it. While that answer stands in the prompt, the record is only named."""

    @cached_property
    def row(self) -> PolicyRow:
        """The policy for a model of this size, with what the user fixed."""
        return choose_row(self.capacity.context_tokens, self.policy, self.intent.task)


def write_request_file(request: CompileRequest) -> RequestFile:
    """Give the data of a request as a file has it; with the same model it compiles the same."""
    return RequestFile(
        records=request.records,
        session=request.session,
        capacity=request.capacity,
        policy=request.policy,
        scores=dict(request.scores),
        intent=request.intent,
        lanes=request.lanes,
        shown=dict(request.shown),
    )


def join_request(
    file: RequestFile, counter: TokenCounter, template: PromptTemplate
) -> CompileRequest:
    """Put the data of a request together with the two things that are no data."""
    return CompileRequest(
        records=file.records,
        session=file.session,
        capacity=file.capacity,
        policy=file.chosen_policy,
        scores=file.full_scores,
        intent=file.intent,
        lanes=file.lanes,
        counter=counter,
        template=template,
        shown=file.shown,
    )
