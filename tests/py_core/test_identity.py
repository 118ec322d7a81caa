"""Canonical bytes: one value, one byte string, on every machine."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.errors import InvariantError
from py_core.identity import canonical_json, content_hash, sha256_hex, text_hash

KEYS = st.text(st.characters(codec="utf-8", max_codepoint=0x7F), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def test_keys_are_sorted_and_no_space_is_written():
    """The worked example of the docstring."""
    assert canonical_json({"b": [1, True], "a": "é"}) == b'{"a":"\xc3\xa9","b":[1,true]}'


def test_composed_and_decomposed_text_are_one():
    """NFC: both spellings of an accented letter give the same bytes and the same hash."""
    assert canonical_json("e\u0301") == canonical_json("\u00e9")
    assert text_hash("e\u0301") == text_hash("\u00e9")


@pytest.mark.parametrize(
    "value",
    [1.0, {"a": float("nan")}, b"bytes", {1: "a"}, {"\u00e9": 1, "e\u0301": 2}, "\ud800", {1, 2}],
)
def test_what_has_no_single_form_is_refused(value):
    """Floats, sets, other keys, clashing keys and lone surrogates never enter hashed data."""
    with pytest.raises(InvariantError):
        canonical_json(value)


@given(VALUES)
def test_the_order_of_keys_never_matters(value):
    """Reading the canonical text in reverse key order gives the same bytes again."""
    first = canonical_json(value)

    reversed_keys = json.loads(first, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert canonical_json(reversed_keys) == first


def test_hashes_are_sha256_of_the_canonical_bytes():
    """The published definition, checked against the standard library."""
    assert content_hash({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()
    assert sha256_hex(b"") == hashlib.sha256(b"").hexdigest()
