"""The memory as a person looks at it: pages, filters, search, groups, and the history of a record.

Takes heads and what is asked, gives rows in a fixed order. A row shows at most the first lines of a
text; the whole record is opened on demand. Does not know the page.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from operator import attrgetter
from typing import Literal

from py_core.store.head_table import HeadTable, as_table
from py_core.store.heads import FACETS, SEQUENCE_PLACE, Head, Standing
from py_core.unicode_text import fold_case

LARGEST_PAGE = 500
LONGEST_EXCERPT_CHARS = 400

_ROW = attrgetter("row")

_TIER_OF_KIND = {
    "SystemPolicyRecord": 1,
    "TrustedMetadata": 3,
    "RoleTaggedMessage": 4,
    "Retraction": 4,
    "SessionFact": 5,
    "UserPreferenceAssertion": 6,
    "LongTermMemoryRecord": 7,
    "ToolResult": 9,
    "MemoryPointer": 9,
    "RetrievalHit": 10,
    "UntrustedContentBlock": 10,
}

GroupName = Literal["standing", "subject", "scope", "tier", "source", "kind"]
GROUPS: tuple[GroupName, ...] = ("standing", "subject", "scope", "tier", "source", "kind")
EdgeKind = Literal["supersedes", "derived_from", "deletes", "withdrawn_by"]


@dataclass(frozen=True, slots=True)
class BrowseAsk:
    """What is asked for; an empty filter lets everything pass."""

    search: str = ""
    filters: Mapping[GroupName, str] = field(default_factory=dict)
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class BrowseRow:
    """One record as it is listed."""

    head: Head
    tier: int | None
    excerpt: str


@dataclass(frozen=True, slots=True)
class BrowsePage:
    """A part of the list, the size of the whole, and how the whole falls into groups."""

    rows: tuple[BrowseRow, ...]
    total: int
    groups: Mapping[GroupName, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class HistoryEdge:
    """From a record to one it stands on."""

    begin: str
    end: str
    kind: EdgeKind


@dataclass(frozen=True, slots=True)
class History:
    """The small graph around one record; ids without a head are gone or lie elsewhere."""

    nodes: tuple[BrowseRow, ...]
    edges: tuple[HistoryEdge, ...]
    gone_ids: tuple[str, ...]


def find_tier(head: Head) -> int | None:
    """Give the tier that a record has outside any turn; None for one that is in no tier."""
    return _find_tier(head.standing.value, head.kind, head.review_status)


def _find_tier(standing: str, kind: str, review: str) -> int | None:
    if standing != Standing.ACTIVE.value:
        return None
    if kind == "ShortTermSummary":
        return 8 if review == "promoted" else 9
    return _TIER_OF_KIND.get(kind)


def browse(heads: Mapping[str, Head], ask: BrowseAsk) -> BrowsePage:
    """List what passes the filters and holds every word of the search, newest first.

    The counts of a group follow the search and all filters but its own, so that a person sees what
    another choice would show.
    """
    found = _search(as_table(heads), fold_case(ask.search).split())
    facets = Counter(map(FACETS, map(_ROW, found)))
    named = {facet: _name_groups(facet) for facet in facets}
    groups = {name: _count(facets, named, name, ask.filters) for name in GROUPS}
    chosen = {facet for facet in facets if _passes(named[facet], ask.filters)}
    passing = found if len(chosen) == len(facets) else _choose(found, chosen)
    end = ask.offset + min(ask.limit, LARGEST_PAGE)
    rows = tuple(map(show_row, _find_newest(passing, end)[ask.offset :]))
    return BrowsePage(rows, len(passing), groups)


def _find_newest(heads: list[Head], most: int) -> list[Head]:
    """Give the newest heads; which they are is found by their numbers alone, which is fast."""
    if len(heads) > most:
        sequences = [row[SEQUENCE_PLACE] for row in map(_ROW, heads)]
        oldest = nlargest(most, sequences)[-1]
        heads = [heads[place] for place, number in enumerate(sequences) if number >= oldest]
    return sorted(heads, key=lambda head: (-head.sequence, head.record_id))[:most]


def show_row(head: Head) -> BrowseRow:
    """Give the row of a record."""
    return BrowseRow(head, find_tier(head), head.text[:LONGEST_EXCERPT_CHARS])


def trace_history(heads: Mapping[str, Head], record_id: str) -> History:
    """Follow all links from and to a record until nothing new is found."""
    edges_of: dict[str, list[HistoryEdge]] = {}
    for head in heads.values():
        for edge in _list_edges(head):
            edges_of.setdefault(edge.begin, []).append(edge)
            edges_of.setdefault(edge.end, []).append(edge)
    seen, waiting, edges = {record_id}, [record_id], dict[HistoryEdge, None]()
    while waiting:
        for edge in edges_of.get(waiting.pop(), ()):
            edges[edge] = None
            for near in {edge.begin, edge.end} - seen:
                seen.add(near)
                waiting.append(near)
    known = sorted(seen & heads.keys(), key=lambda key: (heads[key].sequence, key))
    ordered = sorted(edges, key=lambda edge: (edge.begin, edge.end, edge.kind))
    gone = tuple(sorted(seen - heads.keys()))
    return History(tuple(show_row(heads[key]) for key in known), tuple(ordered), gone)


def find_raw_sources(heads: Mapping[str, Head], record_id: str) -> tuple[str, ...]:
    """Follow `derived_from` down to what was made of nothing: the raw turns behind a summary."""
    raw, seen, waiting = set[str](), {record_id}, [record_id]
    while waiting:
        key = waiting.pop()
        sources = heads[key].derived_from if key in heads else ()
        if not sources and key != record_id:
            raw.add(key)
        for source in set(sources) - seen:
            seen.add(source)
            waiting.append(source)
    return tuple(sorted(raw))


_Facet = tuple[str, str, str, str, str, str]
_Named = Mapping[GroupName, str]


def _search(table: HeadTable, words: list[str]) -> list[Head]:
    if not words:
        return list(table.values())
    found: Iterable[tuple[str, str]] = table.fold_texts().items()
    for word in words:
        found = [(key, text) for key, text in found if word in text]
    return [table[key] for key, _ in found]


def _choose(found: list[Head], chosen: set[_Facet]) -> list[Head]:
    return [head for head in found if FACETS(head.row) in chosen]


def _name_groups(facet: _Facet) -> _Named:
    """Name the group that a facet falls into, for every sort of group."""
    standing, kind, subject, scope, source, review = facet
    tier = _find_tier(standing, kind, review)
    return {
        "standing": standing,
        "kind": kind,
        "subject": subject,
        "scope": scope,
        "source": source,
        "tier": "none" if tier is None else str(tier),
    }


def _passes(named: _Named, filters: _Named, but: GroupName | None = None) -> bool:
    return all(
        name == but or not wanted or named[name] == wanted for name, wanted in filters.items()
    )


def _count(
    facets: Counter[_Facet], named: Mapping[_Facet, _Named], name: GroupName, filters: _Named
) -> dict[str, int]:
    counts = Counter[str]()
    for facet, count in facets.items():
        if _passes(named[facet], filters, but=name):
            counts[named[facet][name]] += count
    return dict(sorted(counts.items()))


def _list_edges(head: Head) -> Iterable[HistoryEdge]:
    kind: EdgeKind = "deletes" if head.kind == "Tombstone" else "supersedes"
    for older in head.supersedes:
        yield HistoryEdge(head.record_id, older, kind)
    for source in head.derived_from:
        yield HistoryEdge(head.record_id, source, "derived_from")
    if head.standing is Standing.WITHDRAWN:
        for cause in head.withdrawn_by:
            yield HistoryEdge(head.record_id, cause, "withdrawn_by")
