"""Keep a text index between visits.

Takes an index, gives JSON bytes with a checksum; takes such bytes, gives the index or the reason
why it must be built anew. A file of another version, of other term rules or with a changed byte is
never repaired: the records are there, and building takes seconds. Does not know where bytes lie.
"""

import base64
import json
from array import array
from collections.abc import Generator, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Final, Literal, TypeVar

from py_core.identity import sha256_hex
from py_core.retrieval.terms import TERMS_IDENTITY
from py_core.retrieval.text_index import Entry, Posting, TextIndex

FORMAT: Final = "tinyloom-index/1"
ITEMS_OF_A_STEP: Final = 500
Item = TypeVar("Item")
Damage = Literal["not_json", "other_version", "other_terms", "checksum", "inconsistent"]


@dataclass(frozen=True, slots=True)
class LoadedIndex:
    """An index, empty where the file could not be used, and why."""

    index: TextIndex
    damage: Damage | None


def write_index(index: TextIndex) -> bytes:
    """Write an index down; nothing of what has left it is in the file."""
    steps = write_index_steps(index)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            data: bytes = finished.value
            return data


def write_index_steps(index: TextIndex) -> Generator[None, None, bytes]:
    """Write an index down in small steps, between which it must not change.

    Returns:
        The file.
    """
    index.compact()
    entries, postings = [], []
    for part in _cut(index.entries):
        entries += [_dump(None if entry is None else astuple(entry)) for entry in part]
        yield
    for terms in _cut(list(index.postings.items())):
        postings += [
            f"{_dump(term)}:{_dump([_pack(found.documents), _pack(found.counts)])}"
            for term, found in terms
        ]
        yield
    lengths = _dump(_pack(index.lengths))
    body = (
        f'{{"entries":[{",".join(entries)}],"lengths":{lengths},'
        f'"postings":{{{",".join(postings)}}}}}'
    )
    head = {"format": FORMAT, "terms": TERMS_IDENTITY, "sha256": sha256_hex(body.encode())}
    return f"{json.dumps(head)}\n{body}".encode()


def read_index(data: bytes) -> LoadedIndex:
    """Read an index, or give an empty one and the reason."""
    head, _, body = data.partition(b"\n")
    damage = _find_damage(head, body)
    if damage is None:
        try:
            return LoadedIndex(_build(json.loads(body)), None)
        except (ValueError, KeyError, TypeError, RecursionError):
            damage = "inconsistent"
    return LoadedIndex(TextIndex(), damage)


def _find_damage(head_text: bytes, body: bytes) -> Damage | None:
    try:
        head = json.loads(head_text)
    except (ValueError, RecursionError):
        return "not_json"
    match head:
        case {"format": str(version), "terms": str(terms), "sha256": str(checksum)}:
            if version != FORMAT:
                return "other_version"
            if terms != TERMS_IDENTITY:
                return "other_terms"
            return None if sha256_hex(body) == checksum else "checksum"
        case _:
            return "other_version"


def _build(fields: dict[str, object]) -> TextIndex:
    rows, lengths, postings = fields["entries"], fields["lengths"], fields["postings"]
    if not (isinstance(rows, list) and isinstance(lengths, str) and isinstance(postings, dict)):
        raise TypeError
    entries = [None if row is None else Entry(*row) for row in rows]
    unpacked = {
        str(term): Posting(_unpack(documents), _unpack(counts))
        for term, (documents, counts) in postings.items()
    }
    return TextIndex.restore(entries, _unpack(lengths), unpacked)


def _cut(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[at : at + ITEMS_OF_A_STEP] for at in range(0, len(items), ITEMS_OF_A_STEP))


def _dump(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _pack(numbers: "array[int]") -> str:
    little = array("i", numbers)
    return base64.b64encode(little.tobytes()).decode("ascii")


def _unpack(text: str) -> "array[int]":
    numbers = array("i")
    numbers.frombytes(base64.b64decode(text, validate=True))
    return numbers
