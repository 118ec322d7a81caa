"""Records that say the same thing: equal after normalisation, or nearly the same words.

Takes candidates strongest first, gives for each one that repeats a stronger one the id of that
one. Near duplicates must agree in every number, every negation and every claim: "port 8080" and
"port 8081" are two facts. Does not know tiers.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from py_core.compiler.claims import compare_form, list_claims
from py_core.compiler.draft import Candidate
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


def find_near(candidates: Sequence[Candidate], jaccard_ppm: int, looks: int) -> dict[str, str]:
    """Give id to id of the stronger record that says it in nearly the same words.

    Two sets that overlap by the share `jaccard_ppm` have a word in common among their rarest ones,
    so only records that share such a word are compared, and at most `looks` for each word.
    """
    words = {c.record_id: lemmatise(c.plain_text) for c in candidates}
    frequency = Counter(word for found in words.values() for word in found)
    by_word: dict[str, list[Candidate]] = {}
    repeats: dict[str, str] = {}
    for candidate in candidates:
        mine = words[candidate.record_id]
        if len(mine) < _FEWEST_WORDS:
            continue
        rarest = _pick_rarest(mine, frequency, jaccard_ppm)
        owner = next(
            (
                other
                for word in rarest
                for other in by_word.get(word, ())
                if _overlaps(mine, words[other.record_id], jaccard_ppm) and _agree(candidate, other)
            ),
            None,
        )
        if owner is not None:
            repeats[candidate.record_id] = owner.record_id
            continue
        for word in rarest:
            found = by_word.setdefault(word, [])
            if len(found) < looks:
                found.append(candidate)
    return repeats


@lru_cache(maxsize=_CACHED_TEXTS)
def lemmatise(plain_text: str) -> Lemmas:
    """Give the set of word stems of a text; numbers stay as they are."""
    return frozenset(_stem(word) for word in WORD.findall(fold_case(plain_text)))


def _stem(word: str) -> str:
    if not word.isascii() or word[0].isdigit():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _pick_rarest(words: Lemmas, frequency: Counter[str], jaccard_ppm: int) -> list[str]:
    needed = -(-len(words) * jaccard_ppm // LARGEST_PPM)
    ordered = sorted(words, key=lambda word: (frequency[word], word))
    return ordered[: len(words) - needed + 1]


def _overlaps(one: Lemmas, other: Lemmas, jaccard_ppm: int) -> bool:
    shared = len(one & other)
    return shared * LARGEST_PPM >= jaccard_ppm * (len(one) + len(other) - shared)


def _agree(one: Candidate, other: Candidate) -> bool:
    return _telling_words(one) == _telling_words(other) and _claims_agree(one, other)


_NUMBER = re.compile(r"[0-9]")


def _telling_words(candidate: Candidate) -> frozenset[str]:
    words = lemmatise(candidate.plain_text)
    return frozenset(word for word in words if word in _NEGATIONS or _NUMBER.search(word))


def _claims_agree(one: Candidate, other: Candidate) -> bool:
    mine = {fact.slot: compare_form(fact.value) for fact in list_claims(one)}
    return all(
        mine.get(fact.slot, compare_form(fact.value)) == compare_form(fact.value)
        for fact in list_claims(other)
    )
