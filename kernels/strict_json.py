"""Parse JSON that strangers wrote, without any of the liberties that Python's reader takes.

Takes text or UTF-8 bytes. Gives plain values, or a `ValueError` with the reason.
Refused beyond what is not JSON at all: a key that stands twice, NaN and infinities, and nesting
deeper than asked for. The last must be found before the reader runs: it descends on the machine's
stack, and in the browser an overflow there ends the whole interpreter instead of raising.
"""

import json
import re

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def parse_strict_json(text: str | bytes, *, max_depth: int) -> object:
    """Return the value.

    Raises:
        ValueError: the text is not UTF-8, not JSON, too deep, or one of the refused liberties.
    """
    decoded = text if isinstance(text, str) else text.decode()
    if measure_depth(decoded) > max_depth:
        reason = f"it is nested deeper than {max_depth}"
        raise ValueError(reason)
    value: object = json.loads(decoded, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    return value


def measure_depth(text: str) -> int:
    """Return how deep brackets are nested outside strings: "[{}]" has 2, "'[['" in quotes 0."""
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        mark = text[match.start()]
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) != len(pairs):
        reason = "a key stands twice"
        raise ValueError(reason)
    return values


def _refuse_constant(name: str) -> object:
    reason = f"{name} is not JSON"
    raise ValueError(reason)
