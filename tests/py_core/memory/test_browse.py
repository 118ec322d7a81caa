"""The memory view lists, filters and searches what is there, and counts honestly."""

from py_core.memory.browse import BrowseAsk, browse, trace_history
from py_core.memory.changes import Stamp
from py_core.memory.forget import forget
from py_core.memory.versions import find_circle
from tests.py_core.memory.heads import (
    apply_edit,
    make_heads,
    make_said,
    make_snapshot,
    make_summary,
    make_typed,
)

HEADS = make_heads(
    make_said("a", "Beans climb on poles", subject="garden"),
    make_said("b", "Straße nach Porto", subject="travel", scope="project"),
    make_typed("c", "UserPreferenceAssertion", "I like figs", review_status="promoted"),
    make_summary("d", "Beans and figs", ["a", "c"], review_status="promoted"),
    make_summary("e", "Poles", ["a"]),
)


def ids(page):
    """Give the ids of a page."""
    return [row.head.record_id for row in page.rows]


def test_the_newest_record_comes_first_and_pages_join_without_gap():
    """The order is that of writing."""
    assert ids(browse(HEADS, BrowseAsk())) == ["e", "d", "c", "b", "a"]
    first, second = browse(HEADS, BrowseAsk(limit=3)), browse(HEADS, BrowseAsk(offset=3))
    assert ids(first) + ids(second) == ["e", "d", "c", "b", "a"]
    assert first.total == 5


def test_a_search_finds_all_words_in_any_case_in_text_or_subject():
    """STRASSE finds Straße."""
    assert ids(browse(HEADS, BrowseAsk(search="beans FIGS"))) == ["d"]
    assert ids(browse(HEADS, BrowseAsk(search="STRASSE"))) == ["b"]
    assert ids(browse(HEADS, BrowseAsk(search="garden"))) == ["a"]
    assert ids(browse(HEADS, BrowseAsk(search="nothing"))) == []


def test_groups_count_what_another_choice_would_show():
    """A group ignores its own filter and follows all others."""
    page = browse(HEADS, BrowseAsk(filters={"kind": "ShortTermSummary", "subject": ""}))
    assert ids(page) == ["e", "d"]
    assert page.groups["tier"] == {"8": 1, "9": 1}
    assert page.groups["kind"]["LongTermMemoryRecord"] == 2


def test_the_history_follows_every_link_and_names_what_is_gone():
    """A deleted record remains as an id with its tombstone."""
    snapshot = make_snapshot(make_said("a", "apples"), make_said("b", "pears", supersedes=["a"]))
    stamp = Stamp("ws-1", "2026-07-10T12:00:00+00:00")
    after = apply_edit(snapshot, forget(["a"], snapshot, stamp).edit)
    history = trace_history(after.heads, "b")

    assert history.gone_ids == ("b",)
    assert [edge.kind for edge in history.edges] == ["deletes"]
    before = trace_history(snapshot.heads, "a")
    assert [(edge.begin, edge.end) for edge in before.edges] == [("b", "a")]


def test_a_circle_of_replacements_is_found():
    """Long chains are walked without recursion."""
    chain = {str(n): [str(n + 1)] for n in range(20_000)}
    assert find_circle(chain) == ()
    assert len(find_circle({**chain, "20000": ["0"]})) == 20_001
    assert find_circle({"x": ["x"]}) == ("x",)
