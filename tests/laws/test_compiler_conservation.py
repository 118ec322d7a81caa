"""Laws of the compiler over generated conversations."""

from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.pipeline import compile_context
from py_core.errors import ContextOverflowError
from tests.py_core.builders import CHATML, PLAIN, make_exchange, make_request

TEXTS = st.text(max_size=60)
HISTORIES = st.lists(st.tuples(TEXTS, TEXTS), max_size=8).map(
    lambda pairs: tuple(make_exchange(number, *pair) for number, pair in enumerate(pairs, 1))
)


@st.composite
def requests(draw):
    """Draw a request of any small size and either template."""
    return make_request(
        message=draw(TEXTS),
        system_text=draw(TEXTS),
        history=draw(HISTORIES),
        context_tokens=draw(st.integers(8, 400)),
        max_tokens=draw(st.integers(1, 400)),
        template=draw(st.sampled_from([PLAIN, CHATML])),
    )


def compile_or_overflow(request):
    """Give the plan, or the overflow that refused it."""
    try:
        return compile_context(request)
    except ContextOverflowError as error:
        return error


@given(requests())
def test_every_turn_is_kept_or_listed_as_left_out(request):
    """Conservation: identities kept plus identities excluded equal those that came in."""
    plan = compile_or_overflow(request)
    if isinstance(plan, ContextOverflowError):
        return

    given_ids = {
        f"turn-{exchange.number}-{role}"
        for exchange in request.history
        for role in ("user", "assistant")
    }
    kept = [node.node_id for node in plan.nodes if node.node_id.startswith("turn-")]
    excluded = [out.node_id for out in plan.exclusions]
    assert len(kept) + len(excluded) == len(given_ids)
    assert set(kept) | set(excluded) == given_ids


@given(requests())
def test_the_prompt_never_exceeds_what_is_allowed(request):
    """Prompt <= allowed <= prompt_limit - output_reserve, and the output reserve is kept free."""
    plan = compile_or_overflow(request)
    if isinstance(plan, ContextOverflowError):
        assert plan.needed > plan.allowed
        return

    room = plan.allowance
    assert len(plan.prompt_ids) <= room.allowed_tokens
    assert room.allowed_tokens + room.output_reserve_tokens < request.capacity.context_tokens
    assert room.output_reserve_tokens >= 1


@given(requests())
def test_the_core_is_in_every_plan_whole(request):
    """System text and message are never cut: their texts stand in the prompt as they are."""
    plan = compile_or_overflow(request)
    if isinstance(plan, ContextOverflowError):
        return

    costs = {node.kind: node.text_tokens for node in plan.nodes}
    assert costs["current_message"] == len(request.message)
    system_text = request.system_text or request.template.default_system
    assert costs.get("system_text", 0) == len(system_text)


@given(requests())
def test_the_kept_history_is_the_newest_part_without_a_hole(request):
    """The kept pairs are a suffix of the given ones, in their order."""
    plan = compile_or_overflow(request)
    if isinstance(plan, ContextOverflowError):
        return

    kept = [node.node_id for node in plan.nodes if node.kind == "user_turn"]
    numbers = [f"turn-{exchange.number}-user" for exchange in request.history]
    assert kept == numbers[len(numbers) - len(kept) :]


@given(requests(), st.integers(1, 200))
def test_more_context_never_loses_a_turn(request, extra):
    """A larger model keeps at least what the smaller one kept."""
    small = compile_or_overflow(request)
    if isinstance(small, ContextOverflowError):
        return

    large = compile_context(
        make_request(
            message=request.message,
            system_text=request.system_text,
            history=request.history,
            context_tokens=request.capacity.context_tokens + extra,
            max_tokens=small.allowance.output_reserve_tokens,
            template=request.template,
            policy=request.policy,
        )
    )
    assert {node.node_id for node in small.nodes} <= {node.node_id for node in large.nodes}
