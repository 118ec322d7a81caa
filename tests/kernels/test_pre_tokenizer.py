"""Words are cut as the published pattern cuts them, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.pre_tokenizer import split_words

# Unassigned code points may be letters by now in the other table.
LETTERS = st.characters(exclude_categories=["Cs", "Cn"])
TEXTS = st.text(LETTERS, max_size=60) | st.text("ab 1'\n\t\u00a0\u00e9\u0301\u00bd", max_size=60)

PUBLISHED_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

CASES = [
    ("it's 42", ["it", "'s", " ", "4", "2"]),
    ("Hello world", ["Hello", " world"]),
    ("a  b", ["a", " ", " b"]),
    ("a \n b", ["a", " \n", " b"]),
    ("end.  ", ["end", ".", "  "]),
    ("x=10;", ["x", "=", "1", "0", ";"]),
    ("DON'T don't", ["DON", "'", "T", " don", "'t"]),
    ("\u00bd\u2167\u0663", ["\u00bd", "\u2167", "\u0663"]),
    ("a\u00a0b", ["a", "\u00a0", "b"]),
    ("a\x1cb", ["a", "\x1c", "b"]),
]


@pytest.mark.parametrize(("text", "words"), CASES)
def test_words_of_known_texts(text, words):
    """Digits one by one, contractions, one leading space, white space before a word left alone."""
    assert list(split_words(text, "smollm")) == words


@given(text=TEXTS)
def test_words_joined_are_the_text(text):
    """Nothing is lost, added or reordered by either rule."""
    assert "".join(split_words(text, "smollm")) == text
    assert "".join(split_words(text, "none")) == text


@given(text=TEXTS)
def test_words_equal_those_of_the_published_pattern(text):
    """The pattern as published, run by the `regex` package on what lies between the numbers."""
    regex = pytest.importorskip("regex")
    expected: list[str] = []
    for piece in regex.split(r"(\p{N})", text):
        expected += regex.findall(PUBLISHED_PATTERN, piece) if piece else []
    known = regex.sub(r"[\x1c-\x1f]", "", text)  # its \s takes in the four separators
    if known == text:
        assert list(split_words(text, "smollm")) == expected


def test_no_rule_keeps_the_text_whole():
    """And an empty text has no word."""
    assert list(split_words("a b 1", "none")) == ["a b 1"]
    assert list(split_words("", "none")) == []
    assert list(split_words("", "smollm")) == []
