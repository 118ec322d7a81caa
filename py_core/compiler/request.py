"""What the compiler is asked: texts, the model's capacity, its template and its token counter.

Takes nothing, gives frozen records and one protocol; all of it is handed over by the caller, so
that no step reads a clock, a file or a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


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
        """A cheap lower bound of the token count, which need not be sharp above `enough`."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """How turns are framed. ChatML names its two marks; plain texts are parted by line ends."""

    kind: Literal["chatml", "plain"]
    default_system: str = ""
    turn_start: str = ""
    turn_end: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One earlier pair: what the user said and what was answered, in full or until stopped."""

    number: int
    user_text: str
    assistant_text: str


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the loaded model offers and what the user asked of it."""

    context_tokens: int
    max_tokens: int
    model_identity: str


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The numbers of the budget for one class of models; shares in millionths of the context."""

    version: str
    output_share_ppm: int
    history_share_ppm: int
    guard_floor_tokens: int
    guard_share_ppm: int


LARGEST_FIXTURE_CONTEXT = 64

# A guard of 8 would take more than half of a 16-token prompt, so fixtures have none.
FIXTURE_POLICY = BudgetPolicy("minimal/1:fixture", 250_000, 450_000, 0, 0)
CHAT_POLICY = BudgetPolicy("minimal/1:chat", 250_000, 450_000, 8, 30_000)


def choose_policy(context_tokens: int) -> BudgetPolicy:
    """Pick the row for a model by its context length."""
    return FIXTURE_POLICY if context_tokens <= LARGEST_FIXTURE_CONTEXT else CHAT_POLICY


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Everything that decides the prompt; the same request gives the same plan."""

    system_text: str
    history: tuple[Exchange, ...]
    message: str
    capacity: Capacity
    template: PromptTemplate
    counter: TokenCounter
    policy: BudgetPolicy
