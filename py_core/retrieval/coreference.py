"""What "it" and "that project" stand for, found in the turns before.

Takes a message and earlier messages, newest last; gives what was meant for each expression that
points back. Rules only: the newest mention of that kind of thing, or for "it" the newest thing
that was asked about. Nothing found leaves the message as it is. Does not know records.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from py_core.retrieval.exact_strings import find_exact_strings
from py_core.retrieval.noun_phrases import find_names, find_phrases

MOST_TURNS = 6
_POINTER = re.compile(r"\b(?:that|this|the same|those|these) ([a-z]{3,24})\b", re.IGNORECASE)
_PRONOUN = re.compile(
    r"\b(?:it|its|that one|this one|them|they|he|she|his|her|him|there)\b", re.IGNORECASE
)
_PEOPLE = frozenset(["he", "she", "his", "her", "him", "they", "them"])
_NO_KINDS = frozenset(
    [
        "time",
        "way",
        "day",
        "week",
        "month",
        "year",
        "one",
        "is",
        "was",
        "are",
        "were",
        "does",
        "did",
        "has",
        "had",
        "would",
        "could",
        "should",
        "will",
        "can",
        "not",
        "and",
        "but",
        "for",
        "with",
        "thing",
        "case",
        "point",
        "morning",
        "evening",
        "night",
        "weekend",
    ]
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """One expression and what it was taken for."""

    expression: str
    meaning: str


def resolve(message: str, earlier: Sequence[str]) -> tuple[Resolution, ...]:
    """Resolve what points back; at most one meaning for each expression.

    Example:
        after "Project Atlas is late", "who owns that project?" resolves to "Project Atlas".
    """
    recent = [text for text in earlier[-MOST_TURNS:] if text.strip()][::-1]
    found: dict[str, Resolution] = {}
    for match in _POINTER.finditer(message):
        kind = match[1].lower()
        if kind in _NO_KINDS:
            continue
        meaning = _find_of_kind(kind, recent)
        if meaning:
            found.setdefault(match[0].lower(), Resolution(match[0], meaning))
    pronoun = _PRONOUN.search(message)
    if pronoun is not None and not found and not find_names(message):
        meaning = _find_topic(recent, wants_person=pronoun[0].lower() in _PEOPLE)
        if meaning:
            found[pronoun[0].lower()] = Resolution(pronoun[0], meaning)
    return tuple(found.values())


def _find_of_kind(kind: str, recent: Sequence[str]) -> str:
    """Find the newest name beside this noun: "Project Atlas", "atlas project", "project: atlas"."""
    word = re.escape(kind)
    before = re.compile(rf"\b((?:[A-Z][\w-]*\s){{1,3}}){word}\b")
    after = re.compile(
        rf"\b{word}(?:\s+(?:is|called|named))?[:=\s]+[\"'`]?([A-Z][\w.-]*(?:\s[A-Z][\w-]*)*)"
    )
    either = re.compile(rf"\b{word}[:=]\s*([\w.-]+)|\b{word}\s+([A-Z][\w.-]*)", re.IGNORECASE)
    for text in recent:
        for pattern in (after, before, either):
            matches = list(pattern.finditer(text))
            if matches:
                meaning = next((g for g in matches[-1].groups() if g), "").strip()
                if meaning and meaning.lower() not in _NO_KINDS:
                    return meaning if kind in meaning.lower() else f"{kind} {meaning}"
    return ""


def _find_topic(recent: Sequence[str], *, wants_person: bool) -> str:
    for text in recent:
        names = find_names(text)
        if names:
            return names[-1]
        if wants_person:
            continue
        exact = find_exact_strings(text)
        if exact:
            return exact[-1]
        phrases = find_phrases(text)
        if phrases:
            return max(phrases, key=lambda phrase: (len(phrase.split()), len(phrase)))
    return ""
