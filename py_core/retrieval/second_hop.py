"""What the first hits speak of, so that a second search can follow it.

Takes the texts of the first hits with their scores, gives the terms that they share and that are
rare elsewhere, without those of the question. "Which hobbies does Ann have?" finds pottery and
swimming, and by them the turns that name neither hobbies nor Ann. Does not know scores of others.

Source: relevance feedback without judgements, as in V. Lavrenko and W. B. Croft, Relevance-Based
Language Models (2001): a term counts with the score of each hit that holds it, times its rarity.
"""

import math
from collections.abc import Iterable, Sequence

from py_core.retrieval.terms import list_terms
from py_core.retrieval.text_index import TextIndex

_PLACES = 9


def list_followed_terms(
    index: TextIndex, asked: Sequence[str], hits: Iterable[tuple[str, float]], most: int
) -> tuple[str, ...]:
    """Give the terms to follow, strongest first, ties by the term itself."""
    weights: dict[str, float] = {}
    known = set(asked)
    population = len(index) + 1
    for text, score in hits:
        for term in sorted(set(list_terms(text)) - known):
            posting = index.postings.get(term)
            if posting is not None:
                rarity = math.log(population / len(posting.documents))
                weights[term] = weights.get(term, 0.0) + score * rarity
    rounded = {term: round(weight, _PLACES) for term, weight in weights.items()}
    return tuple(sorted(rounded, key=lambda term: (-rounded[term], term))[:most])
