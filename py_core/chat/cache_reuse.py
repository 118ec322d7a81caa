"""What a turn finds in the cache and what it leaves for later.

Takes the model and the plan of a turn and how rows may be reused; prepares the cache before the
prefill and tidies up behind the answer. Gives a report in counts. By default only the longest
common beginning is reused, which is exact. Does not know messages or how ids are produced.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from kernels.kv_drift import Drift, measure_drift_steps
from kernels.kv_splice import find_cut, splice
from py_core.chat.cache_identity import CacheIdentity, identify_cache
from py_core.chat.loaded_model import LoadedModel
from py_core.chat.pacing import Pacer, StopSignal, drain_paced
from py_core.chat.prefix_keeper import PrefixDiscarded, PrefixKeeper, Restored
from py_core.chat.system_prefix import count_system_tokens
from py_core.compiler.plan import Plan
from py_core.store.prefix_store import PrefixStore

KvReuse = Literal["prefix", "splice_approximate"]


@dataclass(frozen=True, slots=True)
class ReuseAsk:
    """How rows may be reused.

    Attributes:
        kv_reuse: exactly, or also by moving rows, which changes answers.
        measures_drift: read the prompt once more to say by how much; costs a prefill.
    """

    kv_reuse: KvReuse = "prefix"
    measures_drift: bool = False


@dataclass(frozen=True, slots=True)
class ReuseReport:
    """What was reused besides the common beginning.

    Attributes:
        restored_tokens: that an earlier visit had read.
        prefix_discarded: why stored rows were not used, or empty.
        spliced_tokens: whose rows were moved in this turn.
        is_splice_refused: something that must leave no trace stood behind the rows.
        drift: what moved rows changed, where it was measured.
    """

    restored_tokens: int = 0
    prefix_discarded: PrefixDiscarded = ""
    spliced_tokens: int = 0
    is_splice_refused: bool = False
    drift: Drift | None = None


EXACTLY = ReuseAsk()
NOTHING_MORE = ReuseReport()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A cache that is ready for a prompt."""

    identity: CacheIdentity
    system_tokens: int
    restored: Restored
    spliced_tokens: int
    is_splice_refused: bool


class CacheDesk:
    """Prepares the cache for a turn and keeps what the next visit can use."""

    def __init__(self, store: PrefixStore) -> None:
        """Keep saved beginnings in a store."""
        self._prefixes = PrefixKeeper(store)

    async def prepare(self, model: LoadedModel, plan: Plan, ask: ReuseAsk) -> Prepared:
        """Empty, restore or splice before the prefill."""
        identity, system_tokens = identify_cache(model, plan), count_system_tokens(plan)
        model.cache.claim(identity.hash)
        is_wanted = ask.kv_reuse == "splice_approximate"
        is_allowed = is_wanted and model.reading.allows_traces(plan)
        is_refused = is_wanted and not is_allowed and _is_something_moved(model, plan)
        if not is_allowed:
            model.cache.forget_moved()
        restored = await self._prefixes.restore(model, identity, plan.prompt_ids[:system_tokens])
        spliced = _splice(model, plan) if is_allowed else 0
        model.reading.note(plan, has_traces=_has_traces(model))
        return Prepared(identity, system_tokens, restored, spliced, is_refused)

    async def finish(
        self,
        model: LoadedModel,
        plan: Plan,
        prepared: Prepared,
        ask: ReuseAsk,
        *,
        pacer: Pacer,
        stop: StopSignal,
    ) -> ReuseReport:
        """Save the system text's rows, and measure the drift where that was asked for."""
        ids = plan.prompt_ids[: prepared.system_tokens]
        await self._prefixes.save(
            model, prepared.identity, ids, reads_afresh=prepared.restored.reads_afresh
        )
        drift = None
        if ask.measures_drift and model.cache.exact_length < len(plan.prompt_ids):
            steps = measure_drift_steps(model.decoder, model.cache, plan.prompt_ids)
            with suppress(MemoryError):
                drift = await drain_paced(steps, lambda _: None, pacer=pacer, stop=stop)
        return ReuseReport(
            restored_tokens=prepared.restored.tokens,
            prefix_discarded=prepared.restored.discarded,
            spliced_tokens=prepared.spliced_tokens,
            is_splice_refused=prepared.is_splice_refused,
            drift=drift,
        )


def _has_traces(model: LoadedModel) -> bool:
    return model.cache.exact_length < model.cache.length


def _is_something_moved(model: LoadedModel, plan: Plan) -> bool:
    """Tell whether moved rows are in the cache, or would be."""
    return _has_traces(model) or find_cut(model.cache.ids, plan.prompt_ids) is not None


def _splice(model: LoadedModel, plan: Plan) -> int:
    """Move what stands behind a span that left the prompt; give how many tokens were moved."""
    cut = find_cut(model.cache.ids, plan.prompt_ids)
    if cut is None:
        return 0
    try:
        splice(model.cache, model.decoder.config, cut)
    except MemoryError:
        return 0  # what stands before the cut is still there
    return cut.moved
