"""Nothing that was made of a withdrawn text reaches a prompt, and repair is worth its cost."""

import pytest

from py_core.memory.influence import find_cone
from py_core.memory.repair import make_barrier, plan_repair, publish_repairs
from py_core.store.heads import Standing
from tests.bench_repair import measure
from tests.py_core.memory.heads import (
    apply_edit,
    make_heads,
    make_said,
    make_snapshot,
    make_summary,
    make_typed,
)
from tests.repair_graphs import make_root


class Shop:
    """Everything costs 1 and is worth 10."""

    def find_cost(self, head, support):
        """Price any head."""
        return 1

    def find_value(self, head):
        """Worth of any head."""
        return 10


def test_generated_memories_let_nothing_through():
    """The bench on few graphs: no exposure, while unguarded prompts do expose."""
    figures = measure(80, 3)

    assert figures["exposures"] == 0
    assert figures["unguarded"] > 0
    assert figures["records_shown"] > 500


def test_the_cone_is_all_that_was_made_of_the_root():
    """Over any number of steps, and through circles."""
    heads = make_heads(
        make_said("a", "apples are red"),
        make_summary("b", "fruit", ["a"]),
        make_summary("c", "food", ["b", "d"]),
        make_summary("d", "meals", ["c"]),
        make_said("e", "trains are late"),
    )
    cone = find_cone(heads, [make_root(heads["a"])])
    assert cone == {"b": "declared", "c": "declared", "d": "declared"}


@pytest.mark.parametrize(
    ("source", "derived_from", "is_unsafe"),
    [
        ("import:elsewhere", [], True),
        ("import:elsewhere", ["other"], True),
        ("summary:extractive/1", [], True),
        ("summary:extractive/1", ["other"], False),
        ("user:remember", [], False),
    ],
)
def test_a_made_record_that_hides_sources_counts_as_made_of_it(source, derived_from, is_unsafe):
    """A record without declared sources is unsafe, not independent."""
    heads = make_heads(
        make_said("other", "trains are late"),
        make_said("root", "apples are red"),
        make_typed(
            "later", "LongTermMemoryRecord", "x y z", source=source, derived_from=derived_from
        ),
    )
    found = find_cone(heads, [make_root(heads["root"])])
    assert found == ({"later": "undeclared"} if is_unsafe else {})


def test_what_was_written_before_cannot_have_been_shaped():
    """The ledger's own order counts, whatever the clocks say."""
    old = make_typed(
        "old", "LongTermMemoryRecord", "x y z", source="import:elsewhere",
        observation_time="2027-01-01T00:00:00Z",
    )  # fmt: skip
    heads = make_heads(old, make_said("root", "apples are red"))
    assert find_cone(heads, [make_root(heads["root"])]) == {}


def test_another_tenant_is_not_touched():
    """A withdrawal ends at the border of a tenant."""
    stranger = make_typed("s", "ShortTermSummary", "x", source="import:x", tenant_binding="ws-2")
    heads = make_heads(make_said("root", "apples are red"), stranger)
    assert find_cone(heads, [make_root(heads["root"])]) == {}


def test_a_repetition_goes_with_its_original():
    """The same text under another id, and a summary that quotes it, are found without edges."""
    heads = make_heads(
        make_said("root", "apples are red here"),
        make_said("twin", "apples  are red here"),
        make_summary("quote", "someone said: apples are red here", ["elsewhere"]),
    )
    cone = find_cone(heads, [make_root(heads["root"])])
    assert cone == {"quote": "echoed", "twin": "echoed"}


def test_a_correction_rebuilds_from_the_replacement():
    """What was made of the old text is made again of the new one, in order."""
    records = [
        make_said("a", "apples are red"),
        make_said("b", "bread is brown"),
        make_summary("s", "red apples, brown bread", ["a", "b"]),
        make_summary("t", "of s", ["s"]),
    ]
    snapshot = make_snapshot(*records, make_said("a2", "apples are green", supersedes=["a"]))
    root = make_root(snapshot.heads["a"])
    plan = plan_repair(snapshot.heads, [root], {"a": "a2"}, Shop())
    assert [(item.record_id, item.support, item.needs) for item in plan.to_rebuild] == [
        ("s", ("a2", "b"), ()),
        ("t", (), ("s",)),
    ]

    snapshot = apply_edit(snapshot, make_barrier(plan))
    assert {snapshot.heads[key].standing for key in "st"} == {Standing.WITHDRAWN}

    def rebuild(item, support):
        text = " + ".join(record.plain_text for record in support.values())
        return make_summary(f"{item.record_id}2", text, list(support))

    edit, published = publish_repairs(plan, snapshot, rebuild, lambda record, item: True)
    snapshot = apply_edit(snapshot, edit)
    assert published == {"s": "s2", "t": "t2"}
    assert snapshot.records["t2"].text == "apples are green + bread is brown"
    assert snapshot.heads["s"].standing is Standing.SUPERSEDED


def test_a_failed_check_leaves_it_and_all_behind_it_withdrawn():
    """Only validated successors are published."""
    snapshot = make_snapshot(
        make_said("a", "apples are red"),
        make_said("b", "bread is brown"),
        make_summary("s", "x", ["a", "b"]),
        make_summary("t", "y", ["s"]),
        make_summary("u", "z", ["b", "a"]),
    )
    plan = plan_repair(snapshot.heads, [make_root(snapshot.heads["a"])], {}, Shop())
    snapshot = apply_edit(snapshot, make_barrier(plan))

    def rebuild(item, support):
        return make_summary(f"{item.record_id}2", "new", list(support))

    _, published = publish_repairs(
        plan, snapshot, rebuild, lambda record, item: item.record_id != "s"
    )
    assert published == {"u": "u2"}


def test_a_record_that_somebody_restored_is_not_replaced():
    """Another tab may have acted between barrier and publication."""
    snapshot = make_snapshot(
        make_said("a", "apples are red"), make_said("b", "x"), make_summary("s", "x", ["a", "b"])
    )
    plan = plan_repair(snapshot.heads, [make_root(snapshot.heads["a"])], {}, Shop())

    edit, published = publish_repairs(
        plan, snapshot, lambda item, support: make_summary("s2", "n", ["b"]), lambda *_: True
    )
    assert published == {}
    assert edit.is_empty


def test_a_cost_above_the_worth_is_not_paid():
    """The verdict says so, and the record stays withdrawn."""

    class Dear(Shop):
        def find_cost(self, head, support):
            return 1_000

    heads = make_heads(
        make_said("a", "apples are red"), make_said("b", "x"), make_summary("s", "x", ["a", "b"])
    )
    plan = plan_repair(heads, [make_root(heads["a"])], {}, Dear())
    assert [item.verdict for item in plan.affected] == ["not_worth_it"]


def test_the_plan_does_not_depend_on_the_order_of_heads():
    """Same ledger, same plan."""
    heads = make_heads(
        make_said("a", "apples are red"),
        make_said("b", "bread"),
        *(make_summary(f"s{n}", f"x{n}", ["a", "b"]) for n in range(5)),
    )
    root = make_root(heads["a"])
    turned = dict(reversed(heads.items()))
    assert plan_repair(heads, [root], {}, Shop()) == plan_repair(turned, [root], {}, Shop())
