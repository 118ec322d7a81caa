"""Byte-pair encoding with the vocabulary of a BPE1 section.

Takes text and gives ids: the text is cut into words, each word starts as one id per byte, and the
adjacent pair of lowest rank (the leftmost on ties) is joined until none is left.
Bytes that have no token are dropped; encoding never gives an id that stands for no text.
Does not know conversations or control marks.

Short words are merged by scanning, long ones with a heap, so a run of a million letters costs
n log n and not n squared. Words are remembered, since natural text repeats them.
"""

from heapq import heapify, heappop, heappush

from kernels.bpe_section import BpeVocabulary, columns_of
from kernels.manifest import PreTokenizerRule
from kernels.pre_tokenizer import split_words
from kernels.tokenizer_section import tokenizer_error

SCAN_LIMIT = 24
"""Ids up to which scanning beats the heap."""
CACHE_WORDS = 1 << 15
CACHE_WORD_CHARS = 32
NO_TOKEN = -1

Joins = dict[int, tuple[int, int]]
"""(left << 32 | right) to (rank, output)."""


class BpeCodec:
    """Text to ids by merges, and ids to bytes."""

    def __init__(
        self, vocabulary: BpeVocabulary, rule: PreTokenizerRule, control_ids: frozenset[int]
    ) -> None:
        """Index the merges.

        Args:
            vocabulary: A checked section.
            rule: How words are cut.
            control_ids: Ids that encoding must never give.

        Raises:
            KernelError: `invalid_tokenizer` when a byte or a merge would give a control id.
        """
        self._rule = rule
        self._token_bytes = vocabulary.token_bytes
        self._joins = _index_merges(vocabulary)
        self._starts = _index_bytes(vocabulary)
        self._words: dict[str, tuple[int, ...]] = {}
        # Of two merges of one pair only one is used.
        outputs = {output for _, output in self._joins.values()}
        self._reachable = frozenset(outputs.union(self._starts)) - {NO_TOKEN}
        if clash := sorted(self._reachable & control_ids):
            rule_text = f"{clash[0]} is named a control token but stands for ordinary text"
            raise tokenizer_error(None, "control ids", rule_text)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text."""
        ids: list[int] = []
        for word in split_words(text, self._rule):
            ids.extend(self._encode_word(word))
        return ids

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the raw bytes of an id, or None where there is no record."""
        return self._token_bytes.get(token_id)

    def reachable_ids(self) -> frozenset[int]:
        """Return the ids that encoding can give."""
        return self._reachable

    def named_ids(self) -> dict[str, int]:
        """Return text to id of the records that encoding cannot reach."""
        hidden = sorted(self._token_bytes.keys() - self._reachable, reverse=True)
        return {self._token_bytes[key].decode(errors="replace"): key for key in hidden}

    def _encode_word(self, word: str) -> tuple[int, ...]:
        known = self._words.get(word)
        if known is not None:
            return known
        starts = self._starts
        ids = [starts[byte] for byte in word.encode() if starts[byte] != NO_TOKEN]
        merge = merge_by_scanning if len(ids) <= SCAN_LIMIT else merge_by_heap
        merged = tuple(merge(ids, self._joins))
        if len(word) <= CACHE_WORD_CHARS:
            if len(self._words) >= CACHE_WORDS:
                self._words.clear()
            self._words[word] = merged
        return merged


def merge_by_scanning(ids: list[int], joins: Joins) -> list[int]:
    """Join the lowest-ranked adjacent pair until none is left; looks at every pair each time."""
    ids = list(ids)
    while len(ids) > 1:
        best: tuple[int, int, int] | None = None
        for index in range(len(ids) - 1):
            join = joins.get(ids[index] << 32 | ids[index + 1])
            if join is not None and (best is None or join[0] < best[0]):
                best = (join[0], index, join[1])
        if best is None:
            break
        _, index, output = best
        ids[index : index + 2] = [output]
    return ids


def merge_by_heap(ids: list[int], joins: Joins) -> list[int]:
    """Do the same in n log n: a heap of candidate pairs over a doubly linked list.

    A heap item is rank x n + position. It is stale when its pair is no longer there, or has
    another rank by now; then a newer item stands for the place.
    """
    count = len(ids)
    ids = list(ids)
    after = list(range(1, count + 1))  # position of the next id, `count` at the end
    before = list(range(-1, count - 1))
    heap = []
    for position in range(count - 1):
        join = joins.get(ids[position] << 32 | ids[position + 1])
        if join is not None:
            heap.append(join[0] * count + position)
    heapify(heap)
    while heap:
        rank, position = divmod(heappop(heap), count)
        following = after[position]
        if ids[position] == NO_TOKEN or following == count:
            continue
        join = joins.get(ids[position] << 32 | ids[following])
        if join is None or join[0] != rank:
            continue
        ids[position], ids[following] = join[1], NO_TOKEN
        after[position] = after[following]
        if after[position] < count:
            before[after[position]] = position
        for left in (before[position], position):
            if left >= 0 and after[left] < count:
                join = joins.get(ids[left] << 32 | ids[after[left]])
                if join is not None:
                    heappush(heap, join[0] * count + left)
    return [token_id for token_id in ids if token_id != NO_TOKEN]


def _index_merges(vocabulary: BpeVocabulary) -> Joins:
    merges = columns_of(vocabulary.merges)
    keys = [left << 32 | right for left, right in zip(merges.lefts, merges.rights, strict=True)]
    joins = dict(zip(keys, zip(merges.ranks, merges.outputs, strict=True), strict=True))
    if len(joins) == len(keys):
        return joins
    joins.clear()
    for key, rank, output in zip(keys, merges.ranks, merges.outputs, strict=True):
        if key not in joins or rank < joins[key][0]:
            joins[key] = (rank, output)
    return joins


def _index_bytes(vocabulary: BpeVocabulary) -> list[int]:
    starts = [NO_TOKEN] * 256
    single = ((key, raw[0]) for key, raw in vocabulary.token_bytes.items() if len(raw) == 1)
    for token_id, value in sorted(single, reverse=True):  # the lowest id wins
        starts[value] = token_id
    return starts
