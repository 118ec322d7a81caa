"""How relevant each document is to one question: words, vectors, neighbours, threads, author, time.

Takes an index, maybe vectors, and a query; gives the best documents with the parts of their score.
Scores of words and vectors are scaled to their largest and added, a turn gets half of its better
neighbour's and a part of its thread's. Relevance only: never authority, never a decision.
Does not know records, budgets or how a query was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernels.arrays import F64
from kernels.similarity import (
    TermPostings,
    TermWeights,
    better_neighbour,
    find_rarity,
    gather_groups,
    match_numbers,
    match_ranges,
    pick_best,
    scale_to_largest,
    score_terms,
    spread_groups,
    view_numbers,
    view_postings,
)
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.terms import EXACT_MARK
from py_core.retrieval.text_index import TextIndex

PPM = 1_000_000


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for.

    Attributes:
        terms: Stems, each once.
        exact: Exact strings, lower case.
        authors: Names in the question under which documents were written, lower case.
        times: Ranges of seconds since 1970, [start, stop).
    """

    terms: tuple[str, ...]
    exact: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    times: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Relevance:
    """One document's parts, in millionths of the largest."""

    document_id: str
    total_ppm: int
    lexical_ppm: int
    semantic_ppm: int
    neighbour_ppm: int
    thread_ppm: int
    author_ppm: int
    time_ppm: int
    exact_ppm: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The best documents, best first, and how far the question's words are known at all."""

    hits: tuple[Relevance, ...]
    coverage_ppm: int
    """Share of the question's weight of words that the best document holds."""


@dataclass(frozen=True, slots=True)
class _Parts:
    total: F64
    lexical: F64
    semantic: F64
    neighbour: F64
    thread: F64
    author: F64
    time: F64
    exact: F64


def find_relevant(
    index: TextIndex, query: Query, settings: RelevanceSettings, *, vectors: F64 | None = None
) -> Findings:
    """Score every document and give the best.

    Args:
        index: The documents.
        query: What is looked for.
        settings: Shares and limits.
        vectors: Similarity of each document number to the question [N]; none without an embedder.
    """
    if not len(index):
        return Findings((), 0)
    lengths = view_numbers(memoryview(index.lengths))
    terms = [_view(index, term) for term in query.terms if term in index.postings]
    weights = TermWeights(settings.saturation, settings.length_share)
    words = score_terms(terms, lengths, weights)
    parts = _add_parts(index, query, settings, (terms, weights, words), vectors)
    best = pick_best(parts.total * (lengths > 0), settings.candidates)
    largest = float(parts.total[best[0]]) if len(best) else 1.0
    hits = tuple(_describe(index, int(number), parts, largest) for number in best)
    return Findings(hits, _count_coverage(index, query.terms, float(words.max()), settings))


def _add_parts(
    index: TextIndex,
    query: Query,
    settings: RelevanceSettings,
    scored: tuple[Sequence[TermPostings], TermWeights, F64],
    vectors: F64 | None,
) -> _Parts:
    terms, weights, words = scored
    places = index.places
    lengths = view_numbers(memoryview(index.lengths))
    groups = view_numbers(memoryview(places.groups))
    lexical = scale_to_largest(words)
    thread_share = settings.thread_share
    base, semantic = lexical, lexical
    if vectors is not None:
        semantic = scale_to_largest(vectors.clip(0.0))
        base = (1 - settings.semantic_share) * lexical + settings.semantic_share * semantic
        thread_share = settings.thread_share_with_vectors
    previous = view_numbers(memoryview(places.previous))
    following = view_numbers(memoryview(places.following))
    neighbour = settings.neighbour_share * better_neighbour(base, previous, following)
    gathered, group_lengths = gather_groups(terms, groups, lengths)
    threads = scale_to_largest(score_terms(gathered, group_lengths, weights))
    thread = thread_share * spread_groups(threads, groups)
    exact = settings.exact_share * _share_exact(index, query.exact, base)
    found = base + neighbour + thread
    largest = float(found.max()) if len(found) else 0.0
    author = settings.author_share * largest * _match_authors(index, query.authors, base)
    time = settings.time_share * largest * _match_times(index, query.times, base)
    return _Parts(
        total=found + exact + author + time,
        lexical=lexical,
        semantic=semantic,
        neighbour=neighbour,
        thread=thread,
        author=author,
        time=time,
        exact=exact,
    )


def _view(index: TextIndex, term: str) -> TermPostings:
    posting = index.postings[term]
    return view_postings(memoryview(posting.documents), memoryview(posting.counts))


def _share_exact(index: TextIndex, exact: Sequence[str], like: F64) -> F64:
    """Give the share of the question's exact strings that each document holds."""
    held = like * 0.0
    for name in exact:
        posting = index.postings.get(f"{EXACT_MARK}{name}")
        if posting is not None:
            held[view_numbers(memoryview(posting.documents))] += 1.0 / len(exact)
    return held


def _match_authors(index: TextIndex, authors: Sequence[str], like: F64) -> F64:
    """Mark what one named author said; two names say nothing about who of them spoke."""
    known = [
        index.places.author_numbers[a] for a in authors if a in index.places.author_numbers
    ]
    if len(known) != 1:
        return like * 0.0
    return match_numbers(memoryview(index.places.authors), known[0])


def _match_times(index: TextIndex, times: Sequence[tuple[int, int]], like: F64) -> F64:
    if not times:
        return like * 0.0
    return match_ranges(memoryview(index.places.observed_seconds), times)


def _count_coverage(
    index: TextIndex, terms: Sequence[str], best: float, settings: RelevanceSettings
) -> int:
    """Compare the best score with that of a text that would hold every word of the question."""
    population = len(index)
    possible = sum(
        find_rarity(len(index.postings[term].documents) if term in index.postings else 0, population)
        for term in terms
    ) * (settings.saturation + 1)
    return min(PPM, round(PPM * best / possible)) if possible > 0 else 0


def _describe(index: TextIndex, number: int, parts: _Parts, largest: float) -> Relevance:
    entry = index.entries[number]
    if entry is None:  # pragma: no cover - lengths of 0 keep such numbers out of `best`
        raise LookupError(number)

    def ppm(values: F64, scale: float = 1.0) -> int:
        return min(PPM, round(PPM * float(values[number]) / scale))

    return Relevance(
        document_id=entry.document_id,
        total_ppm=ppm(parts.total, largest),
        lexical_ppm=ppm(parts.lexical),
        semantic_ppm=ppm(parts.semantic),
        neighbour_ppm=ppm(parts.neighbour),
        thread_ppm=ppm(parts.thread),
        author_ppm=ppm(parts.author, largest),
        time_ppm=ppm(parts.time, largest),
        exact_ppm=ppm(parts.exact),
    )
