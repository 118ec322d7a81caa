"""Score many texts against one question: term statistics, neighbours, groups, vectors.

Takes postings (numbers of texts and how often a term stands in each), group numbers and rows of
bytes; gives one float64 for each text. Does not know words, records or what a score decides.

Every step is one IEEE operation for each number, or a sum of whole numbers below 2**24, and the
one logarithm is rounded to nine places, so scores do not depend on machine or vector width.

Shapes: N texts, G groups, P postings of one term, W width of a vector.

Source: BM25 in the form of S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework
(2009), with the logarithm that is never negative: ln(1 + (N - n + 0.5) / (n + 0.5)).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.arrays import F32, F64, I32
from kernels.dtypes import I8

BYTE_LIMIT = 127
CHUNK_ROWS = 512
"""Rows of bytes that are widened to float32 at once; one buffer of 0.8 MB stays in the cache."""

Buffer: TypeAlias = memoryview


@dataclass(frozen=True, slots=True)
class TermPostings:
    """One term: the texts that hold it, and how often."""

    texts: I32
    counts: I32


def view_postings(texts: Buffer, counts: Buffer) -> TermPostings:
    """See two buffers of int32 (`array.array("i")`) as postings, without a copy.

    The buffers cannot grow while the postings are held.
    """
    return TermPostings(view_numbers(texts), view_numbers(counts))


def view_numbers(numbers: Buffer) -> I32:
    """See a buffer of int32 as an array, without a copy."""
    return np.frombuffer(numbers, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class TermWeights:
    """How term counts become a score: saturation `k1`, length share `b`."""

    k1: float
    b: float


def score_terms(terms: Sequence[TermPostings], lengths: I32, weights: TermWeights) -> F64:
    """Add up BM25 over terms: [N].

    Args:
        terms: Postings of the question's terms, in a fixed order.
        lengths: Terms in each text [N]; 0 for one that is gone.
        weights: Saturation and length share.

    Example:
        two texts of length 1, a term in the first: ln(1 + 1.5 / 1.5) = 0.693 for the first, since
        a count of 1 at mean length counts once.
    """
    scores = np.zeros(len(lengths))
    population = int(np.count_nonzero(lengths))
    if population == 0:
        return scores
    mean_length = int(lengths.sum(dtype=np.int64)) / population
    for term in terms:
        alive = lengths[term.texts] > 0
        texts, counts = term.texts[alive], term.counts[alive]
        rarity = find_rarity(len(texts), population)
        relative = lengths[texts] / mean_length
        saturation = weights.k1 * (1 - weights.b + weights.b * relative)
        scores[texts] += rarity * (counts * (weights.k1 + 1) / (counts + saturation))
    return scores


def cover_terms(terms: Sequence[TermPostings], worths: Sequence[float], size: int) -> F64:
    """Add up what the terms that a text holds are worth, however often it holds them: [N]."""
    covered = np.zeros(size)
    for term, worth in zip(terms, worths, strict=True):
        covered[term.texts] += worth
    return covered


def find_rarity(holders: int, population: int) -> float:
    """Give what a term is worth that `holders` of `population` texts hold."""
    return round(math.log1p((population - holders + 0.5) / (holders + 0.5)), 9)


def gather_groups(
    terms: Sequence[TermPostings], groups: I32, lengths: I32
) -> tuple[list[TermPostings], I32]:
    """See each group of texts as one text: its postings, and its length [G].

    Texts of length 0 are gone, texts of group -1 are in none; both count for nothing.
    """
    size = int(groups.max()) + 1 if len(groups) else 0
    gathered = []
    for term in terms:
        alive = (lengths[term.texts] > 0) & (groups[term.texts] >= 0)
        totals = np.bincount(
            groups[term.texts[alive]], weights=term.counts[alive], minlength=size
        ).astype(np.int32)
        found = np.flatnonzero(totals).astype(np.int32)
        gathered.append(TermPostings(found, totals[found]))
    inside = groups >= 0
    group_lengths = np.bincount(groups[inside], weights=lengths[inside], minlength=size)
    return gathered, group_lengths.astype(np.int32)


def spread_groups(group_scores: F64, groups: I32) -> F64:
    """Give each text the score of its group, 0 outside of any: [N]."""
    spread: F64 = np.append(group_scores, 0.0)[groups]
    return spread


def scale_to_largest(scores: F64) -> F64:
    """Divide by the largest score, so that it becomes 1; all zero stays zero."""
    largest = float(scores.max()) if len(scores) else 0.0
    return scores / largest if largest > 0 else np.zeros(len(scores))


def better_neighbour(scores: F64, previous: I32, following: I32) -> F64:
    """Give the larger score of the text before and the text after, 0 where there is none.

    Args:
        scores: [N]
        previous: Number of the text before each text, -1 for none [N].
        following: Number of the text after each text, -1 for none [N].
    """
    padded = np.append(scores, 0.0)  # the place that -1 names
    return np.asarray(np.maximum(padded[previous], padded[following]), dtype=np.float64)


def quantise_rows(vectors: F32) -> tuple[I8, F32]:
    """Write vectors [N, W] as bytes with one scale each, so that row x scale is the vector."""
    largest = np.abs(vectors).max(axis=1) if len(vectors) else np.empty(0, np.float32)
    scales = (largest / np.float32(BYTE_LIMIT)).astype(np.float32)
    scales = np.where(scales > 0, scales, np.float32(1))
    levels = np.rint(vectors / scales[:, None])
    return np.clip(levels, -BYTE_LIMIT, BYTE_LIMIT).astype(np.int8), scales


RowProducts: TypeAlias = Callable[[I8, I8], F64]
"""Rows of bytes [N, W] and a question [W] to their dot products [N], each a whole number."""


def multiply_rows(rows: I8, query: I8) -> F64:
    """Give the dot product of every row with the question: [N].

    Bytes are multiplied as float32 whole numbers, by `einsum`: in the browser it is faster than the
    matrix product. At most 1,040 columns stay below 2**24, where every such sum is exact in
    whatever order it is made.
    """
    wide = query.astype(np.float32)
    products = np.empty(len(rows), dtype=np.float32)
    chunk = np.empty((CHUNK_ROWS, len(query)), dtype=np.float32)
    for start in range(0, len(rows), CHUNK_ROWS):
        part = rows[start : start + CHUNK_ROWS]
        widened = chunk[: len(part)]  # [rows, W]
        np.copyto(widened, part)
        np.einsum("rw,w->r", widened, wide, out=products[start : start + len(part)])
    return products.astype(np.float64)


def score_vectors(
    rows: I8, scales: F32, query: I8, query_scale: float, *, multiply: RowProducts = multiply_rows
) -> F64:
    """Give the cosine of every row with the question: [N].

    Products of bytes are whole numbers, so it does not matter who multiplies.
    """
    cosines: F64 = multiply(rows, query) * scales.astype(np.float64) * query_scale
    return cosines


def match_numbers(numbers: Buffer, wanted: int) -> F64:
    """Give 1 where a buffer of int32 holds the wanted number, else 0: [N]."""
    return np.asarray(view_numbers(numbers) == wanted, dtype=np.float64)


def match_ranges(values: Buffer, ranges: Sequence[tuple[int, int]]) -> F64:
    """Give 1 where a buffer of int64 lies in one of the ranges [start, stop), else 0: [N]."""
    numbers = np.frombuffer(values, dtype=np.int64)
    inside = np.zeros(len(numbers), dtype=np.bool_)
    for start, stop in ranges:
        inside |= (numbers >= start) & (numbers < stop)
    return inside.astype(np.float64)


@dataclass(frozen=True, slots=True)
class VectorScores:
    """Cosine of each text with the question [N], and which texts have a vector at all [N]."""

    cosines: F64
    known: npt.NDArray[np.bool_]

    @property
    def largest(self) -> float:
        """The best cosine, 0 without any."""
        return float(self.cosines.max()) if len(self.cosines) else 0.0


def fill_unknown(vectors: VectorScores, stand_in: F64) -> F64:
    """Scale cosines to their largest; texts without a vector get the stand-in: [N]."""
    scaled = scale_to_largest(vectors.cosines.clip(0.0))
    filled: F64 = np.where(vectors.known, scaled, stand_in)
    return filled


def pick_best(scores: F64, most: int) -> I32:
    """Give the numbers of the largest positive scores, largest first, ties by number."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > most:
        # The smallest score that is kept; all that tie with it stay until the order decides.
        limit = np.partition(scores[positive], len(positive) - most)[len(positive) - most]
        positive = positive[scores[positive] >= limit]
    order = np.lexsort((positive, -scores[positive]))[:most]
    return positive[order].astype(np.int32)
