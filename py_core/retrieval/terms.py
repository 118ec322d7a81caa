"""The terms by which texts are found: stems of content words, pairs of CJK characters.

Takes a text, gives its terms in order. The same function reads records and questions, so its
identity is part of a stored index. Stems are those of the `snowballstemmer` package (English).
Does not know frequencies.
"""

import re
from functools import lru_cache
from typing import Final

import snowballstemmer

from py_core.retrieval.exact_strings import find_exact_strings
from py_core.retrieval.stop_words import STOP_WORDS
from py_core.retrieval.word_forms import find_plain_form
from py_core.unicode_text import WORD, drop_invisible, fold_case, normalise

TERMS_IDENTITY: Final = "tinyloom-terms/1 snowball-english"
EXACT_MARK: Final = "="
"""Stands before an exact string, so that it never meets a stem."""

LONGEST_TEXT_CHARS = 65_536
"""A longer text is indexed by its beginning: 1 MB of text is no better found than 64 KB."""

_CACHED_STEMS = 65_536
_POSSESSIVE = re.compile("['\u2019]s\\b")
_APOSTROPHES = re.compile("['\u2019]")
_SCRIPT_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")

_stemmer = snowballstemmer.stemmer("english")


def list_terms(text: str) -> list[str]:
    """Give the stems of all words that are no stop words.

    Example:
        "When did Ann's children go running?" gives ann, child, go, run.
    """
    return [
        term for word in list_words(text) if word not in STOP_WORDS for term in _split_script(word)
    ]


def list_words(text: str) -> list[str]:
    """Give the words in lower case, without possessive endings."""
    readable = drop_invisible(normalise("NFKC", text[:LONGEST_TEXT_CHARS]))
    folded = _POSSESSIVE.sub("", fold_case(readable))
    return WORD.findall(_APOSTROPHES.sub(" ", folded))


def list_exact_terms(text: str) -> list[str]:
    """Give the exact strings of a text as terms of their own kind."""
    return [f"{EXACT_MARK}{name}" for name in find_exact_strings(text[:LONGEST_TEXT_CHARS])]


@lru_cache(maxsize=_CACHED_STEMS)
def stem(word: str) -> str:
    """Give the stem of a lower-case word."""
    plain = find_plain_form(word)
    return str(_stemmer.stemWord(plain)) if plain.isascii() else plain


def _split_script(word: str) -> list[str]:
    """Cut runs of a script that puts no spaces between words into overlapping pairs."""
    if word.isascii() or not _SCRIPT_WITHOUT_SPACES.search(word):
        return [stem(word)]
    terms = [stem(part) for part in _SCRIPT_WITHOUT_SPACES.split(word) if part]
    for run in _SCRIPT_WITHOUT_SPACES.findall(word):
        terms += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return terms
