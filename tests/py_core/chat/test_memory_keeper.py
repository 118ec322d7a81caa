"""Consent, correction, deletion and repair, over a real ledger in memory and on disk."""

import pytest

from py_core.chat.memory_keeper import MemoryKeeper
from py_core.memory.browse import BrowseAsk
from py_core.memory.changes import (
    Confirm,
    Correct,
    Forget,
    Keep,
    KeepFor,
    Reject,
    Remember,
    Retract,
    Sweep,
)
from py_core.memory_errors import ChangeRefusedError, SensitiveTextError, StorageFullError
from py_core.store.heads import Standing
from py_core.store.ledger import Ledger
from py_core.store.ports import Area
from tests.py_core.store.databases import KINDS, FullDatabase, opened_database, run

NOW = "2026-07-10T12:00:00+00:00"
LATER = "2026-07-11T12:00:00+00:00"
TENANT = "ws-1"


@pytest.fixture(params=KINDS)
def database(request, tmp_path):
    """An empty store of each kind."""
    with opened_database(request.param, tmp_path) as opened:
        yield opened


@pytest.fixture
def keeper(database):
    """A memory over the store."""
    return MemoryKeeper(Ledger(database), TENANT)


async def no_pause():
    """Nobody waits."""


def remember(keeper, text, **more):
    """Keep a text and give its id."""
    return run(keeper.apply(Remember(text, **more), NOW)).verdict.kept[0].record_id


def standings(keeper):
    """Give id to standing."""
    return {key: head.standing for key, head in run(keeper.list_heads()).items()}


def raw_bytes(database):
    """Give every text of every area as one text."""
    rows = [run(database.changes_since(area, 0)).rows for area in Area]
    return "\n".join(row.text or "" for area_rows in rows for row in area_rows)


def test_a_preview_writes_nothing(database, keeper):
    """What will be kept is shown before it is kept."""
    verdict = run(keeper.preview(Remember("I live in Lisbon"), NOW))

    assert verdict.kept[0].text == "I live in Lisbon"
    assert raw_bytes(database).strip() == ""


def test_an_explicit_wish_makes_a_profile_field_or_a_durable_fact(keeper):
    """Traits of the user are tier 6, everything else is tier 7, both with consent."""
    remember(keeper, "I live in Lisbon")
    remember(keeper, "The staging server is called otter")

    rows = run(keeper.browse(BrowseAsk())).rows
    assert [(row.head.kind, row.tier) for row in rows] == [
        ("LongTermMemoryRecord", 7),
        ("UserPreferenceAssertion", 6),
    ]
    assert {record.review_status.value for record in run(keeper.read_serving())} == {"promoted"}


def test_a_text_that_is_known_is_not_kept_twice(keeper):
    """A second wish shows the first record instead."""
    first = remember(keeper, "I live in Lisbon")
    again = run(keeper.apply(Remember("I live  in Lisbon"), LATER))

    assert again.verdict.repeats == (first,)
    assert list(standings(keeper)) == [first]


def test_a_secret_is_refused_or_blacked_out_and_never_stored(database, keeper):
    """Neither the store nor the error holds the value."""
    text = "the router password is swordfish99"
    with pytest.raises(SensitiveTextError) as refusal:
        run(keeper.apply(Remember(text), NOW))
    assert "swordfish99" not in str(refusal.value)

    applied = run(keeper.apply(Remember(text, blacken=True), NOW))
    assert applied.verdict.kept[0].text == "the router password is [removed: a password]"
    assert "swordfish99" not in raw_bytes(database)


def test_an_inference_waits_in_no_tier_until_it_is_confirmed(keeper):
    """Pending records reach no compiler; a confirmed one is a profile field of tier 6."""
    (pending,) = run(keeper.suggest("By the way, I live in Lisbon.", "msg-1", NOW))
    assert run(keeper.read_serving()) == ()
    assert run(keeper.browse(BrowseAsk())).rows[0].tier is None

    confirmed = run(keeper.apply(Confirm(pending), LATER)).verdict.kept[0]
    assert [record.record_id for record in run(keeper.read_serving())] == [confirmed.record_id]
    assert standings(keeper)[pending] is Standing.SUPERSEDED
    assert confirmed.derived_from == ("msg-1",)


def test_an_inference_can_be_confirmed_in_other_words(keeper):
    """Editing is confirming what was typed."""
    (pending,) = run(keeper.suggest("I live in Lisbon", "msg-1", NOW))
    run(keeper.apply(Correct(pending, "I live in Porto"), LATER))
    assert [record.text for record in run(keeper.read_serving())] == ["I live in Porto"]


