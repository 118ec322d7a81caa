"""Merging follows ranks exactly, by either method, and in bounded time."""

from hypothesis import given
from hypothesis import strategies as st

from kernels.bpe import SCAN_LIMIT, BpeCodec, merge_by_heap, merge_by_scanning
from kernels.bpe_section import BpeVocabulary, Merge
from kernels.btok import BYTE_SPECIAL_IDS
from kernels.tokenizer_section import SectionHeader

JOINS = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)),
    st.tuples(st.integers(0, 5), st.integers(0, 7)),
    max_size=24,
)


def keyed(pairs):
    """Return merges under the key that the codec uses."""
    return {left << 32 | right: join for (left, right), join in pairs.items()}


@given(ids=st.lists(st.integers(0, 3), max_size=80), pairs=JOINS)
def test_heap_and_scanning_give_the_same_ids(ids, pairs):
    """Also where ranks are equal, and where a merge makes a pair of lower rank."""
    joins = keyed(pairs)
    assert merge_by_heap(ids, joins) == merge_by_scanning(ids, joins)


def test_the_lowest_rank_goes_first():
    """a+b has rank 1, b+c rank 0: "abc" is a, bc."""
    joins = keyed({(0, 1): (1, 10), (1, 2): (0, 11)})
    assert merge_by_scanning([0, 1, 2], joins) == [0, 11]


def test_the_leftmost_of_equal_ranks_goes_first():
    """Three equal letters are the pair, then the letter."""
    joins = keyed({(0, 0): (0, 9)})
    assert merge_by_scanning([0, 0, 0], joins) == [9, 0]
    assert merge_by_heap([0] * 5, joins) == [9, 9, 0]


def test_the_arguments_are_left_alone():
    """Both methods work on a copy."""
    ids = [0, 0]
    merge_by_scanning(ids, keyed({(0, 0): (0, 9)}))
    merge_by_heap(ids, keyed({(0, 0): (0, 9)}))
    assert ids == [0, 0]


class CountingJoins(dict[int, tuple[int, int]]):
    """Merges that count how often they are asked."""

    asked = 0

    def get(self, key, default=None):
        """Count and look up."""
        self.asked += 1
        return super().get(key, default)


def test_a_long_run_of_one_letter_takes_a_bounded_number_of_lookups():
    """Each position is asked for a few times, not once for every other position."""
    joins = CountingJoins(keyed({(2**k, 2**k): (k, 2 ** (k + 1)) for k in range(10)}))
    length = 20_000
    merged = merge_by_heap([1] * length, joins)
    assert sum(merged) == length
    assert joins.asked < 6 * length


def make_codec(rule="none"):
    """Return bytes and the merges t+h, th+e."""
    header = SectionHeader("BPE1", 262, BYTE_SPECIAL_IDS)
    raw = {value: bytes([value]) for value in range(256)} | {260: b"th", 261: b"the"}
    merges = [Merge(ord("t"), ord("h"), 260, 0), Merge(260, ord("e"), 261, 1)]
    return BpeCodec(BpeVocabulary(header, raw, merges), rule, frozenset({256}))


def test_words_are_encoded_alike_below_and_above_the_scan_limit():
    """The choice of method is invisible."""
    codec = make_codec()
    assert codec.encode("the" * 3) == [261] * 3
    assert codec.encode("the" * SCAN_LIMIT) == [261] * SCAN_LIMIT


def test_a_word_seen_before_gives_the_same_ids():
    """The memory of words changes nothing but time."""
    codec = make_codec("smollm")
    first = codec.encode("the then these the")
    assert codec.encode("the then these the") == first


def test_the_lowest_rank_of_a_pair_that_stands_twice_counts():
    """A second merge of the same pair never applies."""
    header = SectionHeader("BPE1", 262, BYTE_SPECIAL_IDS)
    raw = {value: bytes([value]) for value in range(256)} | {260: b"th", 261: b"th"}
    merges = [Merge(ord("t"), ord("h"), 261, 5), Merge(ord("t"), ord("h"), 260, 2)]
    codec = BpeCodec(BpeVocabulary(header, raw, merges), "none", frozenset())
    assert codec.encode("th") == [260]
