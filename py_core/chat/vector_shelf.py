"""The vectors of the records in memory, one small row each in the ledger's store.

Takes vectors under the hash of their text and the records that own them; keeps each as a row that
goes in the same commit as its record. A damaged row, or one of another embedder, is left out, and
its record embedded again. Does not know texts or when there is time.
"""

import base64
import binascii
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from kernels.arrays import F32
from kernels.embedder_table import EmbedderTable
from kernels.errors import KernelError
from py_core.retrieval.document import Document
from py_core.store.edits import Edit, Snapshot, name_vector
from py_core.store.heads import Head
from py_core.store.ledger import Ledger
from py_core.store.ports import Area, Erase, Put

Item = TypeVar("Item")
_VERSION: Final = "tinyloom-vector/1"
_PARTS: Final = 5
ROWS_AT_ONCE: Final = 256
"""Rows read or written together; between them others get a turn."""


@dataclass(frozen=True, slots=True)
class _Owner:
    """A record at one of its sequences, and the key of its text's vector."""

    sequence: int
    key: str


class VectorShelf:
    """Vectors by key, and which record owns which."""

    def __init__(self, ledger: Ledger, identity: str, width: int) -> None:
        """Start empty; `identity` is the hash of the embedder that makes the vectors."""
        self._ledger, self._identity = ledger, identity
        self.table = EmbedderTable(width)
        self.version = 0
        """Grows with every change of keys or owners."""

        self._owners: dict[str, _Owner] = {}
        self._unwritten: set[str] = set()

    def __len__(self) -> int:
        """Count the records that have a vector."""
        return len(self._owners)

    def __contains__(self, key: str) -> bool:
        """Tell whether a text has its vector."""
        return key in self.table

    def put(self, key: str, vector: F32) -> None:
        """Keep a vector in memory."""
        self.table.put(key, vector)

    def key_of(self, record_id: str) -> str:
        """Give the key of a record's vector, empty without one."""
        owner = self._owners.get(record_id)
        return "" if owner is None else owner.key

    def own(self, document: Document, key: str) -> None:
        """Note whose text a vector was made of."""
        head = self._ledger.heads.get(document.document_id)
        owner = _Owner(0 if head is None else head.sequence, key)
        if self._owners.get(document.document_id) == owner:
            return
        self._owners[document.document_id] = owner
        self.version += 1
        if head is not None:
            self._unwritten.add(document.document_id)

    def lacks(self, head: Head) -> bool:
        """Tell whether a record has no vector as it is now."""
        owner = self._owners.get(head.record_id)
        return owner is None or owner.sequence != head.sequence

    def forget_gone(self) -> int:
        """Let go of vectors whose record is gone, withdrawn or another one; count records."""
        heads = self._ledger.heads
        gone = [
            name for name in self._owners if not _is_current(heads.get(name), self._owners[name])
        ]
        for name in gone:
            del self._owners[name]
            self._unwritten.discard(name)
        if gone:
            self.table.keep_only(owner.key for owner in self._owners.values())
            self.version += 1
        return len(gone)

    async def read_rows(self, heads: Sequence[Head]) -> int:
        """Take over the kept rows of some records; count those that cannot be used."""
        texts = await self._ledger.read_texts(
            Area.SEARCH, [name_vector(head.record_id) for head in heads]
        )
        damaged = 0
        for head in heads:
            text = texts.get(name_vector(head.record_id))
            if text is not None and not self._take_over(head, text):
                damaged += 1
        self.version += 1
        return damaged

    async def write(self) -> int:
        """Keep what is new; what was deleted meanwhile, here or in another tab, is left out."""
        written = 0
        for names in cut_batches(sorted(self._unwritten)):
            rows = {name: self._write_row(name) for name in names if name in self._owners}

            def decide(snapshot: Snapshot, rows: Mapping[str, str] = rows) -> Edit:
                return self._decide(snapshot, rows)

            edit, _ = await self._ledger.apply(decide)
            self._unwritten.difference_update(names)
            written += len(edit.rows)
        return written

    async def erase_rows(self, heads: Sequence[Head]) -> None:
        """Remove the kept rows of some records."""
        rows = tuple(Erase(Area.SEARCH, name_vector(head.record_id)) for head in heads)
        await self._ledger.apply(lambda _: Edit(rows=rows))

    def _decide(self, snapshot: Snapshot, rows: Mapping[str, str]) -> Edit:
        current = {
            name: text
            for name, text in rows.items()
            if name in self._owners and _is_current(snapshot.heads.get(name), self._owners[name])
        }
        return Edit(
            rows=tuple(Put(Area.SEARCH, name_vector(name), text) for name, text in current.items())
        )

    def _write_row(self, name: str) -> str:
        owner = self._owners[name]
        data = self.table.read_row(owner.key)
        head = f"{_VERSION} {self._identity} {owner.sequence} {owner.key}"
        body = base64.b64encode(data).decode("ascii")
        return f"{head} {zlib.crc32(f'{head} {body}'.encode()):08x}{body}"

    def _take_over(self, head: Head, text: str) -> bool:
        parts = text.split(" ")
        if len(parts) != _PARTS or parts[:2] != [_VERSION, self._identity]:
            return False
        _, _, sequence, key, rest = parts
        checked = f"{' '.join(parts[:4])} {rest[8:]}".encode("utf-8", "surrogatepass")
        if sequence != str(head.sequence) or rest[:8] != f"{zlib.crc32(checked):08x}":
            return False
        try:
            self.table.put_row(key, base64.b64decode(rest[8:], validate=True))
        except (KernelError, binascii.Error):
            return False
        self._owners[head.record_id] = _Owner(head.sequence, key)
        return True


def _is_current(head: Head | None, owner: _Owner) -> bool:
    return head is not None and head.is_active and head.sequence == owner.sequence


def cut_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Give at most so many items at a time as are read or written together."""
    return (items[at : at + ROWS_AT_ONCE] for at in range(0, len(items), ROWS_AT_ONCE))
