"""Embed what has no vector yet, in idle time.

Takes texts with their keys, an embedder and a table; gives steps between which the shell may do
other work or stop for good by closing. A text's key is the hash of what is embedded, so a text
that comes again costs nothing. Does not know numbers: vectors pass through.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from py_core.identity import sha256_hex
from py_core.retrieval.document import Document

Vector = TypeVar("Vector")
Made_co = TypeVar("Made_co", covariant=True)
Kept_contra = TypeVar("Kept_contra", contravariant=True)


class TextEmbedder(Protocol[Made_co]):
    """A loaded embedder."""

    def embed_steps(self, text: str) -> Iterator[Made_co]:
        """Give a vector in steps; the last one is the text's."""


class VectorShelf(Protocol[Kept_contra]):
    """Where vectors are kept by key."""

    def __contains__(self, key: str, /) -> bool:
        """Tell whether a key has its vector."""

    def put(self, key: str, vector: Kept_contra) -> None:
        """Keep a vector."""


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """`done` of `total` texts have their vectors."""

    done: int
    total: int


def write_embedded_text(document: Document) -> str:
    """Give what is embedded of a document: the speaker, where it is a name, and the text.

    Dates are left out: they move all vectors of a day together, and words find them better.
    """
    is_named = document.author and document.author not in ("user", "assistant")
    return f"{document.author}: {document.text}" if is_named else document.text


def find_vector_key(document: Document) -> str:
    """Give the key of a document's vector."""
    return sha256_hex(write_embedded_text(document).encode("utf-8", "surrogatepass"))


def embed_missing(
    documents: Iterable[Document], embedder: TextEmbedder[Vector], shelf: VectorShelf[Vector]
) -> Generator[EmbeddingProgress, None, int]:
    """Embed the documents without a vector; pauses after each layer.

    Closing the generator loses at most the text at hand.

    Returns:
        How many vectors were made.
    """
    texts = {find_vector_key(document): write_embedded_text(document) for document in documents}
    missing = [(key, text) for key, text in texts.items() if key not in shelf]
    for done, (key, text) in enumerate(missing):
        made: list[Vector] = []
        for vector in embedder.embed_steps(text):
            made = [vector]
            yield EmbeddingProgress(done, len(missing))
        if made:
            shelf.put(key, made[0])
    return len(missing)