def test_what_was_refused_for_good_is_not_suggested_again(keeper):
    """A plain no covers the value, never covers the slot."""
    (pending,) = run(keeper.suggest("I live in Lisbon", "msg-1", NOW))
    run(keeper.apply(Reject(pending), NOW))
    assert run(keeper.suggest("I live in Lisbon", "msg-2", NOW)) == ()

    (other,) = run(keeper.suggest("I live in Porto", "msg-3", NOW))
    run(keeper.apply(Reject(other, never=True), NOW))
    assert run(keeper.suggest("I live in Rome", "msg-4", NOW)) == ()
    assert run(keeper.read_serving()) == ()


def test_a_correction_keeps_the_old_words_for_the_history_only(keeper):
    """The newer record supersedes; the older one is served no more."""
    old = remember(keeper, "I live in Lisbon")
    applied = run(keeper.apply(Correct(old, "I live in Porto"), LATER))
    new = applied.verdict.kept[0].record_id

    assert [record.text for record in run(keeper.read_serving())] == ["I live in Porto"]
    view = run(keeper.show(new))
    assert [(edge.begin, edge.end, edge.kind) for edge in view.history.edges] == [
        (new, old, "supersedes")
    ]


def test_a_contradiction_is_shown_with_the_wish(keeper):
    """One slot, two values: the user sees the other record before agreeing."""
    old = remember(keeper, "I live in Lisbon")
    assert run(keeper.preview(Remember("I live in Porto"), NOW)).contradicts == (old,)


def test_a_clock_that_jumps_back_does_not_make_a_correction_older(keeper):
    """A newer version is never dated before the one it replaces."""
    old = remember(keeper, "I live in Lisbon")
    run(keeper.apply(Correct(old, "I live in Porto"), "2020-01-01T00:00:00+00:00"))
    (record,) = run(keeper.read_serving())
    assert record.observation_time.year == 2026


def test_a_deletion_erases_every_byte_and_leaves_a_tombstone(database, keeper):
    """All versions, all products and all heads lose their text; the mark shares the identity."""
    old = remember(keeper, "I live in Lisbon")
    identity = run(keeper.list_heads())[old].content_identity
    new = run(keeper.apply(Correct(old, "I live in Porto-Novo"), LATER)).verdict.kept[0].record_id
    applied = run(keeper.apply(Forget((new,)), LATER))

    assert set(applied.verdict.erased) == {old, new}
    assert "Lisbon" not in raw_bytes(database)
    assert "Porto-Novo" not in raw_bytes(database)
    serving = run(keeper.read_serving())
    assert {record.kind for record in serving} == {"Tombstone"}
    assert identity in {record.content_identity for record in serving}


def test_what_was_deleted_can_be_remembered_again_by_a_new_consent(keeper):
    """The old deletion does not reach the new consent."""
    record_id = remember(keeper, "I live in Lisbon")
    run(keeper.apply(Forget((record_id,)), NOW))
    again = run(keeper.apply(Remember("I live in Lisbon"), LATER)).verdict.kept[0]

    deleted = {r.content_identity for r in run(keeper.read_serving()) if r.kind == "Tombstone"}
    assert again.content_identity not in deleted


def test_a_deletion_withdraws_and_rebuilds_the_summaries_made_of_it(database, keeper):
    """The summary comes back without the deleted part, made only of what is left."""
    gone = remember(keeper, "I live in Lisbon near the river")
    kept = remember(keeper, "The staging server is called otter")
    records = run(keeper.read_serving())
    summary = run(keeper.summarise(records, NOW))
    assert "Lisbon" in summary.text
    preview = run(keeper.preview(Forget((gone,)), LATER))
    assert [item.verdict for item in preview.repair.affected] == ["rebuild"]

    applied = run(keeper.apply(Forget((gone,)), LATER))
    (new_id,) = applied.rebuilt.values()
    texts = {r.record_id: r.text for r in run(keeper.read_serving()) if r.kind != "Tombstone"}
    assert texts[new_id] == "The staging server is called otter."
    assert set(texts) == {kept, new_id}
    assert "Lisbon" not in raw_bytes(database)


def test_a_correction_rebuilds_the_summary_from_the_new_words(keeper):
    """The old summary stays in the history, withdrawn first and then superseded."""
    old = remember(keeper, "I live in Lisbon near the river")
    summary = run(keeper.summarise(run(keeper.read_serving()), NOW))
    applied = run(keeper.apply(Correct(old, "I live in Porto near the river"), LATER))

    new_id = applied.rebuilt[summary.record_id]
    texts = {record.record_id: record.text for record in run(keeper.read_serving())}
    assert texts[new_id] == "I live in Porto near the river."
    assert standings(keeper)[summary.record_id] is Standing.SUPERSEDED


