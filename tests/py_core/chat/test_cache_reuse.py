"""What is in the cache belongs to one identity, and is moved only where it may be."""

from dataclasses import fields, replace
from typing import Any, cast

import pytest

from py_core.chat.cache_identity import identify_cache
from py_core.chat.system_prefix import count_system_tokens
from py_core.compiler.plan import Reason
from py_core.identity import sha256_hex
from tests.py_core.chat.reuse_bench import EXACT, PAIRS, SPLICE, SPLICE_AND_CHECK, ReuseBench
from tests.record_builders import make_record, make_request

PUSHED_OUT = 4
"""The number of the turn whose prompt has no room for the first exchange."""


@pytest.fixture
def bench():
    """A model that has read three turns."""
    bench = ReuseBench()
    for number in (1, 2, 3):
        bench.run(bench.plan(number))
    return bench


def grave_of(record_id):
    """Give a tombstone of the conversation's tenant."""
    value = make_record(
        "grave",
        "Tombstone",
        payload={"is_deleted": True},
        supersedes=[record_id],
        tenant_binding="local",
    )
    ask = make_record("ask", "RoleTaggedMessage", "x", payload={"role": "user", "turn": 1})
    return next(r for r in make_request([value, ask]).records if r.record_id == "grave")


def test_every_field_of_an_identity_decides():
    """Model, tokenizer, policy, kind of cache, op set and build: another value, another hash."""
    bench = ReuseBench()
    identity = identify_cache(bench.model, bench.plan(1))
    names = [field.name for field in fields(identity)]
    others = {replace(identity, **cast(Any, {name: "x"})).hash for name in names}
    assert len(others | {identity.hash}) == 1 + len(names) == 7
    assert identity.key_of([1, 2]) != identity.key_of([1, 2, 3])


def test_a_cache_of_another_identity_is_read_anew(bench):
    """The same ids under another policy are not the same rows."""
    plan = bench.plan(3)
    foreign = plan.model_copy(update={"policy_identity": sha256_hex(b"other")})
    assert bench.run(plan)[1] == 1
    assert bench.run(foreign)[1] == len(plan.prompt_ids)


def test_the_same_prompt_again_processes_one_token(bench):
    """Regenerate: only the logits behind the last prompt token are wanted again."""
    assert bench.run(bench.plan(3))[1] == 1


