"""From a conversation to the prompt of one turn, with what memory gives to it.

Takes a conversation and a memory, gives the compiled plan, its request and an account of how the
memories were found. Does not know how text is generated.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from py_core.chat.find_memory import TurnMemory
from py_core.chat.memory_question import ALL_CANDIDATES, FoundMemory, NoticeCode, Question
from py_core.chat.retrieval_account import RetrievalAccount, make_account
from py_core.chat.traits import list_slots
from py_core.chat.turn_records import (
    NO_MEMORY,
    Conversation,
    MemoryForPrompt,
    ModelNumbers,
    make_compile_request,
)
from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import Plan
from py_core.compiler.policy import choose_row
from py_core.compiler.request import CompileRequest
from py_core.records.request_file import PolicyChoice, Score
from py_core.retrieval.correct_intent import Correction
from py_core.retrieval.intent import Turn

EARLIER_EXCHANGES = 3
LEAST_ROW_TOKENS = 20
"""No row with its source is shorter."""

LEAST_CANDIDATES = 16
_PPM = 1_000_000


@dataclass(frozen=True, slots=True)
class Prompt:
    """A frozen prompt and where it came from."""

    plan: Plan
    request: CompileRequest
    found: FoundMemory | None
    account: RetrievalAccount | None

    @property
    def notices(self) -> tuple[tuple[NoticeCode, str], ...]:
        """What went wrong on the way, as code and sentence."""
        return () if self.found is None else self.found.notices

    def note_shown(self, memory: TurnMemory | None, turn: int) -> tuple[str, ...]:
        """Tell the conversation's log what the prompt held; give the ids of these memories."""
        if memory is None or self.found is None:
            return ()
        # What one record stood for was shown with it.
        shown = [(name, node.score) for node in self.plan.nodes for name in node.provenance]
        return memory.note_shown(self.found, turn, shown)


class Prompter:
    """Prepares the prompt of one turn."""

    def __init__(self, conversation: Conversation, model: ModelNumbers, max_tokens: int) -> None:
        """Take what was said and what the model can hold."""
        self._conversation, self._model, self._max_tokens = conversation, model, max_tokens

    async def prepare(self, memory: TurnMemory | None, correction: Correction | None) -> Prompt:
        """Ask memory, then compile.

        Raises:
            ContextOverflowError: system text and message do not fit.
            InvalidTextError: the message is blank.
        """
        if memory is None:
            return self._compile(None, NO_MEMORY)
        found = await memory.find(self._make_question(memory, correction))
        with memory.timing("compile"):
            prompt = self._compile(found, self._give(found, memory))
        account = make_account(found, prompt.plan, prompt.request, memory)
        return Prompt(prompt.plan, prompt.request, found, account)

    def _compile(self, found: FoundMemory | None, given: MemoryForPrompt) -> Prompt:
        request = make_compile_request(self._conversation, self._model, self._max_tokens, given)
        return Prompt(compile_context(request), request, found, None)

    def _make_question(self, memory: TurnMemory, correction: Correction | None) -> Question:
        conversation, context = self._conversation, self._model.context_tokens
        row = choose_row(context, PolicyChoice())
        memory_tokens = context * row.memory_share_ppm // _PPM
        most = max(LEAST_CANDIDATES, memory_tokens // LEAST_ROW_TOKENS)
        return Question(
            turn=make_turn(conversation, memory),
            correction=correction,
            is_bypassed=row.memory_share_ppm == 0,
            most_candidates=min(ALL_CANDIDATES, most),
            slots=list_slots(conversation.message),
            message_ids=conversation.message_ids,
        )

    def _give(self, found: FoundMemory, memory: TurnMemory) -> MemoryForPrompt:
        retrieved = found.retrieved
        names = {record.record_id for record in found.records}
        # What was opened for other reasons than relevance has none, and says so.
        scores: Mapping[str, Score] = {n: retrieved.scores.get(n, Score()) for n in sorted(names)}
        return MemoryForPrompt(
            records=found.records,
            scores=scores,
            intent=retrieved.compiler_intent,
            lanes=tuple(report.outcome for report in found.lanes),
            shown=found.shown,
            withdrawn_turns=frozenset(
                exchange.number
                for exchange in self._conversation.earlier
                if not all(map(memory.still_counts, exchange.used_ids))
            ),
        )


def make_turn(conversation: Conversation, memory: TurnMemory) -> Turn:
    """Give what an intent is made from; what the user took back is not among it."""
    recent = [
        text
        for exchange in conversation.earlier[-EARLIER_EXCHANGES:]
        if not memory.is_taken_back(conversation.name(exchange.number, "user"))
        for text in (exchange.user_text, exchange.assistant_text)
    ]
    return Turn(
        message=conversation.raw_message,
        now=conversation.now,
        earlier=tuple(recent),
        persona=conversation.system_text,
        known_names=memory.shelf.projects,
    )
