"""Scores, ages and the routing rule, in integers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.scoring import fade
from py_core.compiler.sufficiency import count_entropy_ppm, count_log2_ppm, route_question
from tests.record_builders import compile_records, make_policy, make_record, make_turn


@pytest.mark.parametrize(
    ("age", "value"), [(0, 1_000_000), (30, 750_000), (60, 500_000), (90, 375_000), (6000, 0)]
)
def test_recency_halves_with_every_half_life(age, value):
    """Worked values with a half-life of 60."""
    assert fade(age, 60) == value


@given(st.integers(0, 10**9), st.integers(0, 10**6))
def test_recency_never_grows_with_age(age, more):
    """Older is never fresher."""
    assert fade(age + more, 86_400) <= fade(age, 86_400)


@given(st.integers(1, 10**12))
def test_the_integer_logarithm_agrees_with_the_real_one(value):
    """Within twenty millionths of a bit."""
    assert count_log2_ppm(value) == pytest.approx(math.log2(value) * 1e6, abs=20)


def test_entropy_by_hand():
    """Four equal weights are two bits, one weight is none."""
    assert count_entropy_ppm([5, 5, 5, 5]) == 2_000_000
    assert count_entropy_ppm([7]) == 0
    assert count_entropy_ppm([]) == 0


@pytest.mark.parametrize(
    ("question", "relevances", "route", "need"),
    [
        ("Go on.", [900_000, 100_000, 100_000], "summary", 0),
        ("Why yesterday?", [900_000, 100_000, 100_000], "summary", 500_000),
        ("Why yesterday?", [900_000], "raw", 700_000),
        (" ".join(["word"] * 21), [900_000], "summary", 400_000),
        ("When?", [100_000] * 4, "raw", 550_000),
    ],
)
def test_the_routing_rule_by_hand(question, relevances, route, need):
    """The rule variant with its weights; more than one half goes to the sources."""
    routing = route_question(question, relevances, is_disputed=False, has_lineage=True)
    assert (routing.route, routing.need_ppm) == (route, need)


@pytest.mark.parametrize("flaw", [{"is_disputed": True}, {"has_lineage": False}])
def test_whatever_cannot_be_judged_goes_to_the_sources(flaw):
    """On failure: raw."""
    settings = {"is_disputed": False, "has_lineage": True, **flaw}
    assert route_question("Go on.", [900_000] * 3, **settings).route == "raw"


def test_a_summary_whose_sources_are_not_here_stays_and_is_marked():
    """Escalation never leaves nothing."""
    plan = compile_records(
        [
            make_policy(),
            make_turn("ask", "Why did it fail yesterday?", 9),
            make_record("s", "ShortTermSummary", "It failed.", derived_from=["not-here"]),
        ]
    )
    node = next(node for node in plan.nodes if node.record_id == "s")
    assert plan.routing is not None
    assert plan.routing.route == "raw"
    assert "raw_sources_missing" in node.flags


def test_within_a_tier_relevance_decides_the_order():
    """Ranking is by score, then review, date, confidence and id."""
    hits = [
        make_record(f"h{i}", "RetrievalHit", f"Text number {i}.", payload={"relevance_ppm": ppm})
        for i, ppm in enumerate([300_000, 900_000, 600_000])
    ]
    plan = compile_records([make_policy(), make_turn("ask", "What?", 9), *hits])
    scores = {node.record_id: node.score for node in plan.nodes}
    assert sorted(["h0", "h1", "h2"], key=scores.__getitem__) == ["h0", "h2", "h1"]
