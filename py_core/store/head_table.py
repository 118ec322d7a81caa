"""All heads by id, with the ways to find some of them without looking at all.

Takes heads one by one, as they are written; gives them by id, kind, text, slot and link. The
indexes are made when first asked for and kept from then on, so that a write costs no more in a
memory of many records. Does not know what is looked for.
"""

from collections.abc import Iterable, Iterator, Mapping

from py_core.store.heads import Head
from py_core.unicode_text import fold_case

MOST_CHANGES = 4_096

_Index = dict[str, dict[str, None]]


class HeadTable(dict[str, Head]):
    """A dictionary of heads."""

    def __init__(self, heads: Mapping[str, Head] | None = None) -> None:
        """Start with these heads."""
        super().__init__(heads or {})
        self._index: dict[str, _Index] | None = None
        self._folded: dict[str, str] = {}
        self.version = 0
        """Grows with every change, so that who derives something from the table knows when."""

        self._changed: list[str] = []
        """Ids in the order of their changes, the newest one of this version."""

    def put(self, head: Head) -> None:
        """Add or replace a head."""
        self.drop(head.record_id)
        self[head.record_id] = head
        self._note(head.record_id)
        if self._index is not None:
            _add(self._index, head)

    def put_all(self, heads: Iterable[Head]) -> None:
        """Add many heads; into an empty table without a look at each."""
        if self or self._index is not None:
            for head in heads:
                self.put(head)
        else:
            self.update((head.record_id, head) for head in heads)
            self._forget_changes()

    def drop(self, record_id: str) -> None:
        """Remove a head, if it is there."""
        head = self.pop(record_id, None)
        self._note(record_id)
        self._folded.pop(record_id, None)
        if head is not None and self._index is not None:
            for name, key in _list_keys(head):
                self._index[name].get(key, {}).pop(record_id, None)

    def clear(self) -> None:
        """Remove all heads."""
        super().clear()
        self._forget_changes()
        self._index = None
        self._folded.clear()

    def changed_after(self, version: int) -> frozenset[str] | None:
        """Give the ids that changed after a version; None when that is too long ago to tell."""
        count = self.version - version
        if count > len(self._changed):
            return None
        return frozenset(self._changed[len(self._changed) - count :])

    def of_kind(self, kind: str) -> Iterator[Head]:
        """Give all heads of a kind."""
        return self._find("kind", kind)

    def with_text(self, normalization_hash: str) -> Iterator[Head]:
        """Give all heads with the same plain text."""
        return self._find("text", normalization_hash)

    def with_slot(self, slot: str) -> Iterator[Head]:
        """Give all heads that claim something for a slot."""
        return self._find("slot", slot)

    def made_of(self, record_id: str) -> Iterator[Head]:
        """Give all heads that name a record as a source."""
        return self._find("source", record_id)

    def newer_than(self, record_id: str) -> Iterator[Head]:
        """Give all heads that stand in the place of a record, tombstones included."""
        return self._find("older", record_id)

    def with_retention(self) -> Iterator[Head]:
        """Give all heads that are not kept forever."""
        yield from self._find("retention", "session")
        yield from self._find("retention", "until")

    def not_written_by(self, prefix: str) -> Iterator[Head]:
        """Give all heads whose source does not begin so."""
        for source in self._keys_of("writer"):
            if not source.startswith(prefix):
                yield from self._find("writer", source)

    def warm(self) -> None:
        """Make all indexes now, so that nobody waits for them later."""
        self._read_index()
        self.fold_texts()

    def fold_texts(self) -> Mapping[str, str]:
        """Give the texts and subjects as they are searched."""
        if len(self._folded) < len(self):
            for key in self.keys() - self._folded.keys():
                self._folded[key] = fold_case(f"{self[key].text}\n{self[key].subject}")
        return self._folded

    def _note(self, record_id: str) -> None:
        self.version += 1
        if len(self._changed) >= 2 * MOST_CHANGES:
            del self._changed[:MOST_CHANGES]
        self._changed.append(record_id)

    def _forget_changes(self) -> None:
        self.version += 1
        self._changed.clear()

    def _find(self, name: str, key: str) -> Iterator[Head]:
        found = self._read_index()[name].get(key, ())
        return (self[record_id] for record_id in tuple(found))

    def _keys_of(self, name: str) -> list[str]:
        return sorted(self._read_index()[name])

    def _read_index(self) -> dict[str, _Index]:
        if self._index is None:
            self._index = {name: {} for name in _NAMES}
            for head in self.values():
                _add(self._index, head)
        return self._index


_NAMES = ("kind", "text", "slot", "source", "older", "retention", "writer")


def as_table(heads: Mapping[str, Head]) -> HeadTable:
    """Give the table itself, or one of a plain mapping."""
    return heads if isinstance(heads, HeadTable) else HeadTable(heads)


def _add(index: dict[str, _Index], head: Head) -> None:
    for name, key in _list_keys(head):
        index[name].setdefault(key, {})[head.record_id] = None


def _list_keys(head: Head) -> Iterator[tuple[str, str]]:
    yield ("kind", head.kind)
    yield ("text", head.normalization_hash)
    yield ("writer", head.source)
    yield ("retention", head.retention_rule)
    for slot, _ in head.claims:
        yield ("slot", slot)
    for source in head.derived_from:
        yield ("source", source)
    for older in head.supersedes:
        yield ("older", older)
