"""The checksum follows its written rule, notices every change, and can be balanced."""

from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kernels.byte_source import BytesSource
from kernels.slm_checksum import (
    BASIS,
    CHUNK_WORDS,
    INDEX_KEY,
    MASK,
    Checksum,
    checksum_of,
    find_balance,
    mix_word,
    unmix_word,
)

WORDS = st.integers(0, MASK)


def plain_checksum(data: bytes) -> int:
    """Return the checksum as the module's docstring states it, word by word."""
    padded = data + bytes(-len(data) % 8)
    total = BASIS + len(data) * INDEX_KEY
    for index in range(len(padded) // 8):
        total += mix_word(int.from_bytes(padded[8 * index : 8 * index + 8], "little"), index)
    return total & MASK or 1


def summed(data: bytes) -> int:
    """Return the checksum of bytes given in one piece."""
    checksum = Checksum()
    checksum.update(data)
    return checksum.total()


@given(data=st.binary(max_size=300))
def test_array_code_equals_the_plain_rule(data):
    """The vectorised sum is the sum that the docstring defines."""
    assert summed(data) == plain_checksum(data)


def test_array_code_equals_the_plain_rule_over_several_chunks():
    """The index goes on across chunks."""
    data = np.random.default_rng(1).bytes(CHUNK_WORDS * 8 * 2 + 13)
    assert summed(data) == plain_checksum(data)


@given(data=st.binary(max_size=100), cuts=st.lists(st.integers(0, 100), max_size=6))
def test_pieces_do_not_matter(data, cuts):
    """Any way of cutting the bytes gives the same checksum."""
    checksum = Checksum()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    for start, stop in pairwise(edges):
        checksum.update(data[start:stop])
    assert checksum.total() == summed(data)


@given(
    data=st.binary(min_size=1, max_size=64), position=st.integers(0, 63), flip=st.integers(1, 255)
)
def test_every_changed_byte_changes_the_checksum(data, position, flip):
    """A change inside one word is always noticed, since the mixing can be undone."""
    changed = bytearray(data)
    changed[position % len(data)] ^= flip
    assert summed(bytes(changed)) != summed(data)


@given(data=st.binary(max_size=64))
def test_an_added_zero_byte_changes_the_checksum(data):
    """The length counts, so padding is not invisible."""
    assert summed(data + b"\0") != summed(data)


@given(word=WORDS, index=st.integers(0, 1 << 40))
@example(word=0, index=0)
def test_mixing_can_be_undone(word, index):
    """unmix_word is the inverse of mix_word at each index."""
    assert unmix_word(mix_word(word, index), index) == word


@given(data=st.binary(min_size=8, max_size=64), target=WORDS, place=st.integers(0, 7))
def test_one_balance_word_reaches_any_checksum(data, target, place):
    """A writer may announce the checksum before it knows the weights."""
    index = place % (len(data) // 8)
    blank = data[: 8 * index] + bytes(8) + data[8 * index + 8 :]
    checksum = Checksum()
    checksum.update(blank)
    balance = find_balance(checksum.sum_so_far(), target, index)
    filled = blank[: 8 * index] + balance.to_bytes(8, "little") + blank[8 * index + 8 :]
    assert summed(filled) == (target or 1)


def test_the_header_field_itself_counts_as_zero():
    """Bytes 100 to 107 hold the checksum, so they cannot be part of it."""
    data = bytes(range(200))
    zeroed = data[:100] + bytes(8) + data[108:]
    for chunk_bytes in (1 << 20, 104, 64, 7):
        assert checksum_of(BytesSource(data), chunk_bytes=chunk_bytes) == summed(zeroed)
