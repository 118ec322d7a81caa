"""One JSON text from the page in, one typed request out, or an error that can be replied.

Takes text that nobody has looked at, gives a request with everything in it checked. Does not know
what requests do.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from py_core.bridge.message_shape import LARGEST_PAGE_INTEGER
from py_core.bridge.messages import (
    PROTOCOL_VERSION,
    REQUEST_KINDS,
    UNREADABLE_ID,
    Fault,
    PageRequest,
    read_request,
)
from py_core.errors import (
    BadMessageError,
    InvalidSettingError,
    InvalidTextError,
    TinyloomError,
    UnknownKindError,
    WrongVersionError,
)

MOST_CONTAINERS = 16
"""Objects and arrays in one message; the largest request has twelve, with all its attachments."""

# A string may lack its end here: then the rest of the text is taken, so the search stays linear.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that is no request, with the id that its error reply carries."""

    request_id: int
    error: TinyloomError


def parse_request(text: str) -> PageRequest | Refused:
    """Parse and validate; what the page got wrong comes back as a value."""
    raw = _read_json(text)
    if not isinstance(raw, dict):
        return Refused(UNREADABLE_ID, BadMessageError(field="message", expected="a JSON object"))
    request_id = _read_id(raw)
    error = _find_envelope_error(raw, request_id)
    if error is not None:
        return Refused(request_id, error)
    parsed = read_request(text)
    if isinstance(parsed, Fault):
        return Refused(request_id, _describe(parsed))
    return parsed


def _read_json(text: str) -> object:
    """Read JSON; None for what is none, and for what is nested like no message.

    The depth is looked at first: the browser's Python does not survive a parser that runs out of
    stack, where CPython raises RecursionError.
    """
    outside_of_strings = _STRING.sub("", text)
    if outside_of_strings.count("[") + outside_of_strings.count("{") > MOST_CONTAINERS:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read_id(raw: Mapping[str, object]) -> int:
    value = raw.get("id")
    if isinstance(value, bool) or not isinstance(value, int):
        return UNREADABLE_ID
    return value if 1 <= value <= LARGEST_PAGE_INTEGER else UNREADABLE_ID


def _find_envelope_error(raw: Mapping[str, object], request_id: int) -> TinyloomError | None:
    if request_id == UNREADABLE_ID:
        return BadMessageError(field="id", expected="an integer from 1 on")
    if raw.get("v") != PROTOCOL_VERSION:
        return WrongVersionError(expected=PROTOCOL_VERSION)
    kind = raw.get("kind")
    if not isinstance(kind, str):
        return BadMessageError(field="kind", expected="text")
    if kind not in REQUEST_KINDS:
        return UnknownKindError(kind=kind.encode("ascii", "replace").decode("ascii"))
    if not _is_writable(raw):
        return InvalidTextError(field="payload", expected="it holds half of a character pair")
    return None


def _is_writable(raw: Mapping[str, object]) -> bool:
    """Tell whether all text can be written as UTF-8; lone surrogates cannot."""
    try:
        json.dumps(raw, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _describe(fault: Fault) -> TinyloomError:
    # The first part of the path is the kind, which the discriminator puts in front.
    path = [str(part) for part in fault.path[1:]]
    if path[:2] == ["payload", "settings"] and len(path) > len(["payload", "settings"]):
        return InvalidSettingError(field=path[-1], expected=fault.expected)
    return BadMessageError(field=".".join(path) or "message", expected=fault.expected)
