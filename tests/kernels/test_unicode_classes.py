"""The pinned character classes are those of Unicode 16, whatever the running Python knows."""

import sys
import unicodedata
from itertools import pairwise

import pytest

from kernels.unicode_classes import (
    LETTER_RANGES,
    NUMBER_RANGES,
    UNICODE_VERSION,
    WHITE_SPACE_RANGES,
    character_class,
    parse_ranges,
)

TABLES = {"L": LETTER_RANGES, "N": NUMBER_RANGES}


def code_points(table):
    """Return all code points of a table."""
    return {point for first, last in parse_ranges(table) for point in range(first, last + 1)}


@pytest.mark.parametrize("initial", TABLES)
def test_ranges_are_sorted_and_do_not_touch(initial):
    """Each range ends at least two before the next begins, so the table is the shortest one."""
    pairs = parse_ranges(TABLES[initial])
    assert all(first <= last for first, last in pairs)
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(pairs))


@pytest.mark.parametrize("initial", TABLES)
def test_the_running_python_agrees_on_every_character_it_knows(initial):
    """Its Unicode may be older (unassigned there) or newer (unassigned here), never contrary."""
    ours = code_points(TABLES[initial])
    theirs = {
        point
        for point in range(sys.maxunicode + 1)
        if unicodedata.category(chr(point))[0] == initial
    }
    if unicodedata.unidata_version == UNICODE_VERSION:
        assert ours == theirs
    else:
        known = {point for point in ours if unicodedata.category(chr(point)) != "Cn"}
        assert known <= theirs


@pytest.mark.parametrize("initial", TABLES)
def test_the_regex_package_agrees_on_every_character_of_ours(initial):
    """An independent table; what it has beyond ours was assigned after Unicode 16."""
    regex = pytest.importorskip("regex")
    letters = "".join(chr(point) for point in sorted(code_points(TABLES[initial])))
    assert regex.fullmatch(rf"\p{{{initial}}}+", letters)
    if unicodedata.unidata_version <= UNICODE_VERSION:
        everything = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
        found = {ord(letter) for letter in regex.findall(rf"\p{{{initial}}}", everything)}
        newer = found - code_points(TABLES[initial])
        assert all(unicodedata.category(chr(point)) == "Cn" for point in newer)


def test_white_space_leaves_out_the_information_separators():
    """Python's own class takes in 1C to 1F, the property White_Space does not."""
    ours = code_points(WHITE_SPACE_RANGES)
    theirs = {point for point in range(sys.maxunicode + 1) if chr(point).isspace()}
    assert theirs - ours == {0x1C, 0x1D, 0x1E, 0x1F}
    assert ours <= theirs


def test_a_table_becomes_the_inside_of_a_character_class():
    """Both ends are written with eight digits."""
    assert parse_ranges("41-5A AA") == [(65, 90), (170, 170)]
    assert character_class("41-5A") == r"\U00000041-\U0000005a"
