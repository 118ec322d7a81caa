"""The numbers of the budget, by hand for the worked cases and by law for all contexts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.budget import divide, measure_room
from py_core.compiler.policy import choose_row, identify_table
from py_core.records.request_file import Capacity, PolicyChoice

PLAIN = PolicyChoice()


def room_of(context, max_tokens=256, **fixed):
    """Give the limits for a context."""
    capacity = Capacity(context_tokens=context, max_tokens=max_tokens)
    return measure_room(capacity, choose_row(context, PolicyChoice(**fixed)))


@pytest.mark.parametrize(
    ("context", "fixed", "reserve", "guard", "allowance", "core_limit"),
    [
        (2048, {"guard_tokens": 16}, 256, 16, 1776, 1791),
        (2048, {}, 256, 62, 1730, 1791),  # ceil(0.03 * 2047) is 62
        (16, {"output_share_ppm": 700_000}, 11, 0, 5, 5),
        (100, {}, 25, 8, 67, 74),  # a quarter for the answer, the guard at its floor
        (4096, {}, 256, 123, 3717, 3839),
        (8192, {"guard_tokens": 0}, 256, 0, 7936, 7936),
    ],
)
def test_limits_by_hand(context, fixed, reserve, guard, allowance, core_limit):
    """Section 6 and the guard rule, computed on paper."""
    room = room_of(context, **fixed)
    assert (room.output_reserve_tokens, room.guard_tokens) == (reserve, guard)
    assert (room.allowance_tokens, room.core_limit_tokens) == (allowance, core_limit)


@pytest.mark.parametrize(
    ("context", "model_class", "memory"),
    [
        (64, "fixture", 0),
        (65, "tiny", 6),
        (1023, "tiny", 102),
        (1024, "small", 174),
        (2048, "small", 348),
        (3071, "small", 522),
        (3072, "capable", 921),
        (4000, "capable", 1200),
        (4096, "capable", 1228),
    ],
)
def test_classes_and_their_memory_share(context, model_class, memory):
    """The four rows of the table and the borders between them."""
    row = choose_row(context, PLAIN)
    assert row.model_class == model_class
    assert room_of(context).memory_share_tokens == memory


@given(
    st.integers(65, 9000),
    st.integers(0, 2000),
    st.integers(0, 600),
    st.integers(0, 900),
    st.integers(0, 3000),
)
def test_parts_fit_and_never_shrink_with_the_context(context, core, notice, verified, demand):
    """History and memory keep to what is left, and one more token of context takes none away."""
    parts, rooms = [], []
    row = choose_row(context, PLAIN)
    for tokens in (context, context + 1):
        capacity = Capacity(context_tokens=tokens, max_tokens=4096)
        parts.append(
            divide(
                capacity,
                row,
                core_tokens=core,
                notice_tokens=notice,
                verified_tokens=verified,
                history_demand_tokens=demand,
            )
        )
        rooms.append(measure_room(capacity, row))
    small, large = parts
    assert small.history_tokens <= large.history_tokens
    assert small.memory_tokens <= large.memory_tokens
    left = max(0, rooms[0].allowance_tokens - core)
    assert min(small.history_tokens, demand) + small.memory_tokens <= left
    assert small.memory_tokens <= rooms[0].memory_share_tokens


def test_the_policy_names_its_numbers_by_a_hash():
    """A changed number is another policy, so the identity is written down here on purpose."""
    assert len(identify_table()) == 64
    assert choose_row(2048, PLAIN).weights.semantic == 34
    assert (
        sum(
            getattr(choose_row(2048, PLAIN).weights, n)
            for n in (
                "semantic",
                "lexical",
                "recency",
                "confidence",
                "scope",
                "user",
                "agent",
                "task",
                "review",
                "novelty",
            )
        )
        == 100
    )


def test_a_task_shifts_weights_and_keeps_their_sum():
    """Continuing work looks at what is recent, a question of design at what fits."""
    plain = choose_row(2048, PLAIN).weights
    going_on = choose_row(2048, PLAIN, "continuation").weights
    design = choose_row(2048, PLAIN, "architecture").weights
    assert going_on.recency > plain.recency
    assert design.semantic > plain.semantic
