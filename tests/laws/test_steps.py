"""Laws of the nine steps and of the budget."""

from hypothesis import assume, given
from hypothesis import strategies as st

from py_core.compiler.authority import Tier, is_core
from py_core.compiler.draft import open_draft
from py_core.compiler.pipeline import STEPS, compile_context
from py_core.compiler.plan import Plan, Reason
from py_core.errors import ContextOverflowError
from tests.laws.strategies import capacities, record_lists, request_values
from tests.laws.test_determinism import compile_value
from tests.record_builders import make_record, make_request, reasons_of

CLASS_LIMITS = [64, 1023, 3071, 1 << 20]


def compile_or_skip(value) -> Plan:
    """Compile, or let hypothesis look for another request when the core does not fit."""
    result = compile_value(value)
    assume(not isinstance(result, ContextOverflowError))
    assert isinstance(result, Plan)
    return result


def tiers_of(plan: Plan) -> dict[str, int | None]:
    """Give the tier of every record, kept or not."""
    kept: dict[str, int | None] = {node.record_id: node.tier for node in plan.nodes}
    return kept | {exclusion.record_id: exclusion.tier for exclusion in plan.exclusions}


@given(record_lists(), capacities)
def test_every_step_keeps_or_excludes_with_a_reason(records, capacity):
    """Conservation: kept plus excluded is what came in, at each of the nine steps (section 5)."""
    request = make_request([*records, records[-1]], capacity=capacity, session={"turn": 9})
    given_ids = sorted(record["record_id"] for record in [*records, records[-1]])
    draft = open_draft(request.records)
    for step in STEPS:
        try:
            after = step(draft, request)
        except ContextOverflowError:
            return
        kept = [candidate.record_id for candidate in after.kept]
        excluded = [exclusion.record_id for exclusion in after.excluded]
        assert sorted([*kept, *excluded]) == given_ids
        new = after.excluded[len(draft.excluded) :]
        assert all(exclusion.step == step.__name__ for exclusion in new)
        assert after.excluded[: len(draft.excluded)] == draft.excluded
        draft = after


@given(request_values())
def test_the_prompt_never_exceeds_its_allowance(value):
    """Every token is accounted for, and the sum keeps to the allowance (section 6)."""
    plan = compile_or_skip(value)
    allowance = plan.allowance
    in_nodes = sum(node.token_cost for node in plan.nodes)
    total = in_nodes + sum(frame.token_cost for frame in plan.frames)
    assert total == len(plan.prompt_ids) == allowance.prompt_tokens
    assert total <= allowance.allowed_tokens <= allowance.prompt_limit_tokens
    assert total + allowance.output_reserve_tokens <= allowance.context_tokens
    assert allowance.memory_tokens <= allowance.memory_budget_tokens
    assert allowance.history_tokens <= allowance.history_budget_tokens
    assert sum(bar.tokens for bar in allowance.bars) == allowance.context_tokens


@given(request_values())
def test_the_core_is_never_cut(value):
    """Tiers 1 and 2 stand in every plan, whole and unchanged (section 6)."""
    plan = compile_or_skip(value)
    texts = {node.record_id: node.text for node in plan.nodes if is_core(Tier(node.tier))}
    sources = {record["record_id"]: record["payload"].get("text") for record in value["records"]}
    assert texts["policy"] == sources["policy"]
    assert texts["ask"] == sources["ask"]
    assert all(texts[record_id] == sources[record_id] for record_id in texts)


@given(request_values())
def test_no_row_takes_the_room_of_a_higher_tier(value):
    """Authority is monotone: who was left out for want of room has nobody below it inside."""
    plan = compile_or_skip(value)
    left_out = [
        exclusion.tier or 0
        for exclusion in plan.exclusions
        if exclusion.reason in {Reason.OVER_BUDGET, Reason.BEHIND_OVER_BUDGET}
        and exclusion.kind != "RoleTaggedMessage"
    ]
    rows = [
        node.tier for node in plan.nodes if node.rendering_template in {"note_row", "quoted_row"}
    ]
    assert not left_out or not rows or max(rows) <= min(left_out)


@given(request_values(), st.integers(0, 1_000_000))
def test_relevance_never_changes_a_tier(value, ppm):
    """A score decides whether and where, never with which authority (section 8)."""
    one = compile_or_skip({**value, "scores": {}})
    ids = [record["record_id"] for record in value["records"]]
    other = compile_or_skip({**value, "scores": dict.fromkeys(ids, ppm)})
    assert tiers_of(one) == tiers_of(other)


@given(request_values(), st.data())
def test_a_tombstone_is_final_in_any_order(value, data):
    """A deleted record is in no plan, whatever else is said about it (section 7)."""
    deletable = [
        r
        for r in value["records"]
        if r["kind"]
        in {
            "LongTermMemoryRecord",
            "RetrievalHit",
            "SessionFact",
            "UserPreferenceAssertion",
            "UntrustedContentBlock",
            "ShortTermSummary",
        }
        and r["tenant_binding"] == value["session"]["tenant"]
    ]
    assume(deletable)
    target = data.draw(st.sampled_from(deletable))
    grave = make_record(
        "grave", "Tombstone", payload={"is_deleted": True}, supersedes=[target["record_id"]]
    )
    position = data.draw(st.integers(0, len(value["records"])))
    records = [*value["records"]]
    records.insert(position, grave)
    plan = compile_or_skip({**value, "records": records})
    assert target["record_id"] not in {node.record_id for node in plan.nodes}
    assert all(target["record_id"] not in node.provenance for node in plan.nodes)
    assert reasons_of(plan)["grave"] == "acted"


@given(request_values(), st.integers(1, 3000))
def test_a_larger_window_never_loses_what_the_smaller_one_held(value, growth):
    """Within one class of models the records kept only ever become more (architecture 8)."""
    context = value["capacity"]["context_tokens"]
    limit = next(limit for limit in CLASS_LIMITS if context <= limit)
    larger = min(context + growth, limit)
    small = compile_or_skip(value)
    large = compile_or_skip({**value, "capacity": {**value["capacity"], "context_tokens": larger}})
    assert {node.record_id for node in small.nodes} <= {node.record_id for node in large.nodes}


@given(record_lists(), st.integers(300, 3070), st.sampled_from(["characters", "words"]))
def test_one_more_token_of_context_never_loses_a_record(records, context, counter):
    """The same for the smallest step, where only roundings move."""
    plans = []
    for tokens in (context, context + 1):
        capacity = {"context_tokens": tokens, "max_tokens": 4096, "counter": counter}
        try:
            plans.append(compile_context(make_request(records, capacity=capacity)))
        except ContextOverflowError:
            return
    small, large = plans
    if small.allowance.model_class == large.allowance.model_class:
        assert {node.record_id for node in small.nodes} <= {node.record_id for node in large.nodes}
