"""One turn: compile the prompt, generate, stream the text, remember the pair.

Takes a loaded model, the transcript, the user's message and the ports to the outside. Gives how
the turn ended, or raises one of our errors with transcript and model as they were. Does not know
messages, pages or where the model came from.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol, assert_never

from kernels.errors import KernelError
from kernels.generate import Pause, Prefilled, Step, Token, generate_steps
from kernels.sampler import SamplerSettings
from kernels.tokenizer import StreamDecoder
from py_core.chat.cache_reuse import (
    EXACTLY,
    NOTHING_MORE,
    CacheDesk,
    Prepared,
    ReuseAsk,
    ReuseReport,
)
from py_core.chat.find_memory import TurnMemory
from py_core.chat.kernel_errors import translate_kernel_error
from py_core.chat.loaded_model import LoadedModel
from py_core.chat.memory_question import STORE_ERRORS, NoticeCode
from py_core.chat.pacing import Pacer, StopSignal
from py_core.chat.plan_shelf import PlanShelf
from py_core.chat.prompter import Prompter
from py_core.chat.retrieval_account import RetrievalAccount
from py_core.chat.transcript import Transcript
from py_core.chat.turn_records import Attachment, Conversation, ModelNumbers
from py_core.compiler.plan import Plan
from py_core.errors import ModelTooLargeError
from py_core.retrieval.controls import strip_controls
from py_core.retrieval.correct_intent import Correction
from py_core.store.prefix_store import NoPrefixes

FinishReason = Literal["end", "length", "context", "stopped", "halted"]
"""`halted`: a policy forbids to answer this request at all."""


@dataclass(frozen=True, slots=True)
class TurnAsk:
    """What the user wants answered, and how the answer is drawn."""

    text: str
    system_text: str
    sampling: SamplerSettings
    max_tokens: int
    attachments: tuple[Attachment, ...] = ()
    correction: Correction | None = None
    """What the user changed in the intent of this turn."""

    reuse: ReuseAsk = EXACTLY


class TurnListener(Protocol):
    """Hears of a turn while it runs: the plan first, then progress, then text."""

    def on_plan(self, plan: Plan, account: RetrievalAccount | None) -> None:
        """The prompt is frozen; the account says how its memories were found."""

    def on_notice(self, code: NoticeCode, text: str) -> None:
        """Something went wrong, and the turn goes on."""

    def on_prefill(self, done: int, total: int) -> None:
        """So many prompt tokens are read."""

    def on_text(self, text: str, ids: Sequence[int]) -> None:
        """New ids, and the text that they complete."""


@dataclass(frozen=True, slots=True)
class TurnPorts:
    """The outside of a turn: times, ears, the wish to stop, memory, and where things are kept."""

    pacer: Pacer
    listener: TurnListener
    stop: StopSignal
    shelf: PlanShelf
    now: datetime
    """When the message was sent."""

    memory: TurnMemory | None = None
    desk: CacheDesk = field(default_factory=lambda: CacheDesk(NoPrefixes()))


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended, in counts and measured times."""

    finish_reason: FinishReason
    text: str
    output_ids: tuple[int, ...]
    prompt_tokens: int
    reused_tokens: int
    prefill_ms: float
    decode_ms: float
    reuse: ReuseReport = NOTHING_MORE


def make_sampling(temperature: float, top_k: int, *, top_p: float, seed: int) -> SamplerSettings:
    """Check and freeze how the next id is drawn.

    Raises:
        InvalidSettingError: a setting is outside its range.
    """
    try:
        return SamplerSettings(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed)
    except KernelError as error:
        raise translate_kernel_error(error) from error


async def run_turn(
    model: LoadedModel, transcript: Transcript, ask: TurnAsk, ports: TurnPorts
) -> TurnOutcome:
    """Answer one message; a stopped turn keeps its partial text.

    Raises:
        ContextOverflowError: system text and message do not fit.
        InvalidTextError: the message is blank.
        ModelTooLargeError: the memory for keys and values could not be had.
    """
    conversation = _open_conversation(transcript, ask, ports.now)
    numbers = _read_numbers(model)
    prompter = Prompter(conversation, numbers, ask.max_tokens)
    prompt = await prompter.prepare(ports.memory, ask.correction)
    ports.shelf.keep(prompt.plan, prompt.request)
    for code, text in prompt.notices:
        ports.listener.on_notice(code, text)
    ports.listener.on_plan(prompt.plan, prompt.account)
    outcome, prepared = await answer_plan(model, prompt.plan, ask, ports)
    if prepared is None:
        return outcome
    if outcome.finish_reason != "stopped" or outcome.text:
        used_ids = prompt.note_shown(ports.memory, conversation.number)
        transcript.record(
            conversation.message,
            outcome.text,
            ask.attachments,
            said_at=conversation.now,
            used_ids=used_ids,
        )
        await _note_plan(prompt.plan, used_ids, ports)
    report = await ports.desk.finish(
        model, prompt.plan, prepared, ask.reuse, pacer=ports.pacer, stop=ports.stop
    )
    return replace(outcome, reuse=report)