def test_a_retraction_withdraws_what_the_message_led_to_and_deletes_nothing(keeper):
    """The message itself is hidden by the compiler; the inference from it goes."""
    (pending,) = run(keeper.suggest("I live in Lisbon", "msg-1", NOW))
    confirmed = run(keeper.apply(Confirm(pending), NOW)).verdict.kept[0].record_id
    run(keeper.apply(Retract("msg-1", since=keeper.revision), LATER))

    assert standings(keeper)[confirmed] is Standing.WITHDRAWN
    assert {record.kind for record in run(keeper.read_serving())} == {"Retraction"}


def test_records_end_when_their_time_is_over(database, keeper):
    """Until a date, for a session, or forever; a clock that jumps back ends nothing."""
    remember(keeper, "I like figs", keep=Keep("until", "2026-07-11T00:00:00+00:00"))
    remember(keeper, "I like grapes", keep=Keep("session"))
    forever = remember(keeper, "I like plums")

    run(keeper.apply(Sweep(), "2020-01-01T00:00:00+00:00"))
    assert len(run(keeper.read_serving())) == 3
    run(keeper.apply(Sweep(session_until=keeper.revision), LATER))
    served = [record for record in run(keeper.read_serving()) if record.kind != "Tombstone"]
    assert [record.record_id for record in served] == [forever]
    assert "grapes" not in raw_bytes(database)


def test_a_visit_ends_what_was_kept_for_the_last_one_and_nothing_of_its_own(database, keeper):
    """A second tab ends nothing; what was kept before the sweep came round stays too."""
    remember(keeper, "I like grapes", keep=Keep("session"))
    second = MemoryKeeper(Ledger(database), TENANT)
    run(second.open())
    run(second.warm(no_pause))
    assert run(second.start_visit(NOW, is_new_session=False)) == ()

    own = remember(second, "I like plums", keep=Keep("session"))
    gone = run(second.start_visit(NOW, is_new_session=True))
    served = [record for record in run(second.read_serving()) if record.kind != "Tombstone"]
    assert [record.record_id for record in served] == [own]
    assert own not in gone
    assert len(gone) == 1


def test_what_ends_while_the_page_is_open_is_not_served_any_more(keeper):
    """Its time is looked at with every message; before that it is served."""
    remember(keeper, "I like figs", keep=Keep("until", "2026-07-11T00:00:00+00:00"))
    run(keeper.end_what_is_over(NOW))
    assert [record.text for record in run(keeper.read_serving())] == ["I like figs"]
    run(keeper.end_what_is_over(LATER))
    assert {record.kind for record in run(keeper.read_serving())} == {"Tombstone"}


def test_retention_can_be_changed_later(keeper):
    """The newest version says how long; the words stay the same."""
    record_id = remember(keeper, "I like figs")
    run(keeper.apply(KeepFor(record_id, Keep("session")), LATER))
    (record,) = run(keeper.read_serving())
    assert (record.text, record.retention.rule) == ("I like figs", "session")


def test_two_tabs_that_delete_and_correct_one_record_agree(database):
    """Whoever comes second decides on what the first has left; nothing comes back."""
    first, second = (MemoryKeeper(Ledger(database), TENANT) for _ in range(2))
    record_id = remember(first, "I live in Lisbon")
    run(second.list_heads())
    run(first.apply(Forget((record_id,)), NOW))

    with pytest.raises(ChangeRefusedError):
        run(second.apply(Correct(record_id, "I live in Porto"), NOW))
    assert {record.kind for record in run(second.read_serving())} == {"Tombstone"}
    assert standings(first) == standings(second)


def test_a_full_store_keeps_what_was_there(tmp_path):
    """A write that does not fit changes nothing, and says so."""
    keeper = MemoryKeeper(Ledger(FullDatabase(1)), TENANT)
    record_id = remember(keeper, "I live in Lisbon")

    with pytest.raises(StorageFullError):
        run(keeper.apply(Correct(record_id, "I live in Porto"), NOW))
    assert [record.text for record in run(keeper.read_serving())] == ["I live in Lisbon"]


def test_erasing_everything_leaves_nothing(database, keeper):
    """Also for another tab that has already read it."""
    other = MemoryKeeper(Ledger(database), TENANT)
    remember(keeper, "I live in Lisbon")
    run(keeper.suggest("I am 40 years old", "msg-1", NOW))
    run(keeper.note_plan("a" * 64, ["x"], NOW))
    run(other.list_heads())
    run(keeper.erase_everything())

    assert raw_bytes(database) == ""
    assert run(other.list_heads()) == {}
    assert remember(other, "I live in Lisbon")


def test_plans_are_listed_with_the_records_they_showed(keeper):
    """Where was this used? Newest first, by hash and time."""
    record_id = remember(keeper, "I live in Lisbon")
    run(keeper.note_plan("a" * 64, [record_id, "other"], NOW))
    run(keeper.note_plan("b" * 64, ["other"], NOW))
    run(keeper.note_plan("c" * 64, [record_id], LATER))
    assert run(keeper.show(record_id)).plans == ((LATER, "c" * 64), (NOW, "a" * 64))
