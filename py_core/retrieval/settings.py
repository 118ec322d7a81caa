"""The numbers that relevance is made with, in one frozen record with a version.

Takes nothing, gives one set for all data. Chosen on five LoCoMo conversations; the weights of
neighbour and thread are those that the architecture states. Does not know records.
"""

from dataclasses import dataclass
from typing import Final

SETTINGS_VERSION: Final = "tinyloom-retrieval/1"


@dataclass(frozen=True, slots=True)
class RelevanceSettings:
    """Shares are parts of the largest score, which is 1.

    Attributes:
        saturation: BM25's k1.
        length_share: BM25's b.
        semantic_share: Part of the vector score where vectors are there; the rest is lexical.
        neighbour_share: Part of the better neighbour's score that a turn gets.
        thread_share: Part of the thread's score that its turns get, words alone.
        thread_share_with_vectors: The same beside vectors.
        author_share: What a turn gets whose author the question names.
        time_share: What a record gets from the time that the question names.
        exact_share: What a record gets that holds every exact string of the question.
        hop_share: Part of the second hop's score, at most.
        hop_hits: First hits whose terms the second hop follows.
        hop_terms: How many terms it follows.
        candidates: How many records go on to the compiler.
    """

    saturation: float = 0.9
    length_share: float = 0.4
    semantic_share: float = 0.5
    neighbour_share: float = 0.5
    thread_share: float = 0.5
    thread_share_with_vectors: float = 0.3
    author_share: float = 0.2
    time_share: float = 0.3
    exact_share: float = 1.0
    hop_share: float = 0.25
    hop_hits: int = 10
    hop_terms: int = 20
    candidates: int = 200
