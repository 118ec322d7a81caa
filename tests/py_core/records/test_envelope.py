"""Records are frozen, sealed by their hashes, and alike however they were written."""

import json

import pytest
from pydantic import ValidationError

from py_core.identity import content_hash, sha256_hex
from py_core.records.envelope import Envelope
from py_core.records.kinds import RECORD_CLASSES, RetrievalHit, SessionFact, find_lane
from py_core.records.read_request import read_request
from tests.record_builders import Json, make_record, make_request_value


def read(*records: Json) -> tuple[Envelope, ...]:
    """Read records as from a file."""
    return read_request(json.dumps(make_request_value(list(records))).encode()).records


def test_there_are_the_fifteen_kinds_of_the_specification():
    """Section 4 names them; no other kind may enter."""
    assert sorted(kind.__name__ for kind in RECORD_CLASSES) == [
        "CompilerDiagnostic",
        "LongTermMemoryRecord",
        "MemoryPointer",
        "Retraction",
        "RetrievalHit",
        "RoleTaggedMessage",
        "SessionFact",
        "ShortTermSummary",
        "SupersessionLink",
        "SystemPolicyRecord",
        "Tombstone",
        "ToolResult",
        "TrustedMetadata",
        "UntrustedContentBlock",
        "UserPreferenceAssertion",
    ]


def test_the_content_identity_is_the_hash_of_the_canonical_payload():
    """Whoever has the payload can compute the identity, and a stated one is checked."""
    (record,) = read(make_record("r", "SessionFact", "Café."))
    expected = content_hash({"text": "Café.", "facts": [], "is_hot": False})
    assert record.content_identity == expected
    (again,) = read(make_record("r", "SessionFact", "Café.", content_identity=expected))
    assert again.envelope_hash == record.envelope_hash


def test_the_normalization_hash_ignores_spaces_line_ends_and_invisible_characters():
    """Equal texts are equal however they were typed; the payload keeps its own bytes."""
    one, other = read(
        make_record("a", "SessionFact", "The user\r\n lives  in Rome."),
        make_record("b", "SessionFact", "The\u200b user lives in Rome. "),
    )
    assert one.normalization_hash == other.normalization_hash
    assert one.normalization_hash == sha256_hex(b"The user lives in Rome.")
    assert one.text == "The user\r\n lives  in Rome."
    assert one.content_identity != other.content_identity


def test_composed_and_decomposed_letters_have_one_identity():
    """Canonical JSON is NFC, so the same letters hash alike."""
    one, other = read(
        make_record("a", "SessionFact", "caf\u00e9"), make_record("b", "SessionFact", "cafe\u0301")
    )
    assert one.content_identity == other.content_identity
    assert one.envelope_hash != other.envelope_hash


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source", "elsewhere"),
        ("confidence_ppm", 1),
        ("tags", ["x"]),
        ("derived_from", ["other"]),
        ("sensitivity", "public"),
        ("retention", {"rule": "session"}),
    ],
)
def test_the_envelope_hash_covers_every_field(field: str, value: object):
    """A change of provenance is a change of the record."""
    plain, changed = (
        read(make_record("r", "SessionFact", "Same.", **extra))[0] for extra in ({}, {field: value})
    )
    assert plain.envelope_hash != changed.envelope_hash
    assert plain.content_identity == changed.content_identity


def test_records_cannot_be_changed():
    """Frozen: a later step can only make something new."""
    (record,) = read(make_record("r", "SessionFact", "Same."))
    with pytest.raises(ValidationError):
        setattr(record, "record_id", "other")  # noqa: B010


def test_a_tombstone_keeps_the_identity_of_what_it_deletes():
    """It shares the content identity instead of having its own (section 7)."""
    (living,) = read(make_record("r", "SessionFact", "Gone."))
    (grave,) = read(
        make_record(
            "t", "Tombstone", payload={"is_deleted": True}, content_identity=living.content_identity
        )
    )
    assert grave.content_identity == living.content_identity


@pytest.mark.parametrize(
    ("payload", "lane"),
    [
        ({"memory_type": "status"}, "status"),
        ({"memory_type": "decision"}, "handoff"),
        ({"memory_type": "decision", "lane": "status"}, "status"),
    ],
)
def test_status_and_durable_lie_on_two_shelves(payload: Json, lane: str):
    """The lane follows the memory type unless the search says which lane was asked."""
    (record,) = read(make_record("r", "RetrievalHit", "Found.", payload=payload))
    assert isinstance(record, RetrievalHit)
    assert find_lane(record).value == lane


def test_session_facts_are_status():
    """Running state of the session."""
    (record,) = read(make_record("r", "SessionFact", "Same."))
    assert isinstance(record, SessionFact)
    assert find_lane(record).value == "status"
