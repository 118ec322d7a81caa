"""What tombstones, links and retractions do, beyond the worked cases."""

from py_core.identity import sha256_hex
from tests.record_builders import (
    compile_records,
    ids_of,
    make_policy,
    make_record,
    make_turn,
    reasons_of,
)

CORE = [make_policy(), make_turn("ask", "What?", 9)]


def memory(record_id: str, text: str, **extra):
    """Build a durable record."""
    return make_record(record_id, "LongTermMemoryRecord", text, **extra)


def test_a_foreign_tenant_cannot_delete_or_replace():
    """Links end at the border of a tenant."""
    foreign = {"tenant_binding": "ws-2"}
    plan = compile_records(
        [
            *CORE,
            memory("mine", "The user lives in Rome."),
            make_record(
                "t", "Tombstone", payload={"is_deleted": True}, supersedes=["mine"], **foreign
            ),
            make_record("r", "Retraction", payload={"target_id": "mine"}, **foreign),
            memory("theirs", "The user lives in Oslo.", supersedes=["mine"], **foreign),
        ]
    )
    assert "mine" in ids_of(plan)
    assert {reasons_of(plan)[i] for i in ("t", "r", "theirs")} == {"tenant_mismatch"}


def test_a_record_that_replaces_its_own_source_stays():
    """A correction is made from what it corrects."""
    plan = compile_records(
        [
            *CORE,
            memory("old", "Budget is 10."),
            memory("new", "Budget is 20.", supersedes=["old"], derived_from=["old"]),
        ]
    )
    assert "new" in ids_of(plan)
    assert reasons_of(plan) == {"old": "superseded"}


def test_withdrawal_runs_down_the_whole_cone():
    """Everything made from something deleted goes, however far."""
    chain = [memory(f"m{i}", f"Fact number {i}.", derived_from=[f"m{i - 1}"]) for i in range(1, 6)]
    grave = make_record("t", "Tombstone", payload={"is_deleted": True}, supersedes=["m0"])
    plan = compile_records([*CORE, memory("m0", "Fact zero."), *chain, grave])
    assert ids_of(plan) == ["policy", "ask"]


def test_an_untrusted_replacement_withdraws_nothing_trusted():
    """A hosted record may replace a hosted one, and cannot reach above."""
    plan = compile_records(
        [
            *CORE,
            make_record("hit", "RetrievalHit", "Old note."),
            make_record("newer", "RetrievalHit", "Newer note.", supersedes=["hit"]),
            memory("kept", "Made from the old note.", derived_from=["hit"]),
        ]
    )
    assert {"kept", "newer"} <= set(ids_of(plan))


def test_deleting_a_correction_does_not_bring_the_error_back():
    """Replaced is replaced, even when the replacement is deleted later."""
    plan = compile_records(
        [
            *CORE,
            memory("old", "Budget is 10."),
            memory("new", "Budget is 20.", supersedes=["old"]),
            make_record("t", "Tombstone", payload={"is_deleted": True}, supersedes=["new"]),
        ]
    )
    assert ids_of(plan) == ["policy", "ask"]


def test_a_tombstone_of_a_text_deletes_every_copy_of_it():
    """By normalisation hash, whichever lane brings the copy back."""
    grave = make_record(
        "t",
        "Tombstone",
        payload={"is_deleted": True},
        content_identity="e" * 64,
        normalization_hash=sha256_hex(b"Phone is 555."),
    )
    copies = [memory("m", "Phone is 555."), make_record("h", "RetrievalHit", "Phone  is 555.")]
    after = compile_records([*CORE, *copies, grave])
    assert ids_of(after) == ["policy", "ask"]


def test_policy_and_message_cannot_be_deleted_by_a_record():
    """Shedding a guardrail by a tombstone is refused and shown."""
    grave = make_record(
        "t", "Tombstone", payload={"is_deleted": True}, supersedes=["policy", "ask"]
    )
    plan = compile_records([*CORE, grave])
    assert ids_of(plan) == ["policy", "ask"]
    assert [finding.kind for finding in plan.graph_findings] == ["protected_target"] * 2


def test_a_deletion_cannot_be_taken_back():
    """A retraction of a tombstone is refused, and the tombstone stays in the proof."""
    plan = compile_records(
        [
            *CORE,
            memory("gone", "Phone is 555."),
            make_record("t", "Tombstone", payload={"is_deleted": True}, supersedes=["gone"]),
            make_record("undo", "Retraction", payload={"target_id": "t"}),
        ]
    )
    assert reasons_of(plan) == {"gone": "tombstoned", "t": "acted", "undo": "acted"}


def test_a_retracted_link_replaces_nothing():
    """What the user takes back has no effect left."""
    link = make_record("link", "SupersessionLink", payload={"newer_id": "new", "older_id": "old"})
    undo = make_record("undo", "Retraction", payload={"target_id": "link"})
    plan = compile_records([*CORE, memory("old", "First."), memory("new", "Second."), link, undo])
    assert {"old", "new"} <= set(ids_of(plan))
    assert reasons_of(plan)["link"] == "retracted"
