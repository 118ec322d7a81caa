"""The index follows the ledger: what comes, what changes, what goes, in this tab or another."""

import asyncio

import pytest

from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_shelf import BATCH_RECORDS, MOST_OPEN, MemoryShelf
from py_core.memory.changes import Correct, Forget, Remember
from py_core.store.edits import Edit, Entry
from py_core.store.ledger import Ledger
from py_core.store.ports import Area
from tests.py_core.memory.heads import make_said
from tests.py_core.retrieval.memories import make_document
from tests.py_core.store.databases import KINDS, open_database, run

NOW = "2026-07-10T12:00:00+00:00"
TENANT = "local"


@pytest.fixture(params=KINDS)
def database(request, tmp_path):
    """An empty store of each kind."""
    return open_database(request.param, tmp_path)


class Tab:
    """One tab over a store."""

    def __init__(self, database):
        self.ledger = Ledger(database)
        self.keeper = MemoryKeeper(self.ledger, TENANT)
        self.rests = 0
        self.shelf = MemoryShelf(self.keeper, self.ledger, self.rest)

    async def rest(self):
        """Count."""
        self.rests += 1
        await asyncio.sleep(0)

    def remember(self, text):
        """Keep a text; give its id."""
        return run(self.keeper.apply(Remember(text), NOW)).verdict.kept[0].record_id

    def fill(self, count):
        """Keep many records in one commit."""
        made = [make_said(f"mem-{n}", f"Parcel {n}.", tenant_binding=TENANT) for n in range(count)]
        run(self.ledger.apply(lambda _: Edit(entries=tuple(map(Entry, made)))))

    def found(self):
        """Follow, then give what is indexed."""
        run(self.shelf.follow())
        return set(self.shelf.index.ids())


def test_an_empty_ledger_is_an_empty_index(database):
    """And nothing is read."""
    tab = Tab(database)
    assert tab.found() == set()
    assert run(tab.shelf.open(["nobody"])) == {}


def test_what_another_tab_does_is_followed(database):
    """New, corrected and deleted records."""
    one, other = Tab(database), Tab(database)
    first, second = other.remember("I live in Lisbon"), other.remember("The server is otter")
    assert one.found() == {first, second}
    newer = run(other.keeper.apply(Correct(first, "I live in Porto"), NOW)).verdict.kept[0]
    run(other.keeper.apply(Forget((second,)), NOW))
    assert one.found() == {newer.record_id}
    assert run(one.shelf.open([first, second, newer.record_id])).keys() == {newer.record_id}
    assert not one.shelf.is_active(first)
    assert one.shelf.is_active(newer.record_id)


def test_a_wiped_memory_leaves_nothing(database):
    """Delete everything, and what was indexed is gone too."""
    tab = Tab(database)
    kept = tab.remember("The server is otter")
    assert tab.found() == {kept}
    run(tab.shelf.save(at_once=True))
    run(tab.keeper.erase_everything())
    assert tab.found() == set()
    assert run(tab.shelf.open([kept])) == {}
    assert Tab(database).found() == set()


def test_following_that_is_cancelled_keeps_what_it_has_done(database):
    """The lane's time is over; the next turn goes on from there."""
    tab = Tab(database)
    tab.fill(3 * BATCH_RECORDS)

    async def cancel_early():
        task = asyncio.create_task(tab.shelf.follow())
        while tab.rests < 1:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        done = len(tab.shelf)
        await tab.shelf.follow()
        return done

    done = run(cancel_early())
    assert BATCH_RECORDS <= done < 3 * BATCH_RECORDS
    assert len(tab.shelf) == 3 * BATCH_RECORDS


def test_records_are_read_once_and_few_stay_open(database):
    """Memory use does not grow with the ledger."""
    tab = Tab(database)
    tab.fill(MOST_OPEN + 100)
    names = sorted(tab.found())
    assert len(run(tab.shelf.open(names))) == len(names)
    assert len(tab.shelf._open) == MOST_OPEN


def test_an_index_of_the_state_before_is_not_written_over_a_deletion(database):
    """Another tab deletes between the search and the writing: the words must not come back."""
    one, other = Tab(database), Tab(database)
    kept = other.remember("The server is otter")
    assert one.found() == {kept}
    run(other.keeper.apply(Forget((kept,)), NOW))
    assert not run(one.shelf.save(at_once=True))
    texts = run(one.ledger.read_area(Area.SEARCH)).values()
    assert not any("otter" in text for text in texts)


def test_projects_are_those_of_the_records(database):
    """Known names for the intent, as of the last look."""
    tab = Tab(database)
    record = make_said("mem-1", "The database is SQLite.", tenant_binding=TENANT,
                       scope="project", scope_id="atlas")  # fmt: skip
    run(tab.ledger.apply(lambda _: Edit(entries=(Entry(record),))))
    tab.found()
    assert tab.shelf.projects == ("atlas",)


def test_an_index_that_changes_while_it_is_written_is_kept_the_next_time(database):
    """Writing rests between its steps; half an index is never kept."""
    tab = Tab(database)
    tab.fill(3)
    tab.found()

    async def change_meanwhile():
        tab.shelf.index.put(make_document("visitor", "a hosted text"))
        tab.shelf.index.discard("visitor")

    assert not run(tab.shelf.save(change_meanwhile, at_once=True))
    assert run(tab.ledger.read_area(Area.SEARCH)) == {}
    assert run(tab.shelf.save(tab.rest, at_once=True))
    (kept,) = run(tab.ledger.read_area(Area.SEARCH)).values()
    assert "hosted" not in kept
    assert Tab(database).found() == tab.found()
