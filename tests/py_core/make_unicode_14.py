"""Write `py_core/unicode_14.py` anew: run with a Python whose Unicode is version 14 (CPython 3.11).

Takes the tables of that Python, gives the source text of the module. Run only when the project
drops its oldest Python; every normalised hash depends on the table.
"""

import sys
import unicodedata
from pathlib import Path
from textwrap import wrap

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
TARGET = Path(__file__).parents[2] / "py_core" / "unicode_14.py"
LINE_CHARS = 92


def list_distances() -> list[int]:
    """Give the distances between the code points at which assigned and unassigned alternate."""
    distances, last, was_assigned = [], 0, False
    for code in range(sys.maxunicode + 1):
        is_assigned = unicodedata.category(chr(code)) != "Cn"
        if is_assigned != was_assigned:
            distances.append(code - last)
            last, was_assigned = code, is_assigned
    if was_assigned:
        distances.append(sys.maxunicode + 1 - last)
    return distances


def to_base_36(number: int) -> str:
    """Write a number with the digits 0 to 9 and a to z."""
    high, low = divmod(number, len(DIGITS))
    return (to_base_36(high) if high else "") + DIGITS[low]


def write_table() -> str:
    """Give the lines of the table as they stand in the module."""
    words = " ".join(to_base_36(distance) for distance in list_distances())
    return "\n".join(f'    "{line} "' for line in wrap(words, LINE_CHARS))


if __name__ == "__main__":
    source = TARGET.read_text(encoding="utf-8")
    head, rest = source.split("_DISTANCES = (\n", 1)
    tail = rest.split("\n)\n", 1)[1]
    TARGET.write_text(f"{head}_DISTANCES = (\n{write_table()}\n)\n{tail}", encoding="utf-8")
