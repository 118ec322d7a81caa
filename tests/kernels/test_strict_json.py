"""JSON of strangers is read strictly, and no nesting can exhaust the machine's stack."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.strict_json import measure_depth, parse_strict_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


def depth_of(value):
    """Return the nesting of plain values."""
    match value:
        case list():
            return 1 + max(map(depth_of, value), default=0)
        case dict():
            return 1 + max(map(depth_of, value.values()), default=0)
        case _:
            return 0


@given(value=VALUES, is_ascii=st.booleans(), indent=st.none() | st.integers(0, 2))
def test_every_json_text_is_read_and_its_depth_is_measured(value, is_ascii, indent):
    """Brackets inside strings count for nothing, escaped quotes end no string."""
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    depth = depth_of(value)
    assert measure_depth(text) == depth
    assert parse_strict_json(text, max_depth=depth) == value


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":['])
@pytest.mark.parametrize("times", [4, 100_000, 400_000])
def test_deep_nesting_is_refused_before_the_reader_runs(opening, times):
    """In the browser's Python the standard reader would end the interpreter here."""
    with pytest.raises(ValueError, match="deeper than 3"):
        parse_strict_json(opening * times, max_depth=3)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", "NaN", "[Infinity]", '{"a":1,"a":2}', "1" * 5000, b"\xff", "[1] 2", '"\\"['],
)
def test_liberties_are_refused(text):
    """Always a ValueError, whatever is wrong."""
    with pytest.raises(ValueError):  # noqa: PT011 - the class is the contract
        parse_strict_json(text, max_depth=3)
