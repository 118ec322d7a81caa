"""The table of heads: what it tells of its own changes."""

from py_core.store.head_table import MOST_CHANGES
from py_core.store.heads import Standing, make_head
from tests.py_core.memory.heads import make_heads, make_said


def test_a_table_of_heads_tells_what_changed_after_a_version():
    """By id; what is too long ago, or was wiped since, it does not claim to know."""
    table = make_heads(*(make_said(f"m{n}", f"Text {n}") for n in range(3)))
    version = table.version
    assert table.changed_after(version) == frozenset()
    table.put(make_head(make_said("m1", "Other"), Standing.ACTIVE, 9))
    table.drop("m2")
    assert table.changed_after(version) == frozenset({"m1", "m2"})
    for number in range(3 * MOST_CHANGES):
        table.drop(f"nobody-{number}")
    assert table.changed_after(version) is None
    assert len(table.changed_after(table.version - MOST_CHANGES) or ()) == MOST_CHANGES
    table.clear()
    assert table.changed_after(version) is None
    assert table.changed_after(table.version) == frozenset()
