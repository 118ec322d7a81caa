"""The BPE1 tokenizer section: token records, then merge records.

Takes the section's bytes and gives a checked vocabulary, or packs one.
Does not know how merges are applied.

Source: the notes on SLM1, section 1.7. Left open there and settled here: a token record may stand
for a single byte; where at least one does, these records alone say which bytes have a token (a
byte without one is dropped from the text), and where none does, ids 0 to 255 are the bytes.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import add, eq
from typing import Final, NamedTuple, overload

import numpy as np

from kernels.tokenizer_section import (
    SECTION_HEADER,
    SectionHeader,
    pack_section_header,
    tokenizer_error,
)

COUNTS: Final = struct.Struct("<2I")
TOKEN_HEAD: Final = struct.Struct("<2I")
MERGE: Final = struct.Struct("<4I")
BYTE_COUNT = 256


class Merge(NamedTuple):
    """Two adjacent ids become one; the lowest rank goes first."""

    left: int
    right: int
    output: int
    rank: int


class MergeColumns(Sequence[Merge]):
    """Some fifty thousand merges, field by field: made and read without a tuple for each."""

    def __init__(self, *columns: list[int]) -> None:
        """Take lefts, rights, outputs and ranks."""
        self.lefts, self.rights, self.outputs, self.ranks = columns

    def __len__(self) -> int:
        """Count the merges."""
        return len(self.ranks)

    @overload
    def __getitem__(self, index: int) -> Merge: ...
    @overload
    def __getitem__(self, index: slice) -> "MergeColumns": ...
    def __getitem__(self, index: int | slice) -> "Merge | MergeColumns":
        """Give one merge, or some."""
        columns = (self.lefts, self.rights, self.outputs, self.ranks)
        if isinstance(index, slice):
            return MergeColumns(*(column[index] for column in columns))
        return Merge(*(column[index] for column in columns))


def columns_of(merges: Sequence[Merge]) -> MergeColumns:
    """Give merges field by field."""
    if isinstance(merges, MergeColumns):
        return merges
    return MergeColumns(*([merge[field] for merge in merges] for field in range(4)))


@dataclass(frozen=True, slots=True)
class BpeVocabulary:
    """What a BPE1 section holds.

    Attributes:
        header: Kind, vocabulary size, special ids.
        token_bytes: Id to raw bytes, for the ids that have a record.
        merges: In the order of the file.
    """

    header: SectionHeader
    token_bytes: dict[int, bytes]
    merges: Sequence[Merge]


def parse_bpe_section(section: bytes, header: SectionHeader) -> BpeVocabulary:
    """Read the records.

    Raises:
        KernelError: `invalid_tokenizer` for duplicate ids, empty tokens, ids out of range, a merge
            without token records or with other bytes than its parts, and trailing bytes.
    """
    start = SECTION_HEADER.size + COUNTS.size
    if len(section) < start:
        raise tokenizer_error(len(section), "length", f"must be at least {start}")
    token_count, merge_count = COUNTS.unpack_from(section, SECTION_HEADER.size)
    token_bytes, end = _read_tokens(section, start, token_count, header.vocab_size)
    if len(section) - end != merge_count * MERGE.size:
        rule = f"{merge_count} does not fill the {len(section) - end} bytes behind the tokens"
        raise tokenizer_error(SECTION_HEADER.size + 4, "merge_count", rule)
    add_implicit_bytes(token_bytes, header)
    return BpeVocabulary(header, token_bytes, _read_merges(section, end, token_bytes))


def pack_bpe_section(vocabulary: BpeVocabulary) -> bytes:
    """Return a section with token records by rising id and merges in the given order."""
    tokens = sorted(vocabulary.token_bytes.items())
    parts = [
        pack_section_header(vocabulary.header),
        COUNTS.pack(len(tokens), len(vocabulary.merges)),
    ]
    for token_id, raw in tokens:
        parts.append(TOKEN_HEAD.pack(token_id, len(raw)))
        parts.append(raw)
    parts.extend(
        MERGE.pack(merge.left, merge.right, merge.output, merge.rank) for merge in vocabulary.merges
    )
    return b"".join(parts)


def add_implicit_bytes(token_bytes: dict[int, bytes], header: SectionHeader) -> None:
    """Give ids 0 to 255 their byte when no record stands for a single byte."""
    if any(len(raw) == 1 for raw in token_bytes.values()):
        return
    special = header.special.as_set()
    for value in range(min(BYTE_COUNT, header.vocab_size)):
        if value not in special:
            token_bytes.setdefault(value, bytes([value]))


def _read_tokens(
    section: bytes, start: int, token_count: int, vocab_size: int
) -> tuple[dict[int, bytes], int]:
    token_bytes: dict[int, bytes] = {}
    read_head, head_bytes, end = TOKEN_HEAD.unpack_from, TOKEN_HEAD.size, len(section)
    position = start
    for _ in range(token_count):
        if position + head_bytes > end:
            rule = f"{token_count} goes past the section"
            raise tokenizer_error(position, "token_count", rule)
        token_id, length = read_head(section, position)
        stop = position + head_bytes + length
        if not length or stop > end:
            rule = f"{length} of token {token_id} is 0 or goes past the section"
            raise tokenizer_error(position + 4, "byte_length", rule)
        if token_id >= vocab_size or token_id in token_bytes:
            rule = f"{token_id} is out of range or stands twice"
            raise tokenizer_error(position, "token_id", rule)
        token_bytes[token_id] = section[stop - length : stop]
        position = stop
    return token_bytes, position


def _read_merges(section: bytes, start: int, token_bytes: dict[int, bytes]) -> MergeColumns:
    # The loops here run inside the interpreter's own functions.
    rows = np.frombuffer(section, "<u4", offset=start).reshape(-1, 4)  # [merges, fields]
    merges = MergeColumns(*(column.tolist() for column in rows.T))
    find, absent = token_bytes.get, repeat(b"")
    left_bytes = list(map(find, merges.lefts, absent))
    right_bytes = list(map(find, merges.rights, absent))
    joins = map(eq, map(add, left_bytes, right_bytes), map(find, merges.outputs))
    # No token is empty, so a missing part cannot pass as an equal one.
    for index, is_good in enumerate(map(all, zip(joins, left_bytes, right_bytes, strict=True))):
        if not is_good:
            left, right, output, _ = merges[index]
            rule = f"{index} ({left} and {right} to {output}) does not join bytes"
            raise tokenizer_error(start + index * MERGE.size, "merge", rule)
    return merges
