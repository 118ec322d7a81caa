"""Versions of one memory and disagreements between hits."""

from itertools import permutations

from py_core.records.fields import Fact, ReviewStatus
from py_core.retrieval.hit_groups import find_contradictions, group_hits, make_key
from py_core.retrieval.rank_fusion import fuse_ranks
from tests.py_core.retrieval.memories import make_hit

CPU = (Fact(slot="target", value="CPU"),)
GPU = (Fact(slot="target", value="gpu"),)


def test_two_wordings_of_the_same_facts_are_one_memory():
    """The key is made of facts, not of prose."""
    one = make_hit("a", "We build for the CPU.", facts=CPU, subject="build")
    other = make_hit(
        "b", "target is cpu", facts=(Fact(slot="target", value="cpu"),), subject="Build"
    )
    assert make_key(one) == make_key(other)
    assert make_key(one) != make_key(make_hit("c", "x", facts=GPU, subject="build"))


def test_the_survivor_is_the_reviewed_then_surer_then_newer_one():
    """Whatever the order of arrival; the others stay linked."""
    reviewed = make_hit("r", "same text", date="2026-01-01", review_status=ReviewStatus.PROMOTED)
    sure = make_hit("s", "same text", date="2026-02-01", confidence_ppm=950_000)
    newer = make_hit("n", "same text", date="2026-03-01")
    for records in permutations((reviewed, sure, newer)):
        (group,) = group_hits(records)
        assert (group.survivor_id, group.linked_ids) == ("r", ("s", "n"))


def test_a_contradiction_is_handed_on_with_all_sides():
    """Nothing is flattened; the newer comes first."""
    old = make_hit("old", "a", facts=CPU, subject="build", date="2026-01-01")
    new = make_hit("new", "b", facts=GPU, subject="build", date="2026-02-01")
    (found,) = find_contradictions([old, new])
    assert found.slot == "target"
    assert found.record_ids == ("new", "old")
    assert not found.is_declared_update


def test_a_declared_update_comes_before_a_newer_note():
    """Tags and links say what a date cannot."""
    update = make_hit("u", "a", facts=CPU, subject="build", date="2026-01-01", tags=("update",))
    new = make_hit("new", "b", facts=GPU, subject="build", date="2026-02-01")
    (found,) = find_contradictions([new, update])
    assert found.record_ids == ("u", "new")
    assert found.is_declared_update


def test_other_scopes_and_lists_do_not_contradict():
    """Two projects may have two targets, and a list has many values."""
    one = make_hit("a", "a", facts=CPU, scope="project", scope_id="x")
    other = make_hit("b", "b", facts=GPU, scope="project", scope_id="y")
    tags = [
        make_hit(name, name, facts=(Fact(slot="tag", value=name, is_list=True),))
        for name in ("c", "d")
    ]
    assert find_contradictions([one, other, *tags]) == ()


def test_ranks_are_fused_by_their_reciprocals():
    """First in all lists is a million; ties go by id."""
    fused = fuse_ranks([["a", "b"], ["a", "c"]])
    assert list(fused) == ["a", "b", "c"]
    assert fused["a"] == 1_000_000
    assert fuse_ranks([]) == {}
