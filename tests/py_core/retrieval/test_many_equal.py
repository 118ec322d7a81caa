"""A hundred thousand records that say the same: found in time, in one order."""

import pytest

from py_core.retrieval.relevance import Query, find_relevant
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.text_index import TextIndex
from tests.py_core.retrieval.memories import make_document

pytestmark = pytest.mark.slow


def test_a_hundred_thousand_equal_records_give_the_first_candidates():
    """None is better than another, so a fixed number of them goes on."""
    index = TextIndex()
    index.follow(make_document(f"r{number:06}", "tea at nine") for number in range(100_000))
    found = find_relevant(index, Query(("tea",)), RelevanceSettings())
    assert len(found.hits) == RelevanceSettings().candidates
    assert {hit.total_ppm for hit in found.hits} == {1_000_000}
    assert index.follow([]) == 100_000
    assert len(index) == 0
