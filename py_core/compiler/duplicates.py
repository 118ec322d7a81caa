"""Records that say the same thing: equal after normalisation, or nearly the same words.

Takes candidates strongest first, gives for each one that repeats a stronger one the id of that
one. Near duplicates must agree in every number, every negation and every claim: "port 8080" and
"port 8081" are two facts. Does not know tiers.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from py_core.compiler.candidate import Candidate
from py_core.compiler.claims import compare_form, list_claims
from py_core.records.fields import LARGEST_PPM
from py_core.unicode_text import WORD, fold_case

_NEGATIONS_TEXT = (
    "no not never none nor neither without cannot cant dont doesnt didnt isnt arent wasnt werent "
    "wont wouldnt shouldnt t"
)
_NEGATIONS = frozenset(_NEGATIONS_TEXT.split())
_ENDINGS = ("ing", "edly", "ed", "es", "s", "ly")
_SHORTEST_STEM = 3
_FEWEST_WORDS = 3
_CACHED_TEXTS = 8_192
_CACHED_WORDS = 65_536
_NUMBER = re.compile(r"[0-9]+[0-9a-z]*")

Lemmas = frozenset[str]


def find_exact(candidates: Sequence[Candidate]) -> dict[str, str]:
    """Give id to id of the stronger record with the same normalised text."""
    first: dict[str, str] = {}
    repeats: dict[str, str] = {}
    for candidate in candidates:
        key = candidate.record.normalization_hash or candidate.record_id
        owner = first.setdefault(key, candidate.record_id)
        if owner != candidate.record_id:
            repeats[candidate.record_id] = owner
    return repeats


@dataclass(frozen=True, slots=True)
class Words:
    """The word stems of a text, and two choices among them."""

    lemmas: Lemmas
    longest_first: tuple[str, ...]
    """All of them in one order that every text has in common; long words are rare ones."""

    telling: Lemmas
    """Numbers and negations: a difference in them is a difference in meaning."""


@dataclass(frozen=True, slots=True)
class _Entry:
    candidate: Candidate
    words: Words


def find_near(candidates: Sequence[Candidate], jaccard_ppm: int, looks: int) -> dict[str, str]:
    """Give id to id of the stronger record that says it in nearly the same words.

    Two sets that overlap by the share `jaccard_ppm` have a word in common among the first few of
    any common order, so only records that share such a word are compared, and at most `looks` for
    each word.
    """
    # Records that differ in a number or a negation are never compared at all.
    shelves: dict[tuple[Lemmas, str], list[_Entry]] = {}
    repeats: dict[str, str] = {}
    for candidate in candidates:
        words = split_words(candidate.plain_text)
        size = len(words.lemmas)
        if size < _FEWEST_WORDS:
            continue
        entry = _Entry(candidate, words)
        first_few = size + 1 + -size * jaccard_ppm // LARGEST_PPM
        keys = [(words.telling, word) for word in words.longest_first[:first_few]]
        owner = _find_owner(entry, (shelves.get(key, []) for key in keys), jaccard_ppm)
        if owner is not None:
            repeats[candidate.record_id] = owner.record_id
            continue
        for key in keys:
            shelf = shelves.setdefault(key, [])
            if len(shelf) < looks:
                shelf.append(entry)
    return repeats


def _find_owner(
    entry: _Entry, shelves: Iterable[list[_Entry]], jaccard_ppm: int
) -> Candidate | None:
    for shelf in shelves:
        for other in shelf:
            is_near = _overlaps(entry.words.lemmas, other.words.lemmas, jaccard_ppm)
            if is_near and _claims_agree(entry.candidate, other.candidate):
                return other.candidate
    return None


@lru_cache(maxsize=_CACHED_TEXTS)
def split_words(plain_text: str) -> Words:
    """Split a text into its words."""
    folded = fold_case(plain_text)
    lemmas = frozenset(map(_stem, WORD.findall(folded)))
    ordered = sorted(sorted(lemmas), key=len, reverse=True)
    telling = frozenset(_NUMBER.findall(folded)) | (lemmas & _NEGATIONS)
    return Words(lemmas, tuple(ordered), telling)


def lemmatise(plain_text: str) -> Lemmas:
    """Give the set of word stems of a text; numbers stay as they are."""
    return split_words(plain_text).lemmas


@lru_cache(maxsize=_CACHED_WORDS)
def _stem(word: str) -> str:
    if not word.isascii() or word[0].isdigit():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _overlaps(one: Lemmas, other: Lemmas, jaccard_ppm: int) -> bool:
    shared = len(one & other)
    return shared * LARGEST_PPM >= jaccard_ppm * (len(one) + len(other) - shared)


def _claims_agree(one: Candidate, other: Candidate) -> bool:
    mine = {fact.slot: compare_form(fact.value) for fact in list_claims(one)}
    return all(
        mine.get(fact.slot, compare_form(fact.value)) == compare_form(fact.value)
        for fact in list_claims(other)
    )
