"""Text forms that come out alike under every Python, whatever its Unicode version.

Takes text, gives its normalised, folded or cleaned form; only code points of Unicode 14 are
touched, all others pass unchanged. Does not know records, hashes or why a form is wanted.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from py_core.unicode_14 import list_boundaries

LAST_CODE_POINT = 0x10FFFF

# Characters without a shape of their own: they hide text from a reader or split words unseen.
# Line feed and tab are kept, they are layout.
_INVISIBLE = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f"
    "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb"
    "\\U000e0000-\\U000e0fff"
)
INVISIBLE = re.compile(f"[{_INVISIBLE}]+")

# Spaces that are drawn; the list is written out because `\s` follows Python's own tables.
_SPACE = " \\t\\n\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000"
SPACES = re.compile(f"[{_SPACE}]+")
# Only what is not already a single plain space: most texts have nothing to replace.
_IRREGULAR_SPACES = re.compile(f"[{_SPACE}]{{2,}}|[{_SPACE[1:]}]")
_VISIBLE = re.compile(f"[^{_SPACE}{_INVISIBLE}]")
LINE_ENDS = re.compile("\r\n|\r|\x85|\u2028|\u2029")

# Letters and digits of any script, by ranges instead of `\w`. Punctuation blocks lie outside.
WORD = re.compile("[0-9A-Za-z\xaa\xb5\xba\xc0-\u1fff\u2c00-\u2dff\u3040-\ud7ff\uf900-\U000dffff]+")

NormalForm = Literal["NFC", "NFKC"]


def normalise(form: NormalForm, text: str) -> str:
    """Normalise the runs of code points that Unicode 14 assigns, leave the rest alone."""
    if text.isascii():
        return text
    parts = _unassigned().split(text)
    if len(parts) == 1:
        return unicodedata.normalize(form, text)
    # The pattern has one group, so every second part is an unassigned run.
    return "".join(
        part if index % 2 else unicodedata.normalize(form, part) for index, part in enumerate(parts)
    )


def fold_case(text: str) -> str:
    """Fold upper and lower case; code points younger than Unicode 14 keep theirs."""
    if text.isascii():
        return text.lower()
    parts = _unassigned().split(text)
    return "".join(part if index % 2 else part.casefold() for index, part in enumerate(parts))


def drop_invisible(text: str) -> str:
    """Remove what cannot be seen: zero-width, direction, tag and control characters."""
    return INVISIBLE.sub("", text)


def unify_line_ends(text: str) -> str:
    """Write every line end as one line feed."""
    return text if text.isascii() and "\r" not in text else LINE_ENDS.sub("\n", text)


def collapse_spaces(text: str) -> str:
    """Write every run of spaces as one space and none at the ends."""
    return _IRREGULAR_SPACES.sub(" ", text).strip(" ")


def plain_form(text: str) -> str:
    """Give the form in which two texts count as the same: NFC, nothing unseen, single spaces.

    Example:
        a zero-width space in "a  b" changes nothing: both forms are "a b".
    """
    return collapse_spaces(drop_invisible(unify_line_ends(normalise("NFC", text))))


def plain_lines(text: str) -> list[str]:
    """Give the plain form of each line: line ends say where a list or a thought ends."""
    return [plain_form(line) for line in unify_line_ends(text).split("\n")]


def has_visible_text(text: str) -> bool:
    """Tell whether a reader would see anything."""
    return _VISIBLE.search(text) is not None


@lru_cache(maxsize=1)
def _unassigned() -> re.Pattern[str]:
    boundaries = list_boundaries()
    # Assigned ranges are [b0, b1), [b2, b3) ...; what lies between them and after is unassigned.
    gaps = zip(boundaries[1::2], (*boundaries[2::2], LAST_CODE_POINT + 1), strict=True)
    ranges = "".join(f"\\U{first:08x}-\\U{last - 1:08x}" for first, last in gaps if first < last)
    return re.compile(f"([{ranges}]+)")