def test_an_edited_last_message_reuses_everything_before_it(bench):
    """All up to the first changed character of the message stays."""
    changed = [*PAIRS[:2], ("whence the threads?", ""), *PAIRS[3:]]
    before, after = bench.plan(3).prompt_ids, bench.plan(3, pairs=changed).prompt_ids
    common = next(at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
    assert bench.run(bench.plan(3, pairs=changed))[1] == len(after) - common
    assert len(after) - common < 40 < common


def test_moving_is_off_by_default(bench):
    """Without the wish everything behind the first difference is read again."""
    report, processed = bench.run(bench.plan(PUSHED_OUT))
    assert report.spliced_tokens == 0
    assert processed == len(bench.plan(PUSHED_OUT).prompt_ids) - 34


def test_with_the_wish_what_stands_behind_a_lost_turn_is_moved(bench):
    """The new tokens only are processed, and the report says how many were moved."""
    report, processed = bench.run(bench.plan(PUSHED_OUT), SPLICE)
    assert report.spliced_tokens > 100
    assert processed == len(bench.plan(PUSHED_OUT).prompt_ids) - 34 - report.spliced_tokens
    assert not report.is_splice_refused
    assert report.drift is None


def test_the_drift_is_reported_when_it_is_asked_for_and_the_cache_is_exact_then(bench):
    """A check reads the prompt once more; afterwards nothing moved is left."""
    plan = bench.plan(PUSHED_OUT)
    report, _ = bench.run(plan, SPLICE_AND_CHECK)
    assert report.drift is not None
    assert report.drift.logit_difference > 1e-3
    assert report.drift.tokens == 32
    assert bench.model.cache.exact_length == bench.model.cache.length
    assert bench.run(plan, SPLICE_AND_CHECK)[0].drift is None


def test_going_back_to_exact_forgets_what_was_moved(bench):
    """Exactly means exactly: no moved row survives the wish."""
    plan = bench.plan(PUSHED_OUT)
    bench.run(plan, SPLICE)
    assert bench.run(plan, SPLICE)[1] == 1
    assert bench.run(plan, EXACT)[1] == len(plan.prompt_ids) - 34
    fresh = ReuseBench()
    fresh.run(plan)
    assert bench.model.cache.ids == fresh.model.cache.ids


@pytest.mark.parametrize("place", [1, 4], ids=["first question", "second answer"])
def test_a_tombstone_is_never_met_by_moving(bench, place):
    """Rows that have read a deleted text are read again without it."""
    gone = bench.plan(3).nodes[place].record_id
    plan = bench.plan(PUSHED_OUT, extra=[grave_of(gone)])
    assert Reason.TOMBSTONED in {out.reason for out in plan.exclusions}
    report, processed = bench.run(plan, SPLICE)
    assert report.is_splice_refused
    assert report.spliced_tokens == 0
    assert processed >= len(plan.prompt_ids) - 141


def test_a_tombstone_also_reaches_what_was_moved_before_it(bench):
    """A span that was cut out for room has left traces; they go when its text is deleted."""
    bench.run(bench.plan(PUSHED_OUT), SPLICE)
    plan = bench.plan(PUSHED_OUT, extra=[grave_of(bench.plan(3).nodes[1].record_id)])
    report, processed = bench.run(plan, SPLICE)
    assert report.is_splice_refused
    assert processed >= len(plan.prompt_ids) - 34


@pytest.mark.parametrize(
    "reason",
    [reason for reason in Reason if reason.name in {"RETRACTED", "SUPERSEDED", "SOURCE_WITHDRAWN"}],
)
def test_a_withdrawn_or_replaced_record_is_never_met_by_moving(bench, reason):
    """Whatever the plan says of a record that left, only want of room or relevance is harmless."""
    plan = bench.plan(PUSHED_OUT)
    first, *others = plan.exclusions
    changed = (first.model_copy(update={"reason": reason}), *others)
    report, _ = bench.run(plan.model_copy(update={"exclusions": changed}), SPLICE)
    assert report.is_splice_refused
    assert report.spliced_tokens == 0


def test_a_record_that_left_without_a_word_is_never_met_by_moving(bench):
    """No exclusion, no excuse."""
    plan = bench.plan(PUSHED_OUT).model_copy(update={"exclusions": ()})
    assert bench.run(plan, SPLICE)[0].is_splice_refused


def test_the_system_prefix_is_the_frame_and_text_of_the_first_turn():
    """Begin mark, role, system text, end of turn: nothing that a user said."""
    bench = ReuseBench()
    plan = bench.plan(2)
    count = count_system_tokens(plan)
    ids, counter = plan.prompt_ids[:count], bench.model.counter
    marks = counter.control_ids
    assert ids[0] == marks["<start>"]
    assert list(ids[1:-2]) == list(counter.encode("system\nBe brief."))
    assert ids[-2] == marks["<end>"]
    longer = bench.plan(3)
    assert longer.prompt_ids[: count_system_tokens(longer)] == ids


def test_a_prompt_that_begins_with_a_user_has_no_system_prefix():
    """Without a system text nothing is common by right."""
    bench = ReuseBench()
    plan = bench.plan(1)
    kept = [frame for frame in plan.frames if frame.position >= 3]
    nodes = [node for node in plan.nodes if node.rendering_template != "policy"]
    bare = plan.model_copy(update={"frames": tuple(kept), "nodes": tuple(nodes)})
    assert count_system_tokens(bare) == 0