async def answer_plan(
    model: LoadedModel, plan: Plan, ask: TurnAsk, ports: TurnPorts
) -> tuple[TurnOutcome, Prepared | None]:
    """Generate from a plan; one that is halted is answered by nobody, and no cache is prepared.

    Raises:
        ModelTooLargeError: the memory for keys and values could not be had.
    """
    if plan.generation == "halted":
        return TurnOutcome("halted", HALTED_TEXT, (), len(plan.prompt_ids), 0, 0.0, 0.0), None
    try:
        prepared = await ports.desk.prepare(model, plan, ask.reuse)
        return await _Run(model, plan, ports, prepared).drain(ask), prepared
    except KernelError as error:
        raise translate_kernel_error(error) from error
    except MemoryError as error:
        raise ModelTooLargeError(
            name=model.facts.name, needed_bytes=model.cache.bytes_total
        ) from error


HALTED_TEXT = "A policy forbids this request, so the model was not asked."


async def _note_plan(plan: Plan, used_ids: Sequence[str], ports: TurnPorts) -> None:
    """Tell the memory where it was used; a store that is lost costs the note alone."""
    if ports.memory is None:
        return
    try:
        await ports.memory.note_plan(plan.plan_hash, used_ids, ports.now)
    except STORE_ERRORS as error:
        ports.listener.on_notice("memory_not_noted", error.message)


def _open_conversation(transcript: Transcript, ask: TurnAsk, now: datetime) -> Conversation:
    return Conversation(
        system_text=ask.system_text,
        earlier=transcript.exchanges,
        message=strip_controls(ask.text),
        number=transcript.next_number,
        session_key=transcript.session_key,
        attachments=ask.attachments,
        now=transcript.settle_time(now),
        raw_message=ask.text,
    )


def _read_numbers(model: LoadedModel) -> ModelNumbers:
    return ModelNumbers(
        context_tokens=model.facts.context_tokens,
        identity=model.facts.sha256,
        template=model.template,
        counter=model.counter,
    )


class _Run:
    """The moving parts of one generation: what is produced, what is not yet shown, the times."""

    def __init__(
        self, model: LoadedModel, plan: Plan, ports: TurnPorts, prepared: Prepared
    ) -> None:
        self._model, self._plan, self._ports = model, plan, ports
        self._system_tokens = prepared.system_tokens
        self._decoder = StreamDecoder(model.tokenizer)
        self._text: list[str] = []
        self._output_ids: list[int] = []
        self._unsent_text, self._unsent_ids = "", list[int]()
        self._reused = 0
        self._first_token_ms: float | None = None

    async def drain(self, ask: TurnAsk) -> TurnOutcome:
        """Run to the end or to the stop signal; the generator is closed either way."""
        pacer, begin_ms = self._ports.pacer, self._ports.pacer.now_ms()
        steps = generate_steps(
            self._model.decoder,
            self._model.cache,
            self._plan.prompt_ids,
            ask.sampling,
            max_tokens=ask.max_tokens,
            stop_ids=self._model.stop_ids,
            cut=self._system_tokens,
        )
        try:
            finish_reason = await self._consume(steps)
        finally:
            steps.close()
        self._take_text(self._decoder.finish())
        self._flush()
        end_ms = pacer.now_ms()
        first_token_ms = end_ms if self._first_token_ms is None else self._first_token_ms
        return TurnOutcome(
            finish_reason=finish_reason,
            text="".join(self._text),
            output_ids=tuple(self._output_ids),
            prompt_tokens=len(self._plan.prompt_ids),
            reused_tokens=self._reused,
            prefill_ms=first_token_ms - begin_ms,
            decode_ms=end_ms - first_token_ms,
        )

    async def _consume(self, steps: Generator[Step, None, FinishReason]) -> FinishReason:
        pacer, stop = self._ports.pacer, self._ports.stop
        while True:
            try:
                self._take(next(steps))
            except StopIteration as finished:
                reason: FinishReason = finished.value
                return reason
            if pacer.is_due():
                self._flush()
                await pacer.rest()
            if stop.is_set:
                return "stopped"

    def _take(self, step: Step) -> None:
        match step:
            case Prefilled():
                self._reused = step.reused
                self._ports.listener.on_prefill(step.tokens_done, step.tokens_total)
            case Token():
                if self._first_token_ms is None:
                    self._first_token_ms = self._ports.pacer.now_ms()
                self._output_ids.append(step.id)
                self._unsent_ids.append(step.id)
                self._take_text(self._decoder.push(step.id))
            case Pause():
                pass
            case _:
                assert_never(step)

    def _take_text(self, text: str) -> None:
        self._text.append(text)
        self._unsent_text += text

    def _flush(self) -> None:
        """Send what is new in one event; at the pace of rests, so at most some ms old."""
        if self._unsent_ids or self._unsent_text:
            self._ports.listener.on_text(self._unsent_text, tuple(self._unsent_ids))
            self._unsent_text, self._unsent_ids = "", []
