"""Claims about the user are words of the text, and lists cannot be contradicted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.memory.claims import read_claims
from py_core.unicode_text import plain_form


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My favourite colour is blue and I live in Lisbon.",
         {("favourite_colour", "blue", False), ("home", "Lisbon", False)}),
        ("I prefer Rust for systems work", {("preference.systems_work", "Rust", False)}),
        ("I prefer tea to coffee", {("preference", "tea", True)}),
        ("I'm allergic to nuts, and I speak Dutch",
         {("allergy", "nuts", True), ("language", "Dutch", True)}),
        ("My name is Ada.", {("name", "Ada", False)}),
        ("I am 40 years old", {("age", "40", False)}),
        ("my question is how this works", set()),
        ("The weather is fine", set()),
    ],
)  # fmt: skip
def test_a_sentence_in_the_first_person_makes_claims(text, claims):
    """Slot, value, and whether more than one value can be true."""
    assert {(fact.slot, fact.value, fact.is_list) for fact in read_claims(text)} == claims


@given(st.text(alphabet="abcI ., liven my is prefer am", max_size=80))
def test_no_claim_is_invented(text):
    """Every value stands in the text."""
    for fact in read_claims(text):
        assert fact.value in plain_form(text)
