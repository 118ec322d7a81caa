"""Packs repeat the heads for a fast start, never know better, and forget what is deleted."""

import pytest

from py_core.store.edits import Edit, Entry, Restand
from py_core.store.heads import Head, Standing, make_head, read_heads, write_head
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ledger import Ledger
from py_core.store.packs import PACK_ROWS, drop_from_pack, read_pack, write_pack
from py_core.store.ports import Area, Put
from tests.py_core.memory.heads import make_said, make_summary
from tests.py_core.store.databases import run


def make_all(*texts, **more):
    """Give heads of records with these texts."""
    return [
        make_head(make_said(f"m{n}", text, **more), Standing.ACTIVE, n)
        for n, text in enumerate(texts)
    ]


def write_many(ledger, count, prefix="m", text="Parcel {} is here"):
    """Keep many records in one commit; give them."""
    records = [make_said(f"{prefix}{n}", text.format(n)) for n in range(count)]
    run(ledger.apply(lambda _: Edit(entries=tuple(map(Entry, records)))))
    return records


def restand_all(ledger, standing):
    """Change every head."""
    restands = tuple(Restand(f"m{n}", standing) for n in range(PACK_ROWS))
    run(ledger.apply(lambda _: Edit(restands=restands)))


def read_packs(database):
    """Give the texts of all packs."""
    return [row.text for row in run(database.changes_since(Area.PACKS, 0)).rows if row.text]


def reopen(database):
    """Give all heads as a new visit reads them."""
    ledger = Ledger(database)
    run(ledger.refresh())
    return dict(ledger.heads)


def read_all(database):
    """Give all heads from their own rows."""
    rows = run(database.changes_since(Area.HEADS, 0)).rows
    heads = read_heads([row.text for row in rows if row.text is not None])
    return {head.record_id: head for head in heads}


def test_a_pack_gives_back_every_head_that_was_put_in():
    """Few values or many, quotes, line ends, signs of the format itself."""
    heads = [
        *make_all("plain", 'with "quotes" \\ and\nlines', "Straße 😀"),
        *make_all("odd\x91sub\x92ject\x93", subject="a\x91b\x92c\x930\x931"),
        make_head(make_summary("s", "of two", ["m0", "m1"]), Standing.WITHDRAWN, 7),
    ]
    assert [Head(row) for row in read_pack(write_pack(9, heads)).rows] == heads
    assert read_pack(write_pack(9, heads)).until == 9
    assert read_pack(write_pack(3, [])).rows == ()


def test_a_pack_loses_what_is_dropped_and_no_more():
    """The text of the deleted record is in no byte of what is left."""
    heads = make_all("first thing", "second thing", "third thing")
    left = drop_from_pack(write_pack(2, heads), {"m1"})
    assert [row[0] for row in read_pack(left).rows] == ["m0", "m2"]
    assert "second" not in left


def test_a_head_written_before_there_were_packs_is_read():
    """Its last places were one list in JSON."""
    (head,) = make_all("an old one")
    row = list(head.row)
    nested = f'["{row[15]}","{row[16]}","{row[17]}","then",{row[18]},"{row[19]}","{row[20]}",""]'
    old = write_head(Head((*row[:15], nested)))
    assert read_heads([old]) == [head]


def test_a_packed_memory_opens_as_it_was():
    """Packs and what came after them give the same heads as all rows alone."""
    database = MemoryDatabase()
    ledger = Ledger(database)
    write_many(ledger, 2 * PACK_ROWS + 10)
    assert run(ledger.pack()) == 2
    run(ledger.apply(lambda _: Edit(restands=(Restand("m5", Standing.WITHDRAWN, ("x",)),))))
    write_many(ledger, 3, "later")

    again = reopen(database)
    assert again == read_all(database)
    assert again["m5"].standing is Standing.WITHDRAWN
    assert len(again) == 2 * PACK_ROWS + 13


def test_only_a_full_pack_is_written():
    """A small memory has none."""
    ledger = Ledger(MemoryDatabase())
    write_many(ledger, PACK_ROWS - 1)
    assert run(ledger.pack()) == 0


def test_a_deletion_reaches_the_packs_in_its_own_commit():
    """Also packs that another tab has written meanwhile."""
    database = MemoryDatabase()
    first, second = Ledger(database), Ledger(database)
    write_many(first, PACK_ROWS, text="Parcel number {} is here")
    run(second.refresh())
    assert run(first.pack()) == 1
    assert any("number 77 is" in text for text in read_packs(database))

    run(second.apply(lambda _: Edit(erased=("m77",))))
    assert not any("number 77 is" in text for text in read_packs(database))
    assert reopen(database) == read_all(database)


def test_two_tabs_do_not_pack_the_same_heads_twice():
    """The second one sees what the first has packed."""
    database = MemoryDatabase()
    first, second = Ledger(database), Ledger(database)
    write_many(first, PACK_ROWS)
    run(second.refresh())
    assert (run(first.pack()), run(second.pack())) == (1, 0)


def test_packs_full_of_old_copies_are_written_anew():
    """Another tab that knew the old packs cannot make the new ones incomplete."""
    database = MemoryDatabase()
    ledger, other = Ledger(database), Ledger(database)
    write_many(ledger, PACK_ROWS)
    run(ledger.pack())
    run(other.refresh())
    for turn in range(5):
        standing = (Standing.WITHDRAWN, Standing.ACTIVE)[turn % 2]
        restand_all(ledger, standing)
        run(ledger.pack())
    assert len(read_packs(database)) < 5
    assert reopen(database) == read_all(database)

    write_many(other, PACK_ROWS, "other")
    run(other.pack())
    assert reopen(database) == read_all(database)


@pytest.mark.parametrize("damage", ["", "12\x92", "x", "7\x92=a\x91b"])
def test_a_damaged_pack_is_not_believed_and_written_anew(damage):
    """The heads have rows of their own; nothing is lost."""
    database = MemoryDatabase()
    ledger = Ledger(database)
    write_many(ledger, PACK_ROWS)
    run(ledger.pack())
    run(database.commit(2, [Put(Area.PACKS, "00000001", damage)]))
    assert reopen(database) == read_all(database)

    again = Ledger(database)
    run(again.pack())
    assert [len(read_pack(text).rows) for text in read_packs(database)] == [PACK_ROWS]
    assert reopen(database) == read_all(database)


def test_wiping_takes_the_packs_along():
    """What is written afterwards is packed as in a new memory."""
    database = MemoryDatabase()
    ledger = Ledger(database)
    write_many(ledger, PACK_ROWS)
    run(ledger.pack())
    run(ledger.wipe())
    assert read_packs(database) == []
    write_many(ledger, PACK_ROWS, "new")
    assert run(ledger.pack()) == 1
    assert len(reopen(database)) == PACK_ROWS
