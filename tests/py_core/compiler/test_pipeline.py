"""The minimal compiler: what enters a prompt, at which cost, and what is refused."""

import pytest

from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import ExclusionReason
from py_core.compiler.request import BudgetPolicy
from py_core.errors import ContextOverflowError
from py_core.identity import content_hash
from tests.py_core.builders import (
    CHATML,
    CHATML_MARKS,
    CharacterCounter,
    make_exchange,
    make_request,
)

START, END = CHATML_MARKS["<|im_start|>"], CHATML_MARKS["<|im_end|>"]


def as_text(ids):
    """Read ids of the character counter; marks show as [ and ]."""
    return "".join({START: "[", END: "]"}.get(token) or chr(token) for token in ids)


def test_a_chatml_prompt_frames_every_turn_and_opens_the_answer():
    """Role marks enter as ids only; the text between them is untouched."""
    request = make_request(
        template=CHATML, system_text="Be brief.", history=(make_exchange(1, "q", "a"),)
    )

    plan = compile_context(request)

    assert as_text(plan.prompt_ids) == (
        "[system\nBe brief.]\n[user\nq]\n[assistant\na]\n[user\nhello]\n[assistant\n"
    )


def test_an_empty_system_text_means_the_default_of_the_template():
    """The template's own system text stands when the user gave none."""
    plan = compile_context(make_request(template=CHATML))

    assert as_text(plan.prompt_ids).startswith("[system\nYou help.]\n")


def test_text_that_looks_like_a_role_mark_stays_text():
    """Encoding a text never yields a control id, whatever the text says."""
    plan = compile_context(make_request(template=CHATML, message="<|im_end|>"))

    assert plan.prompt_ids.count(END) == 2
    assert "[user\n<|im_end|>]\n" in as_text(plan.prompt_ids)


def test_a_plain_prompt_begins_with_the_begin_mark_and_ends_with_the_message():
    """The model goes on exactly where the message stops."""
    request = make_request(
        counter=CharacterCounter(begin_id=7), history=(make_exchange(1, "q", "a"),)
    )

    plan = compile_context(request)

    assert plan.prompt_ids[0] == 7
    assert as_text(plan.prompt_ids[1:]) == "q\na\nhello"


def test_the_costs_of_the_nodes_add_up_to_the_prompt():
    """Counts are per piece and exact (architecture section 8)."""
    plan = compile_context(make_request(template=CHATML, history=(make_exchange(1),)))

    assert sum(node.cost_tokens for node in plan.nodes) == len(plan.prompt_ids)
    assert plan.allowance.prompt_tokens == len(plan.prompt_ids)


def test_the_oldest_pairs_fall_away_first_and_are_listed_with_reasons():
    """The newest dropped pair did not fit; older ones would leave a hole."""
    history = tuple(make_exchange(number, "u" * 20, "a" * 20) for number in (1, 2, 3))

    plan = compile_context(make_request(context_tokens=128, history=history))

    assert [node.node_id for node in plan.nodes] == ["turn-3-user", "turn-3-assistant", "current"]
    assert [(out.node_id, out.reason) for out in plan.exclusions] == [
        ("turn-1-user", ExclusionReason.OLDER_THAN_DROPPED),
        ("turn-1-assistant", ExclusionReason.OLDER_THAN_DROPPED),
        ("turn-2-user", ExclusionReason.DOES_NOT_FIT),
        ("turn-2-assistant", ExclusionReason.DOES_NOT_FIT),
    ]


def test_a_short_old_pair_does_not_jump_over_a_long_newer_one():
    """History has no holes."""
    history = (make_exchange(1, "a", "b"), make_exchange(2, "u" * 200, "a"))

    plan = compile_context(make_request(context_tokens=128, history=history))

    assert [node.node_id for node in plan.nodes] == ["current"]


def test_the_guard_yields_before_the_core_does():
    """A core that fits prompt_limit - output_reserve exactly is allowed (architecture 8)."""
    plan = compile_context(make_request(message="x" * 239, context_tokens=256, max_tokens=16))

    assert plan.allowance.guard_tokens == 8
    assert plan.allowance.guard_kept_tokens == 0
    assert plan.allowance.allowed_tokens == 239


def test_a_core_one_token_too_long_is_refused_with_numbers():
    """Nothing of tiers 1 and 2 is ever cut."""
    with pytest.raises(ContextOverflowError) as caught:
        compile_context(make_request(message="x" * 240, context_tokens=256, max_tokens=16))

    assert (caught.value.needed, caught.value.allowed, caught.value.tier) == (240, 239, 2)


def test_a_system_text_too_long_alone_is_named_as_tier_1():
    """The tier tells the user which text to shorten."""
    with pytest.raises(ContextOverflowError) as caught:
        compile_context(make_request(system_text="x" * 500, message="y"))

    assert caught.value.tier == 1


def test_a_fixed_guard_gives_the_worked_allowance():
    """Limit 2,048, reserve 256, guard 16: 1,776 tokens for core and history."""
    policy = BudgetPolicy("test", 250_000, 1_000_000, 16, 0)
    history = tuple(make_exchange(number, "u" * 98, "a" * 100) for number in range(1, 21))

    plan = compile_context(
        make_request(
            message="x" * 10,
            context_tokens=2_049,
            max_tokens=256,
            history=history,
            policy=policy,
        )
    )

    assert plan.allowance.allowed_tokens == 1_776
    assert plan.allowance.prompt_tokens == 10 + 8 * 200


def test_a_fixture_of_16_tokens_answers_a_short_message_and_keeps_what_fits():
    """Limit 15, reserve 4, no guard: 11 tokens; history at most 7."""
    plan = compile_context(
        make_request(
            message="hey", context_tokens=16, max_tokens=64, history=(make_exchange(1, "ab", "cd"),)
        )
    )

    assert plan.allowance.allowed_tokens == 11
    assert as_text(plan.prompt_ids) == "ab\ncd\nhey"


def test_a_text_far_too_long_is_refused_before_it_is_encoded():
    """A cheap lower bound is enough to refuse; the worker is not blocked by exact counts."""
    counter = CharacterCounter()

    with pytest.raises(ContextOverflowError) as caught:
        compile_context(make_request(message="x" * 1_000_000, counter=counter))

    assert not counter.encoded
    assert not caught.value.is_exact
    assert "at least 1000000" in caught.value.message


def test_the_plan_hash_covers_everything_else_in_the_plan():
    """The same request gives the same hash, another message another one."""
    plan = compile_context(make_request())

    unsealed = plan.model_dump(mode="json") | {"plan_hash": ""}
    assert plan.plan_hash == content_hash(unsealed)
    assert plan == compile_context(make_request())
    assert plan.plan_hash != compile_context(make_request(message="other")).plan_hash
