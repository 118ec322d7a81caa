"""Scores of texts against a question: worked numbers and laws of order."""

import math
from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.similarity import (
    TermPostings,
    TermWeights,
    VectorScores,
    better_neighbour,
    cover_terms,
    fill_unknown,
    gather_groups,
    match_numbers,
    match_ranges,
    pick_best,
    quantise_rows,
    scale_to_largest,
    score_terms,
    score_vectors,
    spread_groups,
    view_postings,
)

WEIGHTS = TermWeights(k1=1.2, b=0.75)


def ints(*numbers: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.int32]]":
    """Give an int32 array."""
    return np.array(numbers, dtype=np.int32)


def test_one_term_in_one_of_two_texts_scores_the_logarithm_of_two():
    """BM25: at mean length a single occurrence counts once, and N=2, n=1 give ln 2."""
    scores = score_terms([TermPostings(ints(0), ints(1))], ints(1, 1), WEIGHTS)
    assert scores[0] == pytest.approx(math.log(2), abs=1e-9)
    assert scores[1] == 0


def test_a_text_that_is_gone_scores_nothing_and_counts_for_nothing():
    """A length of 0 marks a removed text."""
    posting = TermPostings(ints(0, 1), ints(1, 1))
    with_ghost = score_terms([posting], ints(1, 0, 1), WEIGHTS)
    without = score_terms([TermPostings(ints(0), ints(1))], ints(1, 1), WEIGHTS)
    assert with_ghost[0] == without[0]
    assert with_ghost[1] == 0


def test_groups_are_scored_as_one_text_each():
    """The counts of a group's members add up; texts outside of groups count for nothing."""
    posting = TermPostings(ints(0, 1, 3), ints(2, 1, 5))
    gathered, lengths = gather_groups([posting], ints(0, 0, 1, -1), ints(4, 3, 2, 9))
    assert gathered[0].texts.tolist() == [0]
    assert gathered[0].counts.tolist() == [3]
    assert lengths.tolist() == [7, 2]
    assert spread_groups(np.array([5.0, 6.0]), ints(0, 0, 1, -1)).tolist() == [5, 5, 6, 0]


def test_a_text_without_neighbours_gets_nothing_from_them():
    """-1 names nobody, also where the last text has a high score."""
    lifted = better_neighbour(np.array([1.0, 2.0, 9.0]), ints(-1, 0, -1), ints(1, -1, -1))
    assert lifted.tolist() == [2.0, 1.0, 0.0]


def test_scaling_keeps_a_column_of_zeros():
    """Nothing is divided by zero."""
    assert scale_to_largest(np.zeros(3)).tolist() == [0, 0, 0]
    assert scale_to_largest(np.empty(0)).tolist() == []


def test_covered_words_count_once_however_often_they_stand():
    """Coverage is about which words, not how many."""
    covered = cover_terms([TermPostings(ints(0, 1), ints(9, 1))], [2.5], 3)
    assert covered.tolist() == [2.5, 2.5, 0.0]


def test_postings_are_seen_without_a_copy():
    """The arrays of an index are used in place."""
    texts, counts = array("i", [3, 4]), array("i", [1, 2])
    postings = view_postings(memoryview(texts), memoryview(counts))
    texts[0] = 7
    assert postings.texts.tolist() == [7, 4]


def test_numbers_and_times_are_marked():
    """A range holds its start and not its stop."""
    assert match_numbers(memoryview(array("i", [1, 2, 1])), 1).tolist() == [1, 0, 1]
    times = memoryview(array("q", [10, 19, 20]))
    assert match_ranges(times, [(10, 20)]).tolist() == [1, 1, 0]


def test_a_text_without_a_vector_gets_its_words_as_stand_in():
    """What is not embedded yet must not sink."""
    vectors = VectorScores(np.array([0.5, 0.0]), np.array([True, False]))
    assert fill_unknown(vectors, np.array([0.1, 0.7])).tolist() == [1.0, 0.7]


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_bytes_keep_a_cosine_to_one_in_a_hundred(seed: int, count: int):
    """Stored vectors are bytes with a scale; the rank order of distinct texts survives that."""
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows, scales = quantise_rows(vectors)
    query, query_scale = quantise_rows(vectors[:1])
    found = score_vectors(rows, scales, query[0], float(query_scale[0]))
    assert np.abs(found - vectors @ vectors[0]).max() < 0.01


def test_sums_of_bytes_do_not_depend_on_their_order():
    """Products of bytes add up below 2**24, so float32 holds every partial sum exactly."""
    draw = np.random.default_rng(1)
    rows = draw.integers(-127, 128, size=(50, 384)).astype(np.int8)
    query = draw.integers(-127, 128, size=384).astype(np.int8)
    exact = rows.astype(np.int64) @ query.astype(np.int64)
    found = score_vectors(rows, np.ones(50, np.float32), query, 1.0)
    assert found.tolist() == exact.tolist()


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), max_size=30), st.integers(1, 10))
def test_the_best_are_the_largest_and_ties_go_by_number(scores: list[float], most: int):
    """A total order: score descending, number ascending; zeros are never found."""
    wanted = sorted((n for n, s in enumerate(scores) if s > 0), key=lambda n: (-scores[n], n))
    assert pick_best(np.array(scores), most).tolist() == wanted[:most]
