"""What cannot be used is refused in one line with the path of the field; nothing is compiled."""

import json

import pytest

from py_core.errors import BadRequestError
from py_core.records.read_request import format_path, read_request
from py_core.records.request_file import MOST_RECORDS, RequestFile
from tests.record_builders import Json, make_record, make_request_value

GOOD = make_record("r1", "SessionFact", "The build runs.")


def with_record(**changes: object) -> Json:
    """Build a request with one changed record."""
    return make_request_value([{**GOOD, **changes}])


def with_text(text: object) -> Json:
    """Build a request with one text."""
    return with_record(payload={"text": text})


BAD_VALUES = {
    "unknown kind": (with_record(kind="Rumour"), "records[0].kind"),
    "no kind": (make_request_value([{}]), "records[0].kind"),
    "extra field": (with_record(colour="red"), "records[0].colour"),
    "extra field of a payload": (
        with_record(payload={"text": "a", "b": 1}),
        "records[0].payload.b",
    ),
    "naive time": (
        with_record(observation_time="2026-07-10T09:00:00"),
        "records[0].observation_time",
    ),
    "time as a number": (
        with_record(observation_time=1_783_674_000),
        "records[0].observation_time",
    ),
    "time outside UTC": (
        with_record(observation_time="0001-01-01T00:00:00+10:00"),
        "records[0].observation_time",
    ),
    "wrong content hash": (with_record(content_identity="0" * 64), "records[0].content_identity"),
    "wrong text hash": (with_record(normalization_hash="0" * 64), "records[0].normalization_hash"),
    "hash of another shape": (with_record(content_identity="ABC"), "records[0].content_identity"),
    "one id, two contents": (
        make_request_value([GOOD, {**GOOD, "payload": {"text": "Other."}}]),
        "records[1].record_id",
    ),
    "payload of 1 MB": (with_text("a" * 1_000_000), "records[0].payload.text"),
    "lone surrogate": (with_text("a\ud800b"), "records[0].payload.text"),
    "nothing but zero width": (with_text("\u200b\u2060\ufeff"), "records[0].payload.text"),
    "nothing but spaces": (with_text(" \n\t\u3000"), "records[0].payload.text"),
    "empty text": (with_text(""), "records[0].payload.text"),
    "text as a number": (with_text(5), "records[0].payload.text"),
    "negative budget": (
        make_request_value([GOOD], capacity={"max_tokens": -1}),
        "capacity.max_tokens",
    ),
    "no context": (
        make_request_value([GOOD], capacity={"context_tokens": 0}),
        "capacity.context_tokens",
    ),
    "negative guard": (
        make_request_value([GOOD], policy={"guard_tokens": -1}),
        "policy.guard_tokens",
    ),
    "guard as large as the context": (
        make_request_value([GOOD], policy={"guard_tokens": 2048}),
        "policy.guard_tokens",
    ),
    "unknown policy": (make_request_value([GOOD], policy="tinyloom-policy/9"), "policy"),
    "score as a fraction": (make_request_value([GOOD], scores={"r1": 0.5}), "scores.r1"),
    "id with a space": (with_record(record_id="a b"), "records[0].record_id"),
    "tombstone of nothing": (
        make_request_value([make_record("t", "Tombstone", payload={"is_deleted": True})]),
        "records[0].content_identity",
    ),
    "tombstone that deletes nothing": (
        make_request_value(
            [make_record("t", "Tombstone", payload={"is_deleted": False}, supersedes=["x"])]
        ),
        "records[0].payload.is_deleted",
    ),
    "retention without its date": (
        with_record(retention={"rule": "until"}),
        "records[0].retention",
    ),
    "no session key": (
        make_request_value([GOOD], session={"session_key": ""}),
        "session.session_key",
    ),
    "no records": ({k: v for k, v in make_request_value([]).items() if k != "records"}, "records"),
    "no object": ([], "request"),
    "a field of a fixture's request": (
        {"request": with_record(colour="red"), "expected": {}},
        "request.records[0].colour",
    ),
}


@pytest.mark.parametrize(("value", "field"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_a_bad_value_is_refused_with_its_path(value: object, field: str):
    """One line, the path of the field, and never the value itself."""
    with pytest.raises(BadRequestError) as caught:
        read_request(json.dumps(value).encode())
    assert caught.value.field == field
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400


def test_a_million_records_are_refused_before_any_is_read():
    """The count is looked at first, so that a flood costs nothing."""
    value = make_request_value([])
    text = json.dumps(value).replace(
        '"records": []', f'"records": [{",".join(["{}"] * 1_000_000)}]'
    )
    with pytest.raises(BadRequestError, match=f"at most {MOST_RECORDS} records, found 1000000"):
        read_request(text.encode())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"records": [', "expected JSON at character 13"),
        (b"\xff\xfe", "expected UTF-8, byte 0 is none"),
        (b'{"a": "\xed\xa0\x80"}', "expected UTF-8, byte 7 is none"),
        (b"[" * 100_000, "expected JSON of at most 64 levels"),
        (b'{"a": "\\ud800", "b": ' + b"[" * 100_000, "expected JSON of at most 64 levels"),
        (b"", "expected JSON at character 0"),
    ],
)
def test_bytes_that_are_no_json_are_refused(data: bytes, expected: str):
    """The place is named where there is one."""
    with pytest.raises(BadRequestError) as caught:
        read_request(data)
    assert caught.value.field == "file"
    assert expected in caught.value.message


def test_a_bare_policy_version_and_bare_scores_are_full_ones():
    """The short forms mean the table as it is, and relevance in both its parts."""
    value = make_request_value([GOOD], policy="tinyloom-policy/1", scores={"r1": 700_000})
    file = read_request(json.dumps(value).encode())
    assert isinstance(file, RequestFile)
    assert file.chosen_policy.guard_tokens is None
    assert file.full_scores["r1"].semantic_ppm == file.full_scores["r1"].lexical_ppm == 700_000


def test_a_path_leaves_out_the_names_of_union_members():
    """A reader sees the path in the file, not the one in the models."""
    location = ("records", 3, "ToolResult", "payload", "text")
    assert format_path(location) == "records[3].payload.text"
