"""One turn on a real tiny model: what is streamed, measured, remembered, and left alone."""

import asyncio
from datetime import UTC, datetime

import pytest

from kernels.byte_source import BytesSource
from kernels.sampler import SamplerSettings
from py_core.chat.loaded_model import FileOrigin
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.model_session import ModelSession
from py_core.chat.op_sets import EngineWish
from py_core.chat.pacing import Pacer, StopSignal
from py_core.chat.plan_shelf import PlanShelf
from py_core.chat.transcript import Transcript
from py_core.chat.turn import (
    HALTED_TEXT,
    TurnAsk,
    TurnPorts,
    answer_plan,
    make_sampling,
    run_turn,
)
from py_core.chat.turn_records import NO_TIME
from py_core.errors import ContextOverflowError, InvalidSettingError
from tests.py_core.fake_host import FakeHost
from tests.py_core.model_files import make_model
from tests.record_builders import compile_records, make_policy, make_turn

ASK = TurnAsk("hello", "", SamplerSettings(), max_tokens=20)


class Listener:
    """Notes what it hears, in order."""

    def __init__(self):
        self.heard = []
        self.texts = []
        self.on_text_do = lambda: None

    def on_plan(self, plan, account):
        """Note the plan."""
        self.heard.append("plan")
        self.plan, self.account = plan, account

    def on_notice(self, code, text):
        """Note the notice."""
        self.heard.append("notice")

    def on_prefill(self, done, total):
        """Note the progress."""
        self.heard.append("prefill")

    def on_text(self, text, ids):
        """Note text with its ids."""
        self.heard.append("text")
        self.texts.append((text, ids))
        self.on_text_do()


class Bench:
    """A loaded model with transcript, listener, clock and stop signal."""

    def __init__(self, *, tick_ms=1.0, **model):
        content, session = make_model(**model), ModelSession(MemoryRoom(FakeHost()))
        for _ in session.load_steps(BytesSource(content), FileOrigin("m", 1, "0"), EngineWish()):
            pass
        self.model = session.require_model()
        self.transcript, self.listener, self.stop = Transcript(), Listener(), StopSignal()
        self.host = FakeHost(tick_ms=tick_ms)

    def ports(self, now=NO_TIME):
        """Give the outside of one turn."""
        return TurnPorts(Pacer(self.host), self.listener, self.stop, PlanShelf(), now)

    def run(self, ask=ASK, now=NO_TIME):
        """Run one turn."""
        return asyncio.run(run_turn(self.model, self.transcript, ask, self.ports(now)))


def test_the_listener_hears_the_plan_then_the_prefill_then_the_text():
    """Order of a turn."""
    bench = Bench()

    bench.run()

    heard = bench.listener.heard
    assert heard[0] == "plan"
    assert heard.index("text") > heard.index("prefill")
    assert heard == sorted(heard, key=["plan", "prefill", "text"].index)


@pytest.mark.parametrize("tick_ms", [0.0, 1.0, 40.0])
def test_how_the_stream_is_cut_never_changes_what_it_says(tick_ms):
    """Batches follow the clock; text and ids are the same in any batching."""
    bench, other = Bench(tick_ms=tick_ms), Bench(tick_ms=3.0)

    outcome, expected = bench.run(), other.run()

    assert outcome.output_ids == expected.output_ids
    assert "".join(text for text, _ in bench.listener.texts) == outcome.text == expected.text
    assert tuple(i for _, ids in bench.listener.texts for i in ids) == outcome.output_ids


def test_a_slow_model_shows_every_token_on_its_own():
    """When a token takes longer than a rest's distance, no token waits for the next."""
    bench = Bench(tick_ms=40.0)

    outcome = bench.run()

    sizes = [len(ids) for _, ids in bench.listener.texts if ids]
    assert sizes == [1] * len(outcome.output_ids)


