"""Text forms do not depend on the Unicode version of the Python that runs them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.unicode_14 import list_boundaries
from py_core.unicode_text import (
    collapse_spaces,
    drop_invisible,
    fold_case,
    has_visible_text,
    normalise,
    plain_form,
)

# A letter of Unicode 16 with a decomposition: known to the browser's Python, not to older ones.
YOUNG = "\U000105c9"
YOUNG_PARTS = "\U000105d2\u0307"


def is_assigned(code: int) -> bool:
    """Look a code point up in the committed table."""
    boundaries = list_boundaries()
    return sum(1 for boundary in boundaries if boundary <= code) % 2 == 1


def test_the_table_holds_what_unicode_14_assigns():
    """Every Python knows at least these; the oldest supported one knows exactly these."""
    boundaries = list_boundaries()
    ranges = list(zip(boundaries[0::2], [*boundaries[1::2]], strict=True))
    assigned = {code for first, last in ranges for code in range(first, last)}
    known = {code for code in range(0x110000) if unicodedata.category(chr(code)) != "Cn"}
    assert assigned <= known
    if unicodedata.unidata_version == "14.0.0":
        assert assigned == known


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_younger_letters_pass_unchanged(form):
    """A newer Python would compose these two; here nobody does."""
    assert (
        normalise(form, f"cafe\u0301 {YOUNG_PARTS} {YOUNG}") == f"caf\u00e9 {YOUNG_PARTS} {YOUNG}"
    )


@given(st.text(st.characters(codec="utf-8")))
def test_text_of_unicode_14_is_normalised_as_python_does(text):
    """For assigned code points the result is the standard one."""
    old = "".join(character for character in text if is_assigned(ord(character)))
    assert normalise("NFC", old) == unicodedata.normalize("NFC", old)
    assert normalise("NFKC", old) == unicodedata.normalize("NFKC", old)
    assert fold_case(old) == old.casefold()


@given(st.text(st.characters(codec="utf-8")))
def test_the_plain_form_is_a_fixed_point(text):
    """Normalising twice is normalising once."""
    assert plain_form(plain_form(text)) == plain_form(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\u2028d", "a b c d"),
        ("  a \t b  ", "a b"),
        ("a\u00a0\u3000b", "a b"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("soft\u00adhyphen \U000e0041tag", "softhyphen tag"),
    ],
)
def test_plain_form_examples(text, expected):
    """Layout and what cannot be seen do not make a difference."""
    assert plain_form(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\u2060 \u3000\n", "\U000e0020", "\u202e"])
def test_nothing_visible_is_nothing(text):
    """A text that a reader cannot see counts as none."""
    assert not has_visible_text(text)
    assert plain_form(text) == ""


def test_lone_surrogates_survive():
    """They are refused at the edge; here they must not break anything."""
    assert collapse_spaces(drop_invisible(normalise("NFC", "a\ud800 b"))) == "a\ud800 b"
