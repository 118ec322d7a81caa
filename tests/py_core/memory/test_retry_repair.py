"""What was withdrawn and not rebuilt can be rebuilt later, from what is there then."""

from py_core.memory.rebuild import SummaryShop
from py_core.memory.retry_repair import list_withdrawn, plan_retry
from py_core.store.heads import Standing
from tests.py_core.memory.heads import make_heads, make_said, make_summary, make_typed

WITHDRAWN = Standing.WITHDRAWN


def make_table(*withdrawn):
    """Give two notes, two summaries of them, and a pointer that hides its sources."""
    heads = make_heads(
        make_said("a", "Beans climb on poles"),
        make_said("b", "The north bed gets sun"),
        make_summary("s", "Beans climb on poles.", ["a", "gone"]),
        make_summary("t", "The north bed gets sun.", ["s", "b"]),
        make_typed("p", "MemoryPointer", "about beans", source="foreign"),
    )
    for key in withdrawn:
        heads[key] = heads[key].stand(WITHDRAWN, ("gone",))
    return heads


def verdicts(heads, *record_ids):
    """Give the verdict of each record of the plan, in order."""
    plan = plan_retry(heads, record_ids, SummaryShop(heads))
    return [(item.record_id, item.verdict, item.support, item.needs) for item in plan.affected]


def test_a_summary_comes_back_from_the_sources_that_are_left():
    """It needs no worth: the person has asked."""
    assert verdicts(make_table("s"), "s") == [("s", "rebuild", ("a",), ())]


def test_a_withdrawn_source_is_rebuilt_first():
    """Asking for the upper one brings the lower one along."""
    assert verdicts(make_table("s", "t"), "t") == [
        ("s", "rebuild", ("a",), ()),
        ("t", "rebuild", ("b",), ("s",)),
    ]


def test_what_hides_its_sources_or_has_none_left_stays_withdrawn():
    """And so does what is made of it."""
    heads = make_table("a", "p", "s", "t")
    found = {key: verdict for key, verdict, _, _ in verdicts(heads, *list_withdrawn(heads))}
    assert found == {
        "a": "has_no_sources",
        "p": "has_no_sources",
        "s": "not_rebuildable",
        "t": "not_rebuildable",
    }


def test_only_withdrawn_records_are_listed():
    """A superseded one has its successor already."""
    assert list_withdrawn(make_table("t", "p")) == ("p", "t")
