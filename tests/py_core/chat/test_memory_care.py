"""Rebuilding later, losses that are noticed, summaries that are shown first."""

import pytest

from py_core.chat.memory_keeper import MemoryKeeper
from py_core.memory.changes import (
    Confirm,
    Correct,
    Forget,
    KeepSummary,
    Rebuild,
    Remember,
    Retract,
    Stamp,
)
from py_core.memory.repair import RepairPlan
from py_core.memory.summary import summarise
from py_core.memory_errors import ChangeRefusedError, StorageLostError
from py_core.store.heads import Standing
from py_core.store.host_database import HostDatabase
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ledger import Ledger
from tests.py_core.store.databases import FakeDatabaseHost, run

NOW = "2026-07-10T12:00:00+00:00"
LATER = "2026-07-11T12:00:00+00:00"
TENANT = "ws-1"


def open_keeper(database):
    """Open a memory over a store."""
    return MemoryKeeper(Ledger(database), TENANT)


@pytest.fixture
def keeper():
    """An empty memory."""
    return open_keeper(MemoryDatabase())


def remember(keeper, text):
    """Keep a text and give its id."""
    return run(keeper.apply(Remember(text), NOW)).verdict.kept[0].record_id


def sum_up(records, now, *supersedes):
    """Summarise records that do say something."""
    summary = summarise(records, Stamp(TENANT, now), supersedes=supersedes)
    assert summary is not None
    return summary


def read_texts(keeper):
    """Give what is served."""
    return {r.record_id: r.text for r in run(keeper.read_serving()) if r.text}


class StoppedKeeper(MemoryKeeper):
    """A tab that ends between the barrier and the publication."""

    async def _publish(self, plan: RepairPlan, now: str):
        return {}


def test_what_a_closed_tab_left_withdrawn_is_rebuilt_on_demand():
    """First shown, with what it would be made of; then made, without the corrected words."""
    database = MemoryDatabase()
    stopped, keeper = StoppedKeeper(Ledger(database), TENANT), open_keeper(database)
    old = remember(stopped, "I live in Lisbon near the river")
    remember(stopped, "The staging server is called otter")
    summary = run(stopped.summarise(run(stopped.read_serving()), NOW))
    assert summary is not None
    run(stopped.apply(Correct(old, "I live in Porto near the river"), LATER))
    assert run(keeper.list_heads())[summary.record_id].standing is Standing.WITHDRAWN

    preview = run(keeper.preview(Rebuild((summary.record_id,)), LATER))
    assert [item.verdict for item in preview.repair.affected] == ["rebuild"]
    assert summary.record_id not in read_texts(keeper)
    applied = run(keeper.apply(Rebuild(), LATER))
    text = read_texts(keeper)[applied.rebuilt[summary.record_id]]
    assert "Porto" in text
    assert "Lisbon" not in text


def test_only_what_is_withdrawn_can_be_rebuilt(keeper):
    """Anything else has nothing to come back from."""
    with pytest.raises(ChangeRefusedError):
        run(keeper.apply(Rebuild((remember(keeper, "I like figs"),)), NOW))


def test_a_withdrawn_memory_comes_back_in_the_users_own_words(keeper):
    """It then stands for itself, not for the message that was taken back."""
    (pending,) = run(keeper.suggest("I live in Lisbon", "turn-1-user", NOW))
    confirmed = run(keeper.apply(Confirm(pending), NOW)).verdict.kept[0].record_id
    run(keeper.apply(Retract("turn-1-user", since=keeper.revision), NOW))
    assert read_texts(keeper) == {}

    run(keeper.apply(Correct(confirmed, "I live in Porto"), LATER))
    assert list(read_texts(keeper).values()) == ["I live in Porto"]
    (record,) = (r for r in run(keeper.read_serving()) if r.kind == "UserPreferenceAssertion")
    assert record.derived_from == ()


def test_a_summary_is_kept_only_after_it_was_shown(keeper):
    """A newer one of the same turns takes its place."""
    remember(keeper, "The staging server is called otter")
    records = run(keeper.read_serving())
    draft = sum_up(records, NOW)
    with pytest.raises(ChangeRefusedError):
        keeper.find_draft(draft.record_id)
    keeper.keep_draft(draft)
    assert draft.record_id not in run(keeper.list_heads())

    run(keeper.apply(KeepSummary(keeper.find_draft(draft.record_id)), NOW))
    newer = sum_up(records, LATER, draft.record_id)
    repeated = run(keeper.preview(KeepSummary(newer), LATER))
    assert repeated.repeats == (draft.record_id,)
    more = run(keeper.apply(Remember("Otter has eight cores"), NOW)).verdict.kept
    longer = sum_up([*records, *more], LATER, draft.record_id)
    run(keeper.apply(KeepSummary(longer), LATER))
    assert run(keeper.list_heads())[draft.record_id].standing is Standing.SUPERSEDED


def test_a_store_that_was_emptied_rolled_back_or_replaced_is_noticed(keeper):
    """The page remembers name and revision elsewhere; deleting everything is no loss."""
    database = MemoryDatabase()
    keeper = open_keeper(database)
    remember(keeper, "I live in Lisbon")
    remember(keeper, "I like figs")
    name, revision = keeper.ledger_id, keeper.revision
    assert name
    assert run(open_keeper(database).check(name, revision)) is None

    assert run(open_keeper(MemoryDatabase()).check(name, revision)) == "emptied"
    other = open_keeper(MemoryDatabase())
    remember(other, "Another life")
    assert run(other.check(name, revision)) == "rolled_back"
    remember(other, "Another life, longer")
    assert run(other.check(name, revision)) == "replaced"

    run(keeper.erase_everything())
    assert run(open_keeper(database).check(name, revision)) is None
    remember(keeper, "I begin again")
    assert run(open_keeper(database).check(name, revision)) is None


def test_an_accepted_loss_is_gone_on_with():
    """The tab that saw the old store begins with the one that is there."""
    host = FakeDatabaseHost(MemoryDatabase())
    keeper = open_keeper(HostDatabase(host))
    remember(keeper, "I live in Lisbon")
    host.database = MemoryDatabase()
    with pytest.raises(StorageLostError):
        run(keeper.check("", 0))

    run(keeper.begin_anew())
    assert run(keeper.list_heads()) == {}
    gone = remember(keeper, "I begin again")
    run(keeper.apply(Forget((gone,)), LATER))
    assert read_texts(keeper) == {}
