"""Range headers, against a count by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.serving.byte_range import UnsatisfiableRangeError, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("bytes=0-0", range(1)),
        ("bytes=7-", range(7, 10)),
        ("bytes=-4", range(6, 10)),
        ("bytes=-40", range(10)),
        ("bytes=2-99", range(2, 10)),
        ("bytes=5-4", None),
        ("bytes=-", None),
        ("bytes=0-1,3-4", None),
        ("items=0-1", None),
        ("bytes=a-b", None),
        ("bytes=٣-", None),
    ],
)
def test_a_header_means_one_part_or_the_whole(header, expected):
    """What is malformed or of several parts is answered with the whole, as the standard allows."""
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=10-20", "bytes=-0"])
def test_a_part_outside_the_bytes_is_refused(header):
    """There is nothing to send."""
    with pytest.raises(UnsatisfiableRangeError):
        parse_range(header, 10)


@given(size=st.integers(1, 60), first=st.integers(0, 80), last=st.integers(0, 80))
def test_a_part_holds_exactly_the_positions_asked_for_that_exist(size, first, last):
    """Positions from first to last, both counted, cut at the size."""
    wanted = [at for at in range(size) if first <= at <= last]
    header = f"bytes={first}-{last}"
    if last < first:
        assert parse_range(header, size) is None
    elif wanted:
        assert list(parse_range(header, size) or []) == wanted
    else:
        with pytest.raises(UnsatisfiableRangeError):
            parse_range(header, size)
