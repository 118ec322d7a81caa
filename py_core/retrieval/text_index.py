"""Which terms stand in which documents, kept up to date document by document.

Takes documents, gives postings of terms and, by number, what ranking needs of each document:
length, thread, neighbours, author, time. Numbers are given in order of arrival and mean nothing
outside. Does not know scores, nor where it is stored.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from py_core.retrieval.document import NO_THREAD, Document, write_date
from py_core.retrieval.terms import list_exact_terms, list_terms

NOBODY = -1
_FEWEST_DEAD = 256


@dataclass(frozen=True, slots=True)
class Posting:
    """The documents that hold one term, ascending, and how often each does."""

    documents: "array[int]"
    counts: "array[int]"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of one document beside its terms."""

    document_id: str
    fingerprint: str
    thread: str
    position: int
    author: str
    observed_seconds: int


class TextIndex:
    """An inverted index that documents enter and leave one by one."""

    def __init__(self) -> None:
        """Begin empty."""
        self.entries: list[Entry | None] = []
        self.lengths = array("i")
        self.postings: dict[str, Posting] = {}
        self._numbers: dict[str, int] = {}
        self._places: Places | None = None
        self.version = 0
        """Grows whenever a document comes or goes."""

    def __len__(self) -> int:
        """Count the documents."""
        return len(self._numbers)

    def __contains__(self, document_id: str) -> bool:
        """Tell whether a document is here."""
        return document_id in self._numbers

    def ids(self) -> Iterator[str]:
        """Give the ids of all documents."""
        return iter(self._numbers)

    def number_of(self, document_id: str) -> int | None:
        """Give the number of a document."""
        return self._numbers.get(document_id)

    def fingerprint_of(self, document_id: str) -> str | None:
        """Give what the document was when it came in."""
        number = self._numbers.get(document_id)
        entry = None if number is None else self.entries[number]
        return None if entry is None else entry.fingerprint

    def put(self, document: Document) -> bool:
        """Take a document in, or a new version of it; tell whether anything changed."""
        fingerprint = document.fingerprint
        if self.fingerprint_of(document.document_id) == fingerprint:
            return False
        self.discard(document.document_id)
        counts = Counter(list_terms(document.text))
        counts.update(list_terms(f"{document.author} {write_date(document.observed)}"))
        length = sum(counts.values())
        counts.update(list_exact_terms(document.text))
        entry = Entry(
            document_id=document.document_id,
            fingerprint=fingerprint,
            thread=document.thread,
            position=document.position,
            author=document.author.casefold(),
            observed_seconds=document.observed_seconds,
        )
        self._append(entry, length, counts)
        return True

    def discard(self, document_id: str) -> bool:
        """Let a document go, if it is here."""
        number = self._numbers.pop(document_id, None)
        if number is None:
            return False
        self.version += 1
        self.entries[number] = None
        self.lengths[number] = 0
        self._places = None
        if len(self.entries) - len(self._numbers) > max(_FEWEST_DEAD, len(self._numbers)):
            self.compact()
        return True

    def follow(self, documents: Iterable[Document]) -> int:
        """Make the index hold exactly these documents; count what had to change."""
        changed = 0
        wanted = set()
        for document in documents:
            wanted.add(document.document_id)
            changed += self.put(document)
        for document_id in [known for known in self._numbers if known not in wanted]:
            changed += self.discard(document_id)
        return changed

    @classmethod
    def restore(
        cls, entries: list[Entry | None], lengths: "array[int]", postings: dict[str, Posting]
    ) -> "TextIndex":
        """Put an index together again.

        Raises:
            ValueError: the parts do not belong together.
        """
        index = cls()
        size = len(entries)
        if len(lengths) != size:
            raise ValueError(size)
        for posting in postings.values():
            numbers = posting.documents
            if len(numbers) != len(posting.counts) or (
                numbers and not 0 <= min(numbers) <= max(numbers) < size
            ):
                raise ValueError(len(numbers))
        index.entries, index.lengths, index.postings = entries, lengths, postings
        index._numbers = {
            entry.document_id: number for number, entry in enumerate(entries) if entry is not None
        }
        return index

    @property
    def places(self) -> "Places":
        """Threads, neighbours, authors and times by document number."""
        if self._places is None:
            self._places = _find_places(self.entries)
        return self._places

    def _append(self, entry: Entry, length: int, counts: Counter[str]) -> None:
        self.version += 1
        number = len(self.entries)
        self.entries.append(entry)
        # A length of 0 marks what is gone; a text without terms is there and never found.
        self.lengths.append(max(1, length))
        self._numbers[entry.document_id] = number
        self._places = None
        for term, count in counts.items():
            posting = self.postings.get(term)
            if posting is None:
                posting = self.postings[term] = Posting(array("i"), array("i"))
            posting.documents.append(number)
            posting.counts.append(count)

    def compact(self) -> None:
        """Forget the dead, their words too, and number the living anew, in the same order."""
        if len(self.entries) == len(self._numbers):
            return
        alive = [number for number, entry in enumerate(self.entries) if entry is not None]
        renamed = {number: place for place, number in enumerate(alive)}
        self.entries = [self.entries[number] for number in alive]
        self.lengths = array("i", (self.lengths[number] for number in alive))
        self._numbers = {
            entry.document_id: number
            for number, entry in enumerate(self.entries)
            if entry is not None
        }
        self.postings = {
            term: kept
            for term, posting in self.postings.items()
            if (kept := _keep(posting, renamed)).documents
        }
        self._places = None


@dataclass(frozen=True, slots=True)
class Places:
    """By document number; -1 where there is none."""

    groups: "array[int]"
    previous: "array[int]"
    following: "array[int]"
    authors: "array[int]"
    observed_seconds: "array[int]"
    author_numbers: dict[str, int]


def _keep(posting: Posting, renamed: dict[int, int]) -> Posting:
    kept = Posting(array("i"), array("i"))
    for number, count in zip(posting.documents, posting.counts, strict=True):
        if number in renamed:
            kept.documents.append(renamed[number])
            kept.counts.append(count)
    return kept


def _find_places(entries: list[Entry | None]) -> Places:
    size = len(entries)
    groups, previous, following = (array("i", [NOBODY]) * size for _ in range(3))
    authors = array("i", [NOBODY]) * size
    observed = array("q", [0]) * size
    threads: dict[str, list[tuple[int, str, int]]] = {}
    author_numbers: dict[str, int] = {}
    for number, entry in enumerate(entries):
        if entry is None:
            continue
        observed[number] = entry.observed_seconds
        if entry.author:
            authors[number] = author_numbers.setdefault(entry.author, len(author_numbers))
        if entry.thread != NO_THREAD:
            turn = (entry.position, entry.document_id, number)
            threads.setdefault(entry.thread, []).append(turn)
    for group, turns in enumerate(threads.values()):
        ordered = [number for _, _, number in sorted(turns)]
        for place, number in enumerate(ordered):
            groups[number] = group
            previous[number] = ordered[place - 1] if place else NOBODY
            following[number] = ordered[place + 1] if place + 1 < len(ordered) else NOBODY
    return Places(groups, previous, following, authors, observed, author_numbers)
