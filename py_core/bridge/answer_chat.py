"""The kind chat.send: one turn, reported as events, ended as a value.

Takes the payload and a way to emit, gives the result of the turn. Does not know ids or tasks.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from py_core.bridge.chat_messages import (
    ChatSendPayload,
    DriftData,
    IntentPreviewPayload,
    ReuseData,
)
from py_core.bridge.host import Host
from py_core.bridge.memory_hints import list_offers
from py_core.bridge.messages import (
    EventData,
    NoticeData,
    PlanData,
    ProgressData,
    TokenData,
    TurnResult,
)
from py_core.bridge.retrieval_messages import (
    IntentShown,
    read_correction,
    show_account,
    show_intent,
)
from py_core.chat.cache_reuse import ReuseAsk, ReuseReport
from py_core.chat.find_memory import TurnMemory, understand
from py_core.chat.loaded_model import LoadedModel
from py_core.chat.memory_question import NoticeCode, Question
from py_core.chat.prompter import make_turn
from py_core.chat.retrieval_account import RetrievalAccount
from py_core.chat.transcript import Transcript
from py_core.chat.turn import TurnAsk, TurnOutcome, TurnPorts, make_sampling, run_turn
from py_core.chat.turn_records import Attachment, Conversation
from py_core.compiler.plan import Plan
from py_core.retrieval.controls import strip_controls

Emit = Callable[[EventData], None]

MS_PER_SECOND = 1000.0


class TurnEvents:
    """Turns what a turn says into event data."""

    def __init__(self, emit: Emit, message: str) -> None:
        """Speak through `emit` of a turn about this message."""
        self._emit, self._message = emit, strip_controls(message)

    def on_plan(self, plan: Plan, account: RetrievalAccount | None) -> None:
        """Send the plan; it comes before the first token, and an offer to update memory after."""
        shown = None if account is None else show_account(account)
        self._emit(PlanData(plan=plan, retrieval=shown))
        for offer in list_offers(plan, self._message):
            self._emit(offer)

    def on_notice(self, code: NoticeCode, text: str) -> None:
        """Send what went wrong without ending the turn."""
        self._emit(NoticeData(code=code, text=text))

    def on_prefill(self, done: int, total: int) -> None:
        """Send how much of the prompt is read."""
        self._emit(ProgressData(step="prefill", done=done, total=total, text="prompt tokens"))

    def on_text(self, text: str, ids: Sequence[int]) -> None:
        """Send new text."""
        self._emit(TokenData(text=text, ids=tuple(ids)))


async def answer_chat_send(
    payload: ChatSendPayload,
    model: LoadedModel,
    transcript: Transcript,
    ports: TurnPorts,
    *,
    host: Host,
) -> TurnResult:
    """Run the turn; the ports report it."""
    settings = payload.settings
    ask = TurnAsk(
        text=payload.text,
        system_text=payload.system,
        sampling=make_sampling(
            settings.temperature, settings.top_k, top_p=settings.top_p, seed=settings.seed
        ),
        max_tokens=settings.max_tokens,
        attachments=tuple(Attachment(item.name, item.text) for item in payload.attachments),
        correction=read_correction(payload.intent),
        reuse=ReuseAsk(payload.kv_reuse, payload.kv_check),
    )
    outcome = await run_turn(model, transcript, ask, ports)
    return _describe(outcome, model, int(host.heap_bytes()))


def _describe(outcome: TurnOutcome, model: LoadedModel, heap_bytes: int) -> TurnResult:
    generated = len(outcome.output_ids)
    return TurnResult(
        finish_reason=outcome.finish_reason,
        text=outcome.text,
        prompt_tokens=outcome.prompt_tokens,
        generated_tokens=generated,
        reused_tokens=outcome.reused_tokens,
        prefill_ms=outcome.prefill_ms,
        decode_ms=outcome.decode_ms,
        prefill_tokens_per_s=_rate(
            outcome.prompt_tokens - outcome.reused_tokens, outcome.prefill_ms
        ),
        # The first token comes out of the prefill, so decoding made one less.
        decode_tokens_per_s=_rate(generated - 1, outcome.decode_ms),
        output_ids=outcome.output_ids,
        kv_bytes_used=model.cache.bytes_used,
        kv_bytes_total=model.cache.bytes_total,
        threads=model.ops.seats,
        heap_bytes=heap_bytes,
        reuse=_describe_reuse(outcome.reuse),
    )


def _describe_reuse(report: ReuseReport) -> ReuseData:
    drift = report.drift
    return ReuseData(
        restored_tokens=report.restored_tokens,
        prefix_discarded=report.prefix_discarded,
        spliced_tokens=report.spliced_tokens,
        is_splice_refused=report.is_splice_refused,
        drift=None
        if drift is None
        else DriftData(
            logit_difference=drift.logit_difference,
            first_changed_token=drift.first_changed,
            tokens=drift.tokens,
        ),
    )


def _rate(tokens: int, elapsed_ms: float) -> float:
    """Tokens a second; 0 when there is nothing to measure."""
    if tokens <= 0 or elapsed_ms <= 0:
        return 0.0
    return tokens * MS_PER_SECOND / elapsed_ms


def preview_intent(
    payload: IntentPreviewPayload, transcript: Transcript, memory: TurnMemory, now: datetime
) -> IntentShown:
    """Tell what a message would look for; nothing is asked or kept."""
    conversation = Conversation(
        system_text=payload.system,
        earlier=transcript.exchanges,
        message=payload.text,
        number=transcript.next_number,
        session_key=transcript.session_key,
        now=transcript.settle_time(now),
        raw_message=payload.text,
    )
    question = Question(make_turn(conversation, memory), read_correction(payload.intent))
    return show_intent(understand(question))
