"""What is no request comes back as an error with the id it can be answered under."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.bridge.messages import UNREADABLE_ID, ChatSend
from py_core.bridge.parse_request import Refused, parse_request
from py_core.errors import InvalidSettingError, TinyloomError

SEND = {"v": 1, "id": 7, "kind": "chat.send", "payload": {"text": "hi"}}


def refuse(message) -> Refused:
    """Parse what must be refused; anything but text is written as JSON first."""
    text = message if isinstance(message, str) else json.dumps(message)
    parsed = parse_request(text)
    assert isinstance(parsed, Refused)
    return parsed


def test_a_good_message_becomes_a_typed_request():
    """Defaults are filled in once, at the border."""
    parsed = parse_request(json.dumps(SEND))

    assert isinstance(parsed, ChatSend)
    assert parsed.payload.settings.temperature == 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"kind": "chat.sing"}, "unknown_kind"),
        ({"kind": 5}, "bad_message"),
        ({"v": 2}, "wrong_version"),
        ({"v": "1"}, "wrong_version"),
        ({"payload": {}}, "bad_message"),
        ({"payload": {"text": 5}}, "bad_message"),
        ({"payload": {"text": "hi", "more": 1}}, "bad_message"),
        ({"payload": {"text": "\ud800"}}, "invalid_text"),
        ({"payload": {"text": "hi", "settings": {"top_p": 0}}}, "invalid_setting"),
        ({"payload": {"text": "hi", "settings": {"temperature": "0"}}}, "invalid_setting"),
        ({"payload": {"text": "hi", "settings": {"max_tokens": 0}}}, "invalid_setting"),
        ({"payload": {"text": "hi", "settings": 5}}, "bad_message"),
    ],
)
def test_a_wrong_part_is_refused_under_the_same_id(change, code):
    """Unknown kind, wrong version, bad payload: an error reply with the id of the message."""
    refused = refuse(SEND | change)

    assert refused.request_id == 7
    assert refused.error.code == code


@pytest.mark.parametrize(
    "message",
    ["", "{", "[]", "5", "null", "[" * 100_000, '{"id": true}', '{"id": 0}', '{"id": -1}'],
)
def test_without_a_readable_id_the_reply_goes_to_id_0(message):
    """Silence is a bug, even for noise."""
    assert refuse(message).request_id == UNREADABLE_ID


def test_brackets_in_a_text_are_text():
    """Depth is counted outside of strings only, escaped quotes included."""
    text = '[{"\\' * 1000

    parsed = parse_request(json.dumps(SEND | {"payload": {"text": text}}))

    assert isinstance(parsed, ChatSend)
    assert parsed.payload.text == text


def test_a_setting_is_named_by_its_field():
    """The page can put the sentence beside the control."""
    error = refuse(SEND | {"payload": {"text": "hi", "settings": {"top_k": 2000}}}).error

    assert isinstance(error, InvalidSettingError)
    assert error.field == "top_k"


def test_the_value_of_a_field_is_never_repeated():
    """An error reply leaks no text of the message."""
    error = refuse(SEND | {"payload": {"text": ["secret words"]}}).error

    assert "secret" not in error.message
    assert "secret" not in json.dumps(error.details)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_json_is_either_a_request_or_refused_with_an_error_of_ours(value):
    """Parsing never raises."""
    message = SEND | {"payload": value}

    parsed = parse_request(json.dumps(message))

    assert not isinstance(parsed, Refused) or isinstance(parsed.error, TinyloomError)
