"""The one kind of Range header that a resumed download needs.

Takes the header and the size of the whole; gives the part wanted. Several ranges in one request
are answered with the whole, which the standard allows.
"""

import re
from typing import Final

_SINGLE: Final = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


class UnsatisfiableRangeError(Exception):
    """The range lies outside the bytes."""


def parse_range(header: str | None, size: int) -> range | None:
    """Read a Range header; None means the whole.

    Example: of 10 bytes, `bytes=7-` is range(7, 10), `bytes=-4` is range(6, 10).

    Raises:
        UnsatisfiableRangeError: the range begins at or after the end.

    Source: RFC 9110, sections 14.1.2 and 14.2.
    """
    match = _SINGLE.fullmatch(header.strip()) if header else None
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        wanted = range(max(0, size - int(last)), size)
    elif last and int(last) < int(first):
        return None
    else:
        wanted = range(int(first), min(int(last) + 1, size) if last else size)
    if not wanted:
        raise UnsatisfiableRangeError(header)
    return wanted
