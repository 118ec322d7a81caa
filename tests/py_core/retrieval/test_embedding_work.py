"""Embedding in idle time: once for each text, stoppable at every step."""

from collections.abc import Iterator

from py_core.retrieval.embedding_work import embed_missing, find_vector_key
from py_core.retrieval.timings import SessionTimings, find_percentile
from tests.py_core.retrieval.memories import make_document


class CountingEmbedder:
    """Gives the length of a text after three steps."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_steps(self, text: str) -> Iterator[int]:
        """Give two half results and the length."""
        self.texts.append(text)
        for step in range(3):
            yield len(text) if step == 2 else -1


class DictShelf:
    """A dict."""

    def __init__(self) -> None:
        self.vectors: dict[str, int] = {}

    def __contains__(self, key: str, /) -> bool:
        return key in self.vectors

    def put(self, key: str, vector: int) -> None:
        """Keep."""
        self.vectors[key] = vector


DOCUMENTS = [make_document("a", "one"), make_document("b", "two"), make_document("c", "one")]


def test_equal_texts_are_embedded_once_and_known_ones_never():
    """The key is the text's hash."""
    embedder, shelf = CountingEmbedder(), DictShelf()
    steps = list(embed_missing(DOCUMENTS, embedder, shelf))
    assert embedder.texts == ["one", "two"]
    assert len(steps) == 6
    assert shelf.vectors[find_vector_key(DOCUMENTS[0])] == 3
    assert list(embed_missing(DOCUMENTS, embedder, shelf)) == []


def test_stopping_in_the_middle_keeps_what_is_done():
    """Closing loses at most the text at hand, and no half vector is kept."""
    embedder, shelf = CountingEmbedder(), DictShelf()
    work = embed_missing(DOCUMENTS, embedder, shelf)
    for _ in range(5):
        next(work)
    work.close()
    assert list(shelf.vectors.values()) == [3]


def test_percentiles_are_times_that_were_measured():
    """The smallest that so many per cent do not exceed."""
    assert find_percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.0
    assert find_percentile([7.0], 95) == 7.0
    timings = SessionTimings()
    for took in (1.0, 9.0, 2.0):
        timings.note("rank", took)
    (stage,) = timings.list_stages()
    assert (stage.count, stage.p50_ms, stage.p95_ms, stage.last_ms) == (3, 2.0, 9.0, 2.0)
