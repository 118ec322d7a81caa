"""One turn with a model of a few weights, before anybody waits for one.

Takes nothing; gives the ids that the model answers, the same ones every time. Whoever keeps an
image of the started Python has with it all that a first turn imports and fills; and the ids come
out again only where the image works. Does not know images.
"""

import io
from collections.abc import Sequence

from kernels.byte_source import BytesSource
from kernels.fixture_models import write_fixture
from kernels.numpy_ops import NumpyOps
from kernels.sampler import SamplerSettings
from kernels.slm_file import open_model
from py_core.chat.loaded_model import FileOrigin, LoadedModel, assemble_model
from py_core.chat.memory_question import NoticeCode
from py_core.chat.pacing import Pacer, StopSignal
from py_core.chat.plan_shelf import PlanShelf
from py_core.chat.retrieval_account import RetrievalAccount
from py_core.chat.transcript import Transcript
from py_core.chat.turn import TurnAsk, TurnOutcome, TurnPorts, run_turn
from py_core.chat.turn_records import NO_TIME
from py_core.compiler.plan import Plan
from py_core.errors import InvariantError

_MODEL = "grouped_q4_1.slm"
_MESSAGE = "Is it on?"
_ANSWER_TOKENS = 8


class _StillClock:
    """A clock on which no time passes, so the turn never rests and needs no event loop."""

    def now_ms(self) -> float:
        return 0.0

    async def pause(self) -> None:
        raise InvariantError(what="a rehearsal rested")


class _Nobody:
    """Hears everything and does nothing."""

    def on_plan(self, plan: Plan, account: RetrievalAccount | None) -> None:
        pass

    def on_notice(self, code: NoticeCode, text: str) -> None:
        pass

    def on_prefill(self, done: int, total: int) -> None:
        pass

    def on_text(self, text: str, ids: Sequence[int]) -> None:
        pass


def rehearse() -> tuple[int, ...]:
    """Load the model, answer one message with sampling on, and give the ids."""
    model = _load()
    settings = SamplerSettings(temperature=1.0, top_k=40, top_p=1.0, seed=1)
    ask = TurnAsk(_MESSAGE, "", settings, _ANSWER_TOKENS)
    ports = TurnPorts(Pacer(_StillClock()), _Nobody(), StopSignal(), PlanShelf(), now=NO_TIME)
    return _run(model, ask, ports).output_ids


def _load() -> LoadedModel:
    sink = io.BytesIO()
    sha256 = write_fixture(_MODEL, sink).sha256 or ""
    file = open_model(BytesSource(sink.getvalue()))
    ops = NumpyOps(file.config)
    for _ in ops.load(file):
        pass
    return assemble_model(file, ops, FileOrigin(_MODEL, len(sink.getvalue()), sha256))


def _run(model: LoadedModel, ask: TurnAsk, ports: TurnPorts) -> TurnOutcome:
    turn = run_turn(model, Transcript("rehearsal"), ask, ports)
    try:
        turn.send(None)
    except StopIteration as finished:
        outcome: TurnOutcome = finished.value
        return outcome
    finally:
        turn.close()
    raise InvariantError(what="a rehearsal did not end")
