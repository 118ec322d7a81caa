"""How relevant each document is to one question: words, vectors, neighbours, threads, author, time.

Takes an index, maybe vectors, and a query; gives the best documents with the parts of their score.
Scores of words and vectors are scaled to their largest and added, a turn gets half of its better
neighbour's and a part of its thread's. A second hop looks for what the first hits speak of.
Relevance only: never authority, never a decision. Does not know records or budgets.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from kernels.arrays import F64, Mask
from kernels.similarity import (
    TermPostings,
    TermWeights,
    better_neighbour,
    cover_terms,
    fill_unknown,
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
from kernels.similarity import VectorScores as VectorScores  # noqa: PLC0414 - exported
from py_core.retrieval.second_hop import list_followed_terms
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.terms import EXACT_MARK
from py_core.retrieval.text_index import TextIndex

PPM = 1_000_000
SMALLEST_POPULATION = 400


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
    """One document's parts in millionths: of the largest total, or of their own largest."""

    document_id: str
    total_ppm: int
    lexical_ppm: int
    semantic_ppm: int
    neighbour_ppm: int
    thread_ppm: int
    author_ppm: int
    time_ppm: int
    exact_ppm: int
    hop_ppm: int


@dataclass(frozen=True, slots=True)
class Findings:
    """The best documents, best first, and how far the question's words are known at all."""

    hits: tuple[Relevance, ...]
    coverage_ppm: int
    """Share of the question's weight of words that the best document holds."""

    cosine_ppm: int | None
    """The best cosine; none without an embedder."""

    followed: tuple[str, ...] = ()
    """Terms that the second hop looked for."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """The final scores, the first round's, the second hop's, and the largest final one."""

    final: F64
    first: "_FirstRound"
    hop: F64
    largest: float


@dataclass(frozen=True, slots=True)
class _FirstRound:
    total: F64
    largest: float
    lexical: F64
    semantic: F64
    neighbour: F64
    thread: F64
    author: F64
    time: F64
    exact: F64


def find_relevant(
    index: TextIndex,
    query: Query,
    settings: RelevanceSettings,
    *,
    vectors: VectorScores | None = None,
    read_text: Callable[[str], str] | None = None,
    hidden: Collection[str] = (),
) -> Findings:
    """Score every document and give the best.

    Args:
        index: The documents.
        query: What is looked for.
        settings: Shares and limits.
        vectors: Cosine of each document number with the question; none without an embedder.
        read_text: Gives a document's text by id; without it there is no second hop.
        hidden: Documents that are not looked at, as if they were not there.
    """
    if not len(index):
        return Findings((), 0, None)
    alive = _find_alive(index, hidden)
    words = _score_words(index, query.terms, settings, alive)
    parts = _add_parts(index, query, settings, words, vectors)
    total = scale_to_largest(parts.total * alive)
    followed: tuple[str, ...] = ()
    hop = total * 0.0
    if read_text is not None and settings.hop_share:
        numbers = pick_best(total, settings.hop_hits)
        first = [_name(index, int(n)) for n in numbers]
        values = [float(total[n]) for n in numbers]
        followed = list_followed_terms(
            index,
            query.terms,
            [(read_text(i), v) for i, v in zip(first, values, strict=True)],
            settings.hop_terms,
        )
        hop = settings.hop_share * _hop(index, followed, settings, alive)
    final = (total + hop) * alive
    best = pick_best(final, settings.candidates)
    largest = float(final[best[0]]) if len(best) else 1.0
    shown = _Parts(final, parts, hop, largest)
    hits = tuple(_describe(index, int(number), shown) for number in best)
    coverage = _count_coverage(index, query.terms, words, alive)
    cosine = None if vectors is None else max(0, round(PPM * vectors.largest))
    return Findings(hits, coverage, cosine, followed)


@dataclass(frozen=True, slots=True)
class _Words:
    terms: Sequence[TermPostings]
    weights: TermWeights
    scores: F64


def _find_alive(index: TextIndex, hidden: Collection[str]) -> Mask:
    alive = view_numbers(memoryview(index.lengths)) > 0
    numbers = [index.number_of(name) for name in hidden]
    alive[[number for number in numbers if number is not None]] = False
    return alive


def _score_words(
    index: TextIndex, terms: Sequence[str], settings: RelevanceSettings, alive: Mask
) -> _Words:
    known = [_view(index, term) for term in terms if term in index.postings]
    weights = TermWeights(settings.saturation, settings.length_share)
    lengths = view_numbers(memoryview(index.lengths))
    # What is gone or hidden must not set the scale for the others.
    return _Words(known, weights, score_terms(known, lengths, weights) * alive)


def _hop(
    index: TextIndex, followed: Sequence[str], settings: RelevanceSettings, alive: Mask
) -> F64:
    """Score the followed terms, with the neighbours and without threads: scaled to 1."""
    base = scale_to_largest(_score_words(index, followed, settings, alive).scores)
    return scale_to_largest(base + _lift(index, base, settings))


def _lift(index: TextIndex, base: F64, settings: RelevanceSettings) -> F64:
    previous = view_numbers(memoryview(index.places.previous))
    following = view_numbers(memoryview(index.places.following))
    return settings.neighbour_share * better_neighbour(base, previous, following)


def _add_parts(
    index: TextIndex,
    query: Query,
    settings: RelevanceSettings,
    words: _Words,
    vectors: VectorScores | None,
) -> _FirstRound:
    lexical = scale_to_largest(words.scores)
    thread_share = settings.thread_share
    base, semantic = lexical, lexical * 0.0
    if vectors is not None:
        semantic = fill_unknown(vectors, lexical)
        base = (1 - settings.semantic_share) * lexical + settings.semantic_share * semantic
        thread_share = settings.thread_share_with_vectors
    neighbour = _lift(index, base, settings)
    thread = thread_share * _score_threads(index, words)
    found = base + neighbour + thread
    # A question of nothing but a time or an exact string is scored by these alone.
    largest = float(found.max()) or 1.0
    exact = _share_exact(index, query.exact, base)
    # Who said it counts only where anything else fits: a name alone is no subject.
    is_found = found > 0
    spoken = _match_authors(index, query.authors, base) * is_found
    author = settings.author_share * largest * spoken
    time = settings.time_share * largest * _match_times(index, query.times, base)
    total = found + settings.exact_share * largest * exact + author + time
    return _FirstRound(
        total=total,
        largest=float(total.max()) or 1.0,
        lexical=lexical,
        semantic=semantic,
        neighbour=neighbour,
        thread=thread,
        author=author,
        time=time,
        exact=exact,
    )


def _score_threads(index: TextIndex, words: _Words) -> F64:
    """Give each document the score of its thread as one long text, the best thread 1."""
    groups = view_numbers(memoryview(index.places.groups))
    lengths = view_numbers(memoryview(index.lengths))
    gathered, group_lengths = gather_groups(words.terms, groups, lengths)
    scores = scale_to_largest(score_terms(gathered, group_lengths, words.weights))
    return spread_groups(scores, groups)


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
    known = [index.places.author_numbers[a] for a in authors if a in index.places.author_numbers]
    if len(known) != 1:
        return like * 0.0
    return match_numbers(memoryview(index.places.authors), known[0])


def _match_times(index: TextIndex, times: Sequence[tuple[int, int]], like: F64) -> F64:
    if not times:
        return like * 0.0
    return match_ranges(memoryview(index.places.observed_seconds), times)


def _count_coverage(index: TextIndex, terms: Sequence[str], words: _Words, alive: Mask) -> int:
    """Give the largest share of the question's weight of words that one document holds.

    A small store counts as one of `SMALLEST_POPULATION`: in a store of two records every word is
    frequent, and that says nothing about the question.
    """
    population = max(len(index), SMALLEST_POPULATION)

    def worth(term: str) -> float:
        posting = index.postings.get(term)
        return find_rarity(0 if posting is None else len(posting.documents), population)

    possible = sum(worth(term) for term in terms)
    known = [worth(term) for term in terms if term in index.postings]
    covered = cover_terms(words.terms, known, len(index.lengths))
    return round(PPM * float((covered * alive).max()) / possible) if possible > 0 else 0


def _name(index: TextIndex, number: int) -> str:
    entry = index.entries[number]
    if entry is None:
        raise LookupError(number)
    return entry.document_id


def _describe(index: TextIndex, number: int, parts: _Parts) -> Relevance:
    first = parts.first
    largest = first.largest

    def ppm(values: F64, scale: float) -> int:
        return min(PPM, round(PPM * float(values[number]) / scale))

    return Relevance(
        document_id=_name(index, number),
        total_ppm=ppm(parts.final, parts.largest),
        lexical_ppm=ppm(first.lexical, 1.0),
        semantic_ppm=ppm(first.semantic, 1.0),
        neighbour_ppm=ppm(first.neighbour, largest),
        thread_ppm=ppm(first.thread, largest),
        author_ppm=ppm(first.author, largest),
        time_ppm=ppm(first.time, largest),
        exact_ppm=ppm(first.exact, 1.0),
        hop_ppm=ppm(parts.hop, parts.largest),
    )
