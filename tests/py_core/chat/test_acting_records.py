"""Which deletions, retractions and links a turn has to know."""

from py_core.chat.acting_records import MOST_UNSEEN_TOMBSTONES, list_acting
from py_core.memory.changes import Stamp
from py_core.memory.compose import compose_tombstone
from py_core.store.heads import Standing, make_head
from tests.py_core.memory.heads import make_heads, make_said, make_typed

STAMP = Stamp("ws-1", "2026-07-10T12:00:00+00:00")


def make_tombstone(name: str):
    """Build the mark of a deleted memory."""
    return compose_tombstone(
        make_head(make_said(name, f"Text of {name}"), Standing.ACTIVE, 1), STAMP
    )


def test_the_newest_deletions_are_named_in_every_plan():
    """Also when nothing of what they delete is there; old ones only when it is."""
    marks = [make_tombstone(f"m{n}") for n in range(MOST_UNSEEN_TOMBSTONES + 5)]
    heads = make_heads(*marks)
    unseen = list_acting(heads, (), ())
    assert len(unseen) == MOST_UNSEEN_TOMBSTONES
    assert unseen[0] == marks[-1].record_id
    assert marks[0].record_id not in unseen
    assert list_acting(heads, ("m0",), ())[0] == marks[0].record_id
    by_content = list_acting(heads, (), (marks[1].content_identity or "",))
    assert by_content[0] == marks[1].record_id


def test_a_retraction_is_needed_where_its_message_is():
    """Those of other conversations are not."""
    retraction = make_typed("r1", "Retraction", payload={"target_id": "turn-1-user@here"})
    heads = make_heads(retraction)
    assert list_acting(heads, ("turn-1-user@here",), ()) == ["r1"]
    assert list_acting(heads, ("turn-1-user@there",), ()) == []


def test_a_link_is_needed_where_one_of_its_ends_is():
    """It hides the older or is void: the compiler decides."""
    link = make_typed("l1", "SupersessionLink", payload={"newer_id": "new", "older_id": "old"})
    heads = make_heads(link)
    assert list_acting(heads, ("old",), ()) == ["l1"]
    assert list_acting(heads, ("other",), ()) == []
