"""What a decision about the memory reads and what it changes, as values.

Takes heads and records as they are at one revision, gives the rows that a commit writes. A decision
is a plain function of a snapshot, so it can be shown before it is made, and made again when another
tab was faster. Does not know databases.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from py_core.records.kinds import Record
from py_core.records.record_text import write_record
from py_core.store.head_table import HeadTable
from py_core.store.heads import Head, Standing, make_head, write_head
from py_core.store.ports import Area, Change, Erase, Put

WORD_INDEX = "words"
"""Key of the index of words among the rows of search."""


def name_vector(record_id: str) -> str:
    """Give the key of a record's vector among the rows of search."""
    return f"vector {record_id}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The ledger at one revision.

    Attributes:
        heads: of all records, by id, in no promised order.
        records: those that were asked for.
        choices: small settings of the memory itself.
    """

    revision: int
    heads: HeadTable
    records: Mapping[str, Record]
    choices: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """A new record and where it stands."""

    record: Record
    standing: Standing = Standing.ACTIVE


@dataclass(frozen=True, slots=True)
class Restand:
    """A known record changes its standing."""

    record_id: str
    standing: Standing
    withdrawn_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Everything that one decision changes, at once."""

    entries: tuple[Entry, ...] = ()
    restands: tuple[Restand, ...] = ()
    erased: tuple[str, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Change, ...] = ()
    """Rows of the other areas, such as start-up files."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        parts = (self.entries, self.restands, self.erased, self.choices, self.rows)
        return not any(parts)

    def join(self, other: "Edit") -> "Edit":
        """Do both in one commit; where they differ, the other one decides."""
        return Edit(
            entries=(*self.entries, *other.entries),
            restands=(*self.restands, *other.restands),
            erased=tuple(dict.fromkeys((*self.erased, *other.erased))),
            choices={**self.choices, **other.choices},
            rows=(*self.rows, *other.rows),
        )


Decide = Callable[[Snapshot], Edit]
Wanted = Callable[[Mapping[str, Head]], Collection[str]]


def list_changes(edit: Edit, heads: Mapping[str, Head]) -> list[Change]:
    """Give the rows of an edit; an erased record loses its text and its head.

    Args:
        edit: what was decided.
        heads: what `plan_heads` makes of it.
    """
    changes: list[Change] = [
        Put(Area.RECORDS, entry.record.record_id, write_record(entry.record))
        for entry in edit.entries
        if entry.record.record_id not in edit.erased
    ]
    changes += [Put(Area.HEADS, head.record_id, write_head(head)) for head in heads.values()]
    for record_id in edit.erased:
        changes += [Erase(Area.RECORDS, record_id), Erase(Area.HEADS, record_id)]
        # What its text was turned into goes with it, in the same commit.
        changes.append(Erase(Area.SEARCH, name_vector(record_id)))
    if edit.erased:
        # The index of words knows what is erased here; it goes at once and is written anew later.
        changes.append(Erase(Area.SEARCH, WORD_INDEX))
    changes += [Put(Area.CHOICES, key, text) for key, text in sorted(edit.choices.items())]
    return [*changes, *edit.rows]


def plan_heads(edit: Edit, snapshot: Snapshot) -> dict[str, Head]:
    """Give the heads that an edit writes, with the standings it leaves."""
    sequence = snapshot.revision + 1
    heads = {
        entry.record.record_id: make_head(entry.record, entry.standing, sequence)
        for entry in edit.entries
    }
    for restand in edit.restands:
        known = heads.get(restand.record_id) or snapshot.heads.get(restand.record_id)
        if known is not None:
            heads[restand.record_id] = known.stand(restand.standing, restand.withdrawn_by)
    return {key: head for key, head in heads.items() if key not in edit.erased}
