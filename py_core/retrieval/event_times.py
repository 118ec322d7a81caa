"""When an event was that a question names without a date: "before the release".

Takes the intent and the index, gives the intent with a stretch of time for each event of which a
record tells. A record that names the event and a date decides; without a date its own day does.
An event that no record knows stays without a time. Does not know ranking.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from py_core.retrieval.coreference import Resolution
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.terms import list_terms
from py_core.retrieval.text_index import TextIndex
from py_core.retrieval.time_expressions import find_times

MOST_RECORDS: Final = 32
"""Of the records that name an event so many are read, the newest ones."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_SECONDS: Final = 86_400
_BEGINNING: Final = -62_135_596_800
"""The year 1."""

_END: Final = 253_402_300_800
"""The year 10,000."""


@dataclass(frozen=True, slots=True)
class EventTime:
    """When an event was, and which record says so."""

    record_id: str
    start: int
    stop: int
    is_dated: bool
    """The record's text names the day; otherwise the day of the record stands for it."""


def resolve_events(
    intent: RetrievalIntent, index: TextIndex, read_text: Callable[[str], str]
) -> RetrievalIntent:
    """Give the intent with a range for each event that is known.

    Example:
        "before the release" with a record "The release was on 12 May 2026" means: before that day.
    """
    ranges, resolutions = list(intent.times.ranges), list(intent.resolutions)
    for relation, event in intent.times.events:
        found = find_event(event, index, read_text)
        if found is not None:
            ranges.append(_relate(relation, found))
            resolutions.append(Resolution(f"{relation} the {event}", _tell(relation, found)))
    times = replace(intent.times, ranges=tuple(dict.fromkeys(ranges)))
    return replace(intent, times=times, resolutions=tuple(resolutions))


def find_event(event: str, index: TextIndex, read_text: Callable[[str], str]) -> EventTime | None:
    """Give the time of an event by the newest record that names it, dated ones first.

    Where the phrase runs on ("the release and who owns it"), its longest known beginning counts.
    """
    words = event.split()
    beginnings = (" ".join(words[:count]) for count in range(len(words), 0, -1))
    found = (_find_named(beginning, index, read_text) for beginning in beginnings)
    return next((time for time in found if time is not None), None)


def _find_named(event: str, index: TextIndex, read_text: Callable[[str], str]) -> EventTime | None:
    found: EventTime | None = None
    for name, seconds in _list_naming(event, index):
        observed = _EPOCH + timedelta(seconds=seconds)
        ranges = find_times(read_text(name), observed).ranges
        if ranges:
            start, stop = ranges[0]
            return EventTime(name, start, stop, is_dated=True)
        if found is None:
            day = seconds - seconds % _DAY_SECONDS
            found = EventTime(name, day, day + _DAY_SECONDS, is_dated=False)
    return found


def _list_naming(event: str, index: TextIndex) -> list[tuple[str, int]]:
    """Give id and time of the records that hold every word of the event, newest first."""
    postings = [index.postings.get(term) for term in dict.fromkeys(list_terms(event))]
    known = [set(posting.documents) for posting in postings if posting is not None]
    if not known or len(known) < len(postings):
        return []
    entries = (index.entries[number] for number in set.intersection(*known))
    named = [(e.document_id, e.observed_seconds) for e in entries if e is not None]
    return sorted(named, key=lambda found: (-found[1], found[0]))[:MOST_RECORDS]


def _relate(relation: str, event: EventTime) -> tuple[int, int]:
    match relation:
        case "before":
            return _BEGINNING, event.start
        case "until":
            return _BEGINNING, event.stop
        case "since":
            return event.start, _END
        case _:
            return event.stop, _END


def _tell(relation: str, event: EventTime) -> str:
    day = (_EPOCH + timedelta(seconds=event.start)).date().isoformat()
    source = "says" if event.is_dated else "is of that day"
    return f"{relation} {day} ({event.record_id} {source})"
