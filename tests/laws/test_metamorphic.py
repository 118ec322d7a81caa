"""What may and what may not change when a request changes in a known way (section 13)."""

import json

from hypothesis import given
from hypothesis import strategies as st

from py_core.compiler.plan import Plan
from tests.laws.strategies import IDS, WORDS, request_values, texts
from tests.laws.test_steps import compile_or_skip
from tests.record_builders import (
    Json,
    compile_records,
    make_fact,
    make_policy,
    make_record,
    make_turn,
)

UNTRUSTED_KINDS = {"RetrievalHit", "UntrustedContentBlock", "MemoryPointer"}


def trusted_part(plan: Plan) -> list[tuple[str, str]]:
    """Give the trusted records in order with the very text that the model reads."""
    return [(node.record_id, node.text) for node in plan.nodes if node.tier <= 8]


def without_untrusted(value: Json) -> Json:
    """Remove the untrusted records, and what makes a trusted record depend on one."""
    gone = {r["record_id"] for r in value["records"] if r["kind"] in UNTRUSTED_KINDS}
    return {**value, "records": [r for r in value["records"] if r["record_id"] not in gone]}


def untie(value: Json) -> Json:
    """Let no trusted record be made from an untrusted one: then its loss would be right."""
    gone = {r["record_id"] for r in value["records"] if r["kind"] in UNTRUSTED_KINDS}
    records = [
        {**r, "derived_from": [i for i in r.get("derived_from", []) if i not in gone]}
        for r in value["records"]
        if r["kind"] != "ShortTermSummary"
    ]
    return {**value, "records": records}


@given(request_values())
def test_the_trusted_part_is_byte_equal_with_and_without_untrusted_records(value):
    """Nothing below the trust line moves, changes or removes anything above it (section 11)."""
    tied = untie(value)
    assert trusted_part(compile_or_skip(tied)) == trusted_part(
        compile_or_skip(without_untrusted(tied))
    )


@given(request_values(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
def test_longer_untrusted_text_changes_nothing_above_the_trust_line(value, more):
    """Lengthening hostile text cannot push trusted text out."""
    tied = untie(value)
    records = [
        {**r, "payload": {**r["payload"], "text": r["payload"]["text"] + " " + " ".join(more)}}
        if r["kind"] in UNTRUSTED_KINDS
        else r
        for r in tied["records"]
    ]
    assert trusted_part(compile_or_skip(tied)) == trusted_part(
        compile_or_skip({**tied, "records": records})
    )


@given(request_values(), texts)
def test_one_more_untrusted_record_changes_nothing_above_the_trust_line(value, text):
    """Adding a lower tier leaves the higher ones as they were."""
    more = make_record("zz-new", "RetrievalHit", text, payload={"relevance_ppm": 1_000_000})
    assert trusted_part(compile_or_skip(value)) == trusted_part(
        compile_or_skip({**value, "records": [*value["records"], more]})
    )


@given(request_values())
def test_order_preserving_new_ids_change_only_the_ids(value):
    """An id is a name: with names that sort alike, every decision is the same."""

    def rename(node: object) -> object:
        if isinstance(node, dict):
            return {rename(key): rename(item) for key, item in node.items()}
        if isinstance(node, list):
            return [rename(item) for item in node]
        return f"q{node[1:]}" if isinstance(node, str) and node in IDS else node

    one, other = compile_or_skip(value), compile_or_skip(rename(value))
    assert [rename(node.record_id) for node in one.nodes] == [n.record_id for n in other.nodes]
    assert [(e.step, e.reason) for e in one.exclusions] == [
        (e.step, e.reason) for e in other.exclusions
    ]


@given(request_values())
def test_a_record_that_comes_twice_counts_once(value):
    """Delivery at least once is enough: repetitions only add their exclusion."""
    twice = {**value, "records": [*value["records"], *value["records"]]}
    one, other = compile_or_skip(value), compile_or_skip(twice)
    assert one.prompt_ids == other.prompt_ids
    assert len(other.exclusions) == len(one.exclusions) + len(value["records"])


@given(texts, texts)
def test_wording_does_not_decide_a_conflict(one, other):
    """With the same claims, any paraphrase resolves alike: tiers, conflicts and exclusions."""

    def outcome(profile_text: str, durable_text: str) -> str:
        plan = compile_records(
            [
                make_policy(),
                make_turn("ask", "Write a loop.", 9, facts=(make_fact("user.language", "Rust"),)),
                make_record(
                    "profile",
                    "UserPreferenceAssertion",
                    profile_text,
                    review_status="promoted",
                    payload={"facts": [make_fact("user.language", "Python")]},
                ),
                make_record(
                    "durable",
                    "LongTermMemoryRecord",
                    durable_text,
                    payload={"facts": [make_fact("user.language", "C")]},
                ),
            ]
        )
        conflicts = [conflict.model_dump() for conflict in plan.conflicts]
        excluded = [(e.record_id, e.tier, e.reason) for e in plan.exclusions]
        return json.dumps([conflicts, excluded])

    assert outcome(one, other) == outcome(other, one)
