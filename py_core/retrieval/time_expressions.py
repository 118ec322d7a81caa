"""Which stretch of time a question names: yesterday, last week, in May, before the release.

Takes a text and the time now, gives ranges in seconds since 1970 and events that stand for a
time. Days are those of UTC; a week begins on Monday. Does not know records: an event such as "the
release" is looked up by whoever has them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "a",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
} | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_DAY = timedelta(days=1)
_YEAR_DAYS = 365
_LAST_MONTH = 12
_FIRST_YEAR, _LAST_YEAR = 1, 9_998

_MONTH_NAMES = "|".join(_MONTHS)
_COUNT_WORDS = "|".join(sorted(_NUMBERS, key=len, reverse=True))

Range = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class TimeHints:
    """What a text says about time.

    Attributes:
        ranges: Stretches [start, stop), each once.
        events: Words after before, after, since or until that are no date: "release".
        wants_latest: The text asks how things stand now.
        wants_date: The text asks when something was.
    """

    ranges: tuple[tuple[int, int], ...] = ()
    events: tuple[tuple[str, str], ...] = ()
    wants_latest: bool = False
    wants_date: bool = False


def find_times(text: str, now: datetime) -> TimeHints:
    """Find all expressions of time.

    Example:
        on Wednesday 20 May 2026, "last week" is from Monday 11 May to Monday 18 May.
    """
    lowered = text.lower()
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    found: dict[tuple[int, int], None] = {}
    rest = lowered
    for pattern, read in _RULES:
        for match in pattern.finditer(rest):
            stretch = read(match, today)
            if stretch is not None:
                found[(_seconds(stretch[0]), _seconds(stretch[1]))] = None
        # A later rule must not read what an earlier one has: "12 may 2024" is no "may".
        rest = pattern.sub(" ", rest)
    events = tuple((match[1], match[2]) for match in _EVENT.finditer(rest))
    return TimeHints(
        ranges=tuple(found),
        events=events,
        wants_latest=_LATEST.search(lowered) is not None,
        wants_date=_WHEN.search(lowered) is not None,
    )


_EVENT = re.compile(r"\b(before|after|since|until) (?:the |my |our )([a-z][a-z -]{1,40}[a-z])\b")
_LATEST = re.compile(
    r"\b(?:now|currently|current|latest|most recent|right now|these days|at the moment|still)\b"
)
_WHEN = re.compile(r"\b(?:when|what (?:date|day|time|year|month)|how long ago)\b")


def _seconds(time: datetime) -> int:
    return int((time - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())


def _day(start: datetime, days: int = 1) -> Range:
    return start, start + days * _DAY


def _month(year: int, month: int) -> Range | None:
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    following = (year + 1, 1) if month == _LAST_MONTH else (year, month + 1)
    return datetime(year, month, 1, tzinfo=UTC), datetime(*following, 1, tzinfo=UTC)


def _read_iso(match: re.Match[str], _today: datetime) -> Range | None:
    return _date(int(match[1]), int(match[2]), int(match[3]))


def _date(year: int, month: int, day: int) -> Range | None:
    try:
        return _day(datetime(year, month, day, tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _read_day_of_month(match: re.Match[str], today: datetime) -> Range | None:
    day = int(match[1] or match[4])
    month = _MONTHS.index(match[2] or match[3]) + 1
    year = int(match[5]) if match[5] else _latest_year(today, month)
    return _date(year, month, day)


def _read_month(match: re.Match[str], today: datetime) -> Range | None:
    month = _MONTHS.index(match[1]) + 1
    return _month(int(match[2]) if match[2] else _latest_year(today, month), month)


def _latest_year(today: datetime, month: int) -> int:
    """Give the year in which a month was last, this one included."""
    return today.year if month <= today.month else today.year - 1


def _read_named_day(match: re.Match[str], today: datetime) -> Range:
    back = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "last night": 1}
    return _day(today - back.get(match[1], 2) * _DAY)


def _read_weekday(match: re.Match[str], today: datetime) -> Range:
    back = (today.weekday() - _WEEKDAYS.index(match[1])) % 7
    return _day(today - (back or 7) * _DAY)


def _read_last_unit(match: re.Match[str], today: datetime) -> Range | None:
    which, unit = match[1], match[2]
    is_last = which in ("last", "previous", "past")
    if unit == "week":
        monday = today - today.weekday() * _DAY
        return _day(monday - 7 * _DAY if is_last else monday, 7)
    if unit == "weekend":
        saturday = today - (today.weekday() + 2) % 7 * _DAY
        return _day(saturday, 2)
    if unit == "month":
        before = (
            (today.year - 1, _LAST_MONTH) if today.month == 1 else (today.year, today.month - 1)
        )
        return _month(*before) if is_last else _month(today.year, today.month)
    year = today.year - 1 if is_last else today.year
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _read_ago(match: re.Match[str], today: datetime) -> Range | None:
    unit = _UNIT_DAYS[match[2]]
    days = _count(match[1]) * unit
    if days > today.toordinal() - unit - 1:
        return None
    # Nobody counts exactly: a stretch of one unit around the day.
    middle = today - days * _DAY
    return _day(middle - unit // 2 * _DAY, max(1, unit))


def _read_span(match: re.Match[str], today: datetime) -> Range | None:
    days = _count(match[1] or "one") * _UNIT_DAYS[match[2]]
    if days > today.toordinal() - 1:
        return None
    return today - days * _DAY, today + _DAY


def _read_year(match: re.Match[str], _today: datetime) -> Range:
    year = int(match[1])
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word]


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Range | None]]
_ORDINAL = r"(\d{1,2})(?:st|nd|rd|th)?"

_RULES: tuple[Rule, ...] = (
    (re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b"), _read_iso),
    (
        re.compile(
            rf"\b(?:{_ORDINAL}(?: of)? ({_MONTH_NAMES})|({_MONTH_NAMES}) {_ORDINAL})\b,?"
            r"(?: (\d{4})\b)?"
        ),
        _read_day_of_month,
    ),
    (
        re.compile(
            rf"\b(?:in|of|during|since|this|last|early|late|mid) ({_MONTH_NAMES}),?"
            r"(?: (\d{4}))?\b"
        ),
        _read_month,
    ),
    (re.compile(rf"\b({_MONTH_NAMES}),? (\d{{4}})\b"), _read_month),
    (
        re.compile(
            r"\b(today|tonight|this morning|yesterday|last night|the day before yesterday)\b"
        ),
        _read_named_day,
    ),
    (re.compile(rf"\b(?:last|on|this past) ({'|'.join(_WEEKDAYS)})\b"), _read_weekday),
    (
        re.compile(rf"\b({_COUNT_WORDS}|\d{{1,4}}) (day|week|month|year)s? ago\b"),
        _read_ago,
    ),
    (
        re.compile(
            rf"\b(?:in |over |for )?the (?:last|past) (?:({_COUNT_WORDS}|\d{{1,4}}) )?"
            r"(day|week|month|year)s\b"
        ),
        _read_span,
    ),
    (re.compile(r"\b(last|previous|past|this) (week|weekend|month|year)\b"), _read_last_unit),
    (re.compile(r"\b(?:in|during|of|since) ((?:19|20)\d{2})\b"), _read_year),
)
