"""Each expression of time against a calendar: Wednesday 20 May 2026."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.retrieval.time_expressions import find_times

NOW = datetime(2026, 5, 20, 9, 30, tzinfo=UTC)
TABLE = [
    ("today", "2026-05-20", "2026-05-21"),
    ("yesterday", "2026-05-19", "2026-05-20"),
    ("last night", "2026-05-19", "2026-05-20"),
    ("the day before yesterday", "2026-05-18", "2026-05-19"),
    ("this week", "2026-05-18", "2026-05-25"),
    ("last week", "2026-05-11", "2026-05-18"),
    ("last weekend", "2026-05-16", "2026-05-18"),
    ("last month", "2026-04-01", "2026-05-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("on Monday", "2026-05-18", "2026-05-19"),
    ("last Wednesday", "2026-05-13", "2026-05-14"),
    ("3 days ago", "2026-05-17", "2026-05-18"),
    ("two weeks ago", "2026-05-03", "2026-05-10"),
    ("the last 3 days", "2026-05-17", "2026-05-21"),
    ("in May", "2026-05-01", "2026-06-01"),
    ("in December", "2025-12-01", "2026-01-01"),
    ("in May 2023", "2023-05-01", "2023-06-01"),
    ("on 8 May, 2023", "2023-05-08", "2023-05-09"),
    ("on May 8th", "2026-05-08", "2026-05-09"),
    ("on 2024-02-29", "2024-02-29", "2024-03-01"),
    ("in 2022", "2022-01-01", "2023-01-01"),
]


def days(text: str, now: datetime = NOW) -> list[tuple[str, str]]:
    """Give ranges as days."""
    return [
        (
            datetime.fromtimestamp(a, UTC).date().isoformat(),
            datetime.fromtimestamp(b, UTC).date().isoformat(),
        )
        for a, b in find_times(text, now).ranges
    ]


@pytest.mark.parametrize(("text", "start", "stop"), TABLE)
def test_an_expression_is_its_stretch_of_days(text: str, start: str, stop: str):
    """Alone and inside a sentence."""
    assert days(text) == [(start, stop)]
    assert days(f"What did we see {text}?") == [(start, stop)]


@pytest.mark.parametrize("text", ["you may go", "march on", "31 February 2024", "2024-13-01", ""])
def test_words_that_look_like_dates_are_none(text: str):
    """A month's name alone is an ordinary word, a day that is not in the calendar is no day."""
    assert days(text) == []


def test_an_event_is_kept_for_whoever_knows_it():
    """Before the release is no date."""
    hints = find_times("what broke before the release and since our last meeting", NOW)
    assert ("before", "release and since our last meeting") in hints.events or (
        "before",
        "release",
    ) in hints.events


def test_questions_about_now_and_about_dates_are_told_apart():
    """They want other records."""
    assert find_times("what is the current task", NOW).wants_latest
    assert find_times("when did it begin", NOW).wants_date
    assert not find_times("why is it", NOW).wants_date


@given(st.text(max_size=60), st.datetimes(timezones=st.just(UTC)))
def test_any_text_at_any_time_gives_ranges_that_begin_before_they_end(text: str, now: datetime):
    """No clock and no number breaks it, not even in the year 1 or 9999."""
    for part in (text, f"{text} 9999 years ago", "last month", "in december 9999"):
        assert all(start < stop for start, stop in find_times(part, now).ranges)