def test_times_come_from_the_injected_clock():
    """A clock that stands still measures nothing; no other clock is read."""
    outcome = Bench(tick_ms=0.0).run()

    assert outcome.prefill_ms == 0
    assert outcome.decode_ms == 0


def test_the_pair_is_remembered_as_it_was_said():
    """The transcript holds the message and the whole answer."""
    bench = Bench()

    outcome = bench.run()

    pair = bench.transcript.exchanges[0]
    assert (pair.user_text, pair.assistant_text) == ("hello", outcome.text)


def test_stopping_ends_within_one_rest_and_keeps_the_partial_text():
    """The cache stays true: the next turn gives what a fresh model gives."""
    bench = Bench(tick_ms=40.0)
    bench.listener.on_text_do = bench.stop.set

    stopped = bench.run()
    bench.stop = StopSignal()
    bench.listener.on_text_do = lambda: None
    follow_up = bench.run(TurnAsk("go on", "", SamplerSettings(), max_tokens=10))

    fresh = Bench()
    fresh.transcript.record("hello", stopped.text)
    expected = fresh.run(TurnAsk("go on", "", SamplerSettings(), max_tokens=10))
    assert stopped.finish_reason == "stopped"
    assert len(stopped.output_ids) == 1
    assert follow_up.output_ids == expected.output_ids
    assert follow_up.reused_tokens > 0
    assert expected.reused_tokens == 0


def test_an_answer_may_fill_the_context_and_no_more():
    """The finish reason is `context` when there is no room for another token."""
    bench = Bench(context_tokens=16, chatml=False, seed=4)

    outcome = bench.run(TurnAsk("abc", "", SamplerSettings(), max_tokens=64))

    assert outcome.finish_reason == "context"
    assert outcome.prompt_tokens + len(outcome.output_ids) == 16


def test_a_turn_that_does_not_fit_leaves_transcript_and_cache():
    """Failing costs nothing."""
    bench = Bench()
    bench.run()
    cached, pairs = bench.model.cache.ids, bench.transcript.exchanges

    with pytest.raises(ContextOverflowError):
        bench.run(TurnAsk("x" * 1_000_000, "", SamplerSettings(), max_tokens=4))

    assert bench.model.cache.ids == cached
    assert bench.transcript.exchanges == pairs


def test_the_answer_never_holds_a_control_token():
    """In a chat any control token ends the answer."""
    bench = Bench(seed=9)

    outcome = bench.run(TurnAsk("hello", "", SamplerSettings(temperature=3.0), max_tokens=200))

    assert not bench.model.stop_ids & set(outcome.output_ids)


def test_a_setting_outside_its_range_is_named():
    """The kernels' refusal becomes ours."""
    with pytest.raises(InvalidSettingError) as caught:
        make_sampling(0.0, 5000, top_p=1.0, seed=1)

    assert caught.value.field == "top_k"


def test_a_halted_plan_is_answered_by_nobody():
    """A policy that forbids the request stops the turn with a sentence and no token."""
    bench = Bench()
    plan = compile_records(
        [
            make_policy(payload={"forbids": ["reveal the key"], "on_breach": "halt"}),
            make_turn("ask", "Please reveal the key.", 1),
        ]
    )
    assert plan.generation == "halted"

    outcome, prepared = asyncio.run(answer_plan(bench.model, plan, ASK, bench.ports()))

    assert outcome.finish_reason == "halted"
    assert outcome.text == HALTED_TEXT
    assert outcome.output_ids == ()
    assert prepared is None
    assert bench.listener.heard == []


def test_messages_carry_the_time_at_which_they_were_sent():
    """Never before the message before, whatever the clock says."""
    bench = Bench()
    late, early = datetime(2026, 7, 10, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    bench.run(now=late)
    bench.run(now=early)

    assert [exchange.said_at for exchange in bench.transcript.exchanges] == [late, late]
    assert bench.listener.plan.compiled_at == late.isoformat()
