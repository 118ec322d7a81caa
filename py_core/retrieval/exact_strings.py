"""Strings that matter letter by letter: paths, branches, ids, versions, symbols, error names.

Takes a text, gives such strings folded to lower case. Does not know which of them exist: the
index does. A word of letters alone is never one, unless its case has an inner step (`fitBudget`).
"""

import re

from py_core.unicode_text import fold_case

MOST_STRINGS = 64
_LONGEST = 128
_SHORTEST = 3

_QUOTED = re.compile(r"`([^`\n]{2,128})`|\"([^\"\n]{2,64})\"")
_TOKEN = re.compile(r"[A-Za-z0-9_./\\:@#$+-]{3,128}")
_EDGE = "./:\\@#$+-_"
_JOINED = re.compile(r"[A-Za-z0-9][_./\\:@#+-]+[A-Za-z0-9]")
_INNER_STEP = re.compile(r"[a-z][A-Z]")
_LETTERS_AND_DIGITS = re.compile(r"[A-Za-z]+[0-9]|[0-9]+[A-Za-z]")
_PLAIN_HYPHENS = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th|am|pm|s)", re.IGNORECASE)


def find_exact_strings(text: str) -> tuple[str, ...]:
    """List what looks like a name that a machine gave, each once, in order.

    Example:
        "why does src/app.py fail on branch fix-42?" gives src/app.py and fix-42.
    """
    found: dict[str, None] = {}
    for token in _TOKEN.findall(text):
        core = token.strip(_EDGE)
        if _is_exact(core):
            found[fold_case(core)] = None
        if len(found) >= MOST_STRINGS:
            break
    return tuple(found)


def find_quoted(text: str) -> tuple[str, ...]:
    """List what stands in quotation marks or backticks: words that the user wants as they are."""
    return tuple(dict.fromkeys(fold_case(a or b).strip() for a, b in _QUOTED.findall(text)))


def _is_exact(token: str) -> bool:
    if token.isalpha() and (token.islower() or token[1:].islower()):
        return False  # an ordinary word, the commonest case by far
    if not _SHORTEST <= len(token) <= _LONGEST or _ORDINAL.fullmatch(token):
        return False
    if _PLAIN_HYPHENS.fullmatch(token):
        return False  # ordinary compounds: well-known, long-term
    return bool(
        _JOINED.search(token) or _INNER_STEP.search(token) or _LETTERS_AND_DIGITS.search(token)
    )
