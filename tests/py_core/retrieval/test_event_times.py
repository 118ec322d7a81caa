"""When an event was: by the record that names it, or not at all."""

from datetime import UTC, datetime

import pytest

from py_core.retrieval.document import Document
from py_core.retrieval.event_times import find_event, resolve_events
from py_core.retrieval.intent import Turn, build_intent
from py_core.retrieval.text_index import TextIndex
from tests.py_core.retrieval.memories import NOW

TEXTS = {
    "plan": ("The release of Atlas moves to autumn.", "2026-04-01"),
    "done": ("The release of Atlas was on 12 May 2026.", "2026-05-20"),
    "party": ("After the garden party we met at the lake.", "2026-06-05"),
}


def seconds(text: str) -> int:
    """Give a time in seconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def make_index() -> TextIndex:
    """Index the texts with their days."""
    index = TextIndex()
    index.follow(
        Document(name, text, datetime.fromisoformat(day).replace(tzinfo=UTC))
        for name, (text, day) in TEXTS.items()
    )
    return index


def read_text(name: str) -> str:
    """Read a text."""
    return TEXTS[name][0]


def test_a_record_that_names_the_event_and_a_day_decides():
    """The newest one that is dated."""
    found = find_event("release", make_index(), read_text)
    assert found is not None
    assert (found.record_id, found.is_dated) == ("done", True)
    assert (found.start, found.stop) == (seconds("2026-05-12"), seconds("2026-05-13"))


def test_without_a_day_in_the_text_the_records_own_day_stands_for_the_event():
    """It is said so in what the page shows."""
    found = find_event("garden party", make_index(), read_text)
    assert found is not None
    assert (found.record_id, found.is_dated) == ("party", False)
    assert found.start == seconds("2026-06-05")


def test_a_phrase_that_runs_on_counts_as_far_as_a_record_knows_it():
    """The longest beginning decides."""
    found = find_event("release of atlas and who owns it", make_index(), read_text)
    assert found is not None
    assert found.record_id == "done"


@pytest.mark.parametrize("event", ["audit", "audit release", "", "the"])
def test_an_event_that_no_record_tells_of_has_no_time(event):
    """Nothing is guessed from its end."""
    assert find_event(event, make_index(), read_text) is None


@pytest.mark.parametrize(
    ("question", "inside", "outside"),
    [
        ("What did he say before the release?", "2026-05-11", "2026-05-12"),
        ("What did he say until the release?", "2026-05-12", "2026-05-13"),
        ("What did he say since the release?", "2026-05-12", "2026-05-11"),
        ("What did he say after the release?", "2026-05-13", "2026-05-12"),
    ],
)
def test_each_relation_bounds_its_side(question, inside, outside):
    """The day itself belongs to until and since."""
    intent = build_intent(Turn(question, NOW))
    resolved = resolve_events(intent, make_index(), read_text)
    (start, stop), *_ = resolved.times.ranges
    assert start <= seconds(inside) < stop
    assert not start <= seconds(outside) < stop
    assert resolved.resolutions[-1].meaning.endswith("(done says)")


def test_an_intent_without_events_stays_as_it_is():
    """Nothing is looked up."""
    intent = build_intent(Turn("What is the travel budget?", NOW))
    assert resolve_events(intent, make_index(), read_text) == intent
