"""What must never be kept or sent: found, named, blacked out or refused; never repeated.

Takes a text, gives findings with places and sorts, the text without the secrets, or an error that
names sorts only. Runs before anything durable and before anything outgoing. Does not know who asks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from py_core.memory.number_secrets import find_card_numbers, find_random_texts
from py_core.memory.secret_patterns import PATTERNS, SecretKind
from py_core.memory.seed_words import SEED_WORDS
from py_core.memory.spoken_secrets import find_spoken_secrets
from py_core.memory_errors import SensitiveTextError

SHORTEST_SEED_WORDS = 12
_WORDS = re.compile(r"[a-z]+")
# What `redact` has written is no secret, although a password's name may stand in front of it.
_REMOVED = re.compile("|".join(re.escape(f"[removed: {kind.value}]") for kind in SecretKind))
_BETWEEN_WORDS = re.compile(r"^[\s,.;:()\d-]{1,8}$")


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret: what it is and where it stands; not the secret."""

    kind: SecretKind
    rule: str
    begin: int
    end: int


def scan(text: str) -> tuple[Finding, ...]:
    """Find all secrets, first to last, overlapping ones joined under the first that was found."""
    removed = [match.span() for match in _REMOVED.finditer(text)]
    ordered = sorted(
        (finding for finding in _find_all(text) if not _touches(finding, removed)),
        key=lambda finding: (finding.begin, -finding.end),
    )
    joined: list[Finding] = []
    for finding in ordered:
        if joined and finding.begin < joined[-1].end:
            last = joined[-1]
            end = max(last.end, finding.end)
            joined[-1] = Finding(last.kind, last.rule, last.begin, end)
        else:
            joined.append(finding)
    return tuple(joined)


def redact(text: str) -> str:
    """Replace each secret by what it was.

    Example:
        "my PIN is 4711." becomes "my PIN is [removed: a password]."
    """
    parts, position = [], 0
    for finding in scan(text):
        parts += [text[position : finding.begin], f"[removed: {finding.kind.value}]"]
        position = finding.end
    return "".join([*parts, text[position:]])


def require_clean(*texts: str) -> None:
    """Refuse texts that hold a secret.

    Raises:
        SensitiveTextError: with the sorts and how many there are.
    """
    findings = [finding for text in texts for finding in scan(text)]
    if findings:
        kinds = sorted({finding.kind.value for finding in findings})
        # `from None`: no chain may carry a text along.
        raise SensitiveTextError(found=", ".join(kinds), count=len(findings)) from None


def _touches(finding: Finding, places: list[tuple[int, int]]) -> bool:
    return any(begin < finding.end and finding.begin < end for begin, end in places)


def _find_all(text: str) -> Iterator[Finding]:
    for shape in PATTERNS:
        for match in shape.pattern.finditer(text):
            group = match.lastindex or 0
            yield Finding(shape.kind, shape.name, *match.span(group))
    for place in find_card_numbers(text):
        yield Finding(SecretKind.CARD_NUMBER, "luhn", *place)
    for place in _find_seed_phrases(text):
        yield Finding(SecretKind.SEED_PHRASE, "bip39", *place)
    for place in find_spoken_secrets(text):
        yield Finding(SecretKind.PASSWORD, "spoken", *place)
    for place in find_random_texts(text):
        yield Finding(SecretKind.RANDOM_TEXT, "entropy", *place)


def _find_seed_phrases(text: str) -> Iterator[tuple[int, int]]:
    """Give runs of twelve and more words of the list, also numbered or separated by commas."""
    run: list[re.Match[str]] = []
    for word in _WORDS.finditer(text.lower()):
        is_next = not run or _BETWEEN_WORDS.match(text[run[-1].end() : word.start()])
        if word.group() not in SEED_WORDS or not is_next:
            if len(run) >= SHORTEST_SEED_WORDS:
                yield (run[0].start(), run[-1].end())
            run = []
        if word.group() in SEED_WORDS:
            run.append(word)
    if len(run) >= SHORTEST_SEED_WORDS:
        yield (run[0].start(), run[-1].end())
