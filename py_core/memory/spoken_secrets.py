"""Passwords and the like that have no shape: known by the words around them.

Takes a text, gives the places of values that are named as a secret. A value after a sign of
assignment needs a look of its own only where ordinary words could stand; a value in a sentence
counts when nothing but the end of the clause follows it. Does not know patterns of issuers.
"""

import re
from collections.abc import Iterator

_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|kennwort|passwort|pin(?: code)?|secret(?:[_ -]?key)?|"
    r"(?:api|access|auth|private|encryption|signing|client|account|master|license)"
    r"[_ -]?(?:key|token|secret|code)|token|credentials?|cvv|cvc|otp)"
)
_ASSIGNED = re.compile(
    rf"(?<![A-Za-z])[\w.-]{{0,40}}?{_NAME}[\"'\]]{{0,2}}\s{{0,3}}(?::=|=>|->|==|=|:)\s{{0,3}}"
    r"(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|`([^`\n]{3,200})`|([^\s,;\"'`]{3,200}))",
    re.IGNORECASE,
)
# The secret of good bread is time: the bare word is no name in a sentence.
_SAID = re.compile(
    rf"(?<![A-Za-z])(?!secret\b(?! (?:key|token|code))){_NAME}"
    r"(?: (?:for|of|to|on|at) [^.,;:\n]{1,40}?)? "
    r"(?:is|was|ist|lautet|are|set to|changed to)(?: now| still)?:? "
    r"(?:\"([^\"\n]{3,80})\"|'([^'\n]{3,80})'|`([^`\n]{3,80})`|(\S{3,80}))"
    r"(?=\s*(?:$|[.,;!?)\n\u2013-]|and\b|but\b|so\b|please\b|for\b|und\b))",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER_NAME = re.compile(r"pin|cvv|cvc|otp|code", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"^(?:[*•x.#?_-]+|<.*|\$.*|%.*|\{.*|\[.*|\(.*|your[_-].*|my[_-].*|example.*|placeholder|"
    r"change[_-]?me|redacted.*|todo|none|null|nil|true|false|undefined|empty|string|str|bytes|int|"
    r"required|optional|os\.environ.*|process\.env.*|getenv.*|env\..*|self\..*|settings\..*|"
    r"config\..*|input\(.*|len\(.*)$",
    re.IGNORECASE,
)
_CALL = re.compile(r"^[A-Za-z_][\w.]*\(")
_WORD_ONLY = re.compile(r"^[A-Za-z]+(?:[-'][A-Za-z]+)*[.,;:!?)]*$")

# Words that say something about a password instead of being one.
_ABOUT_LIST = """
    required wrong correct incorrect invalid valid expired missing needed empty unknown the a an in
    not too very stored kept saved written reset changed rotated revoked hidden secret safe strong
    weak short long old new different same case on at with by from to optional mandatory private
    public shared used unique hashed encrypted never always still only also my your our their his
    her its this that what where when who how why because if and or but so being going about enough
    important good bad fine ok okay gone lost forgotten unchanged ready okay sensitive set due up
    down out there here one something nothing anything valid broken leaked compromised
    displayed shown printed masked visible checked verified accepted rejected ignored deprecated
    bound signed issued refreshed cached generated random falsch richtig abgelaufen sicher
"""
_ABOUT = frozenset(_ABOUT_LIST.split())
SHORTEST_VALUE_CHARS = 4


def find_spoken_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Give begin and end of each value that a name in front calls a secret."""
    for match in _ASSIGNED.finditer(text):
        place = _find_value(match)
        if place and _is_assigned_secret(match, text[slice(*place)]):
            yield place
    for match in _SAID.finditer(text):
        place = _find_value(match)
        if place and _is_said_secret(match, text[slice(*place)]):
            yield place


def _find_value(match: re.Match[str]) -> tuple[int, int] | None:
    for group in range(1, (match.lastindex or 0) + 1):
        value = match.group(group)
        if value is not None:
            # What ends the sentence is no part of the secret.
            return match.start(group), match.start(group) + len(value.rstrip(".,;:"))
    return None


def _is_assigned_secret(match: re.Match[str], value: str) -> bool:
    value = value.rstrip(".,;:!?)")
    if _PLACEHOLDER.match(value) or _CALL.match(value) or value.lower() in _ABOUT:
        return False
    if len(value) < SHORTEST_VALUE_CHARS:
        return value.isdigit() and _NUMBER_NAME.search(match.group(0)) is not None
    # `password: see the safe` is a sentence, `password = swordfish` is not.
    follows = match.string[match.end() :].split("\n", 1)[0].strip(" \"'`")
    is_sentence = _WORD_ONLY.match(value) is not None and bool(re.match(r"[a-z]{2,} ?", follows))
    return not is_sentence or match.lastindex != len(match.groups())


def _is_said_secret(match: re.Match[str], value: str) -> bool:
    value = value.rstrip(".,;:!?)")
    if len(value) < SHORTEST_VALUE_CHARS:
        return value.isdigit() and _NUMBER_NAME.search(match.group(0)) is not None
    return value.lower() not in _ABOUT and not _PLACEHOLDER.match(value)
