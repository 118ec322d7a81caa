"""All heads by id, with the ways to find some of them without looking at all.

Takes heads one by one, as they are written; gives them by id, kind, text, slot and link. The
indexes are made when first asked for and kept from then on, so that a write costs no more in a
memory of many records. Does not know what is looked for.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from py_core.store.heads import Head, HeadRow, Standing
from py_core.unicode_text import fold_case

_Index = dict[str, str | dict[str, None]]
"""Key to the one id that has it, or to several."""

ROWS_PER_STEP = 4_000
MOST_CHANGES = 4_096


class HeadTable(dict[str, Head]):
    """A dictionary of heads."""

    def __init__(self, heads: Mapping[str, Head] | None = None) -> None:
        """Start with these heads."""
        super().__init__(heads or {})
        self._indexes: dict[str, _Index] = {}
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
        for name, index in self._indexes.items():
            _add_all(index, name, [head])

    def put_all(self, heads: Iterable[Head]) -> None:
        """Add many heads; into an empty table without a look at each."""
        if self or self._indexes:
            for head in heads:
                self.put(head)
        else:
            self.update((head.record_id, head) for head in heads)
            self._forget_changes()

    def put_rows(self, record_ids: Iterable[str], rows: Iterable[HeadRow]) -> None:
        """Add many heads by their ids and rows, before anything was looked for."""
        self.update(zip(record_ids, map(Head, rows), strict=True))
        self._forget_changes()

    def drop(self, record_id: str) -> None:
        """Remove a head, if it is there."""
        head = self.pop(record_id, None)
        self._note(record_id)
        self._folded.pop(record_id, None)
        if head is not None:
            for name, index in self._indexes.items():
                for key in _KEYS_OF[name](head):
                    _take_out(index, key, record_id)

    def clear(self) -> None:
        """Remove all heads."""
        super().clear()
        self._forget_changes()
        self._indexes.clear()
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

    def count_standing(self, standing: Standing) -> int:
        """Count the heads of a standing."""
        return sum(1 for _ in self.with_standing(standing))

    def with_standing(self, standing: Standing) -> Iterator[Head]:
        """Give all heads of a standing."""
        return self._find("standing", standing.value)

    def not_written_by(self, prefix: str) -> Iterator[Head]:
        """Give all heads whose source does not begin so."""
        for source in self._keys_of("writer"):
            if not source.startswith(prefix):
                yield from self._find("writer", source)

    def warm_steps(self) -> Iterator[None]:
        """Make all indexes step by step, so that nobody waits for them, now or later."""
        while len(self._folded) < len(self):
            self._fold_some(ROWS_PER_STEP)
            yield
        for name in _KEYS_OF:
            yield from self._index_steps(name)

    def _index_steps(self, name: str) -> Iterator[None]:
        """Make one index in steps; when heads change meanwhile, who needs it makes it at once."""
        version, index, heads = self.version, _Index(), tuple(self.values())
        for begin in range(0, len(heads), ROWS_PER_STEP):
            _add_all(index, name, heads[begin : begin + ROWS_PER_STEP])
            yield
        if version == self.version:
            self._indexes.setdefault(name, index)

    def fold_texts(self) -> Mapping[str, str]:
        """Give the texts and subjects as they are searched."""
        self._fold_some(len(self))
        return self._folded

    def _fold_some(self, most: int) -> None:
        if len(self._folded) < len(self):
            waiting = (key for key in self if key not in self._folded)
            for key in tuple(islice(waiting, most)):
                self._folded[key] = fold_case(f"{self[key].text}\n{self[key].subject}")

    def _note(self, record_id: str) -> None:
        self.version += 1
        if len(self._changed) >= 2 * MOST_CHANGES:
            del self._changed[:MOST_CHANGES]
        self._changed.append(record_id)

    def _forget_changes(self) -> None:
        self.version += 1
        self._changed.clear()

    def _find(self, name: str, key: str) -> Iterator[Head]:
        found = self._read_index(name).get(key, ())
        ids = (found,) if isinstance(found, str) else tuple(found)
        return (self[record_id] for record_id in ids)

    def _keys_of(self, name: str) -> list[str]:
        return sorted(self._read_index(name))

    def _read_index(self, name: str) -> _Index:
        if name not in self._indexes:
            index: _Index = {}
            _add_all(index, name, self.values())
            self._indexes[name] = index
        return self._indexes[name]


_KEYS_OF: Mapping[str, Callable[[Head], Iterable[str]]] = {
    "kind": lambda head: (head.kind,),
    "standing": lambda head: (head.standing.value,),
    "text": lambda head: (head.normalization_hash,),
    "writer": lambda head: (head.source,),
    "retention": lambda head: (head.retention_rule,),
    "slot": lambda head: [slot for slot, _ in head.claims],
    "source": lambda head: head.derived_from,
    "older": lambda head: head.supersedes,
}
"""Under which keys each index names a head."""


def as_table(heads: Mapping[str, Head]) -> HeadTable:
    """Give the table itself, or one of a plain mapping."""
    return heads if isinstance(heads, HeadTable) else HeadTable(heads)


def _add_all(index: _Index, name: str, heads: Iterable[Head]) -> None:
    keys_of = _KEYS_OF[name]
    for head in heads:
        for key in keys_of(head):
            known = index.setdefault(key, head.record_id)
            if isinstance(known, dict):
                known[head.record_id] = None
            elif known != head.record_id:
                index[key] = {known: None, head.record_id: None}


def _take_out(index: _Index, key: str, record_id: str) -> None:
    known = index.get(key)
    if isinstance(known, dict):
        known.pop(record_id, None)
    elif known == record_id:
        del index[key]
