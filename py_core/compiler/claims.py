"""Which claims a text makes: slots and values that two records can disagree about.

Takes a text or a candidate, gives facts. Only three shapes are read (key=value, key: value, one
short sentence "X is Y"), because a claim that was guessed would hide a record that is right.
Nothing is invented: slot and value are words of the text. Does not know tiers.
"""

import re
from functools import lru_cache

from py_core.compiler.candidate import Candidate
from py_core.records.fields import LARGEST_VALUE_CHARS, Fact
from py_core.records.kinds import RoleTaggedMessage, UntrustedContentBlock
from py_core.unicode_text import fold_case, plain_form

# After a colon only a short value counts: "Note: ..." begins many sentences.
_PAIR = re.compile(
    r"[-*]? ?([A-Za-z0-9][A-Za-z0-9_.-]{0,63})(?: ?= ?([^=\n]{1,300})|: ([^=:\n]{1,40}))"
)
_SENTENCE = re.compile(
    r"(the |my |our |your |user's )?([A-Za-z][A-Za-z0-9 _-]{1,40}?) (?:is|are) (?:now )?"
    r"([^.!?\n]{1,120})[.!]?",
    re.IGNORECASE | re.ASCII,
)
_NO_SUBJECTS_TEXT = (
    "it this that there here he she they we you i what who which where when how why one"
)
_NO_SUBJECTS = frozenset(_NO_SUBJECTS_TEXT.split())
_MOST_WORDS = 4
_LONGEST_SENTENCE = 180
_CACHED_TEXTS = 4_096


def list_claims(candidate: Candidate) -> tuple[Fact, ...]:
    """Give the claims of a candidate: those that came with it, else those its text spells out.

    Quoted text is an object and claims nothing; neither does what the model itself once said.
    """
    record = candidate.record
    if isinstance(record, UntrustedContentBlock) or candidate.is_acting:
        return ()
    if candidate.facts:
        return candidate.facts
    if isinstance(record, RoleTaggedMessage) and record.payload.role == "assistant":
        return ()
    return read_claims(candidate.plain_text)


@lru_cache(maxsize=_CACHED_TEXTS)
def read_claims(plain_text: str) -> tuple[Fact, ...]:
    """Read a text that consists of nothing but claims; any other text makes none.

    Example:
        read_claims("target: cpu; os=linux") gives target=cpu and os=linux.
    """
    if "=" in plain_text or ": " in plain_text:
        parts = [part.strip() for part in plain_text.split(";") if part.strip()]
        pairs = [_PAIR.fullmatch(part) for part in parts]
        if parts and all(pairs):
            return tuple(_make_fact(pair[1], pair[2] or pair[3]) for pair in pairs if pair)
    if len(plain_text) > _LONGEST_SENTENCE:
        return ()
    sentence = _SENTENCE.fullmatch(plain_text)
    if sentence is None or not _names_something(sentence[2]):
        return ()
    owner, name = (sentence[1] or "").lower(), "_".join(sentence[2].split())
    # "My name is Ada" and a record about the user that says "Name is Ada" speak of one slot.
    slot = f"user.{name}" if owner in {"my ", "user's "} else name
    return (_make_fact(slot, sentence[3]),)


def name_slot(candidate: Candidate, fact: Fact) -> str:
    """Give the full name of a slot: the record's subject goes before a slot without a dot."""
    subject = _spell_subject(candidate.record.subject)
    return fact.slot if "." in fact.slot or not subject else f"{subject}.{fact.slot}"


@lru_cache(maxsize=_CACHED_TEXTS)
def _spell_subject(subject: str) -> str:
    return fold_case(plain_form(subject)).replace(" ", "_")


@lru_cache(maxsize=_CACHED_TEXTS)
def compare_form(value: str) -> str:
    """Give the form in which two values are the same."""
    return fold_case(plain_form(value)).rstrip(".!,;: ")


def _names_something(words: str) -> bool:
    names = words.lower().split()
    return 0 < len(names) <= _MOST_WORDS and not _NO_SUBJECTS.intersection(names)


def _make_fact(slot: str, value: str) -> Fact:
    return Fact(slot=slot.lower(), value=value.strip()[:LARGEST_VALUE_CHARS])
