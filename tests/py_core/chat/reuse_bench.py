"""A tiny loaded model and plans of one conversation, for what happens in the cache between turns.

Takes the records that join a turn. Gives plans and what the cache desk says of them. Messages are
as long as half a budget, so that the third turn pushes the first one out.
"""

import asyncio
from dataclasses import replace

from kernels.generate import Prefilled, generate_steps
from kernels.sampler import SamplerSettings
from py_core.chat.cache_reuse import CacheDesk, ReuseAsk
from py_core.chat.pacing import Pacer, StopSignal
from py_core.chat.turn_records import Conversation, Exchange, ModelNumbers, make_compile_request
from py_core.compiler.pipeline import compile_context
from py_core.store.prefix_store import NoPrefixes
from tests.py_core.chat.test_turn import Bench
from tests.py_core.fake_host import FakeHost

CONTEXT = 512
PAIRS = [
    (f"question {number} about the loom and its threads", f"answer {number}: it has many colours")
    for number in range(1, 8)
]
SPLICE = ReuseAsk("splice_approximate")
SPLICE_AND_CHECK = ReuseAsk("splice_approximate", measures_drift=True)
EXACT = ReuseAsk()


class ReuseBench:
    """A desk, a model, and a conversation whose answers are given."""

    def __init__(self, store=None):
        self.model = Bench(context_tokens=CONTEXT).model
        self.desk = CacheDesk(store or NoPrefixes())
        self.stop = StopSignal()

    def plan(self, number, *, extra=(), system="Be brief.", pairs=PAIRS):
        """Compile turn `number`."""
        earlier = [Exchange(at, *pair) for at, pair in enumerate(pairs[: number - 1], 1)]
        conversation = Conversation(system, earlier, pairs[number - 1][0], number, "key")
        numbers = ModelNumbers(CONTEXT, "model", self.model.template, self.model.counter)
        request = make_compile_request(conversation, numbers, 20)
        return compile_context(replace(request, records=(*request.records, *extra)))

    def run(self, plan, ask=EXACT, *, max_tokens=4):
        """Prepare, generate, finish; give the report and how many tokens were processed."""
        return asyncio.run(self._run(plan, ask, max_tokens))

    async def _run(self, plan, ask, max_tokens):
        prepared = await self.desk.prepare(self.model, plan, ask)
        steps = generate_steps(
            self.model.decoder,
            self.model.cache,
            plan.prompt_ids,
            SamplerSettings(),
            max_tokens=max_tokens,
            cut=prepared.system_tokens,
        )
        reused = max(step.reused for step in steps if isinstance(step, Prefilled))
        pacer = Pacer(FakeHost())
        report = await self.desk.finish(
            self.model, plan, prepared, ask, pacer=pacer, stop=self.stop
        )
        return report, len(plan.prompt_ids) - reused
