"""The 64-bit checksum that this project writes into the header of a `.slm` file.

Takes the bytes of a file in any pieces, in order. Gives one number.
Does not know where the pieces lie or what they mean.

The published SLM1 documents name a rolling sum but not its constants, so nobody outside can
compute it. Ours is an own rule, made so that array arithmetic can run it at memory speed:

    the file is cut into little-endian 64-bit words, the last one filled up with zero bytes;
    checksum = BASIS + length x INDEX_KEY + sum over words of mix(word xor index x INDEX_KEY)

all modulo 2**64, with header bytes 100 to 107 counted as zero, and 1 in place of a result of 0.
`mix` can be undone, so every change inside one word changes the checksum, and a writer can choose
one word (the balance in the trailer) so that a file reaches a checksum that was announced in the
header before the weights were known. It finds accidents; SHA-256 is what proves identity.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kernels.byte_source import BytesLike, ByteSource

U64: TypeAlias = npt.NDArray[np.uint64]

FIELD_OFFSET = 100
FIELD_BYTES = 8

WORD_BYTES = 8
MASK = (1 << 64) - 1
BASIS = 0xCBF29CE484222325
INDEX_KEY = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
FIRST_SHIFT, SECOND_SHIFT, THIRD_SHIFT = 30, 27, 31

CHUNK_WORDS = 1 << 15
"""Words mixed at once: two buffers of 256 KiB stay in the processor's cache."""


class Checksum:
    """A running checksum over pieces of any length."""

    def __init__(self) -> None:
        self._rest = b""
        self._words_done = 0
        self._length_bytes = 0
        self._sum = 0
        with np.errstate(over="ignore"):
            self._keys = np.arange(CHUNK_WORDS, dtype=np.uint64) * np.uint64(INDEX_KEY)
        self._mixed = np.empty(CHUNK_WORDS, dtype=np.uint64)
        self._shifted = np.empty(CHUNK_WORDS, dtype=np.uint64)

    def update(self, data: BytesLike) -> None:
        """Append bytes."""
        view = memoryview(data).cast("B")
        self._length_bytes += len(view)
        if self._rest:
            missing = min(WORD_BYTES - len(self._rest), len(view))
            self._rest += bytes(view[:missing])
            view = view[missing:]
            if len(self._rest) < WORD_BYTES:
                return
            self._add_words(np.frombuffer(self._rest, dtype="<u8"))
        whole = len(view) - len(view) % WORD_BYTES
        if whole:
            self._add_words(np.frombuffer(view[:whole], dtype="<u8"))
        self._rest = bytes(view[whole:])

    def total(self) -> int:
        """Return the checksum of everything so far; never 0."""
        return self.sum_so_far() or 1

    def sum_so_far(self) -> int:
        """Return the same before 0 is replaced."""
        value = BASIS + self._length_bytes * INDEX_KEY + self._sum
        if self._rest:
            word = int.from_bytes(self._rest, "little")
            value += mix_word(word, self._words_done)
        return value & MASK

    def _add_words(self, words: U64) -> None:
        for start in range(0, len(words), CHUNK_WORDS):
            piece = words[start : start + CHUNK_WORDS]
            self._sum = (self._sum + self._mix_sum(piece)) & MASK
            self._words_done += len(piece)

    def _mix_sum(self, words: U64) -> int:
        mixed, shifted = self._mixed[: len(words)], self._shifted[: len(words)]
        first_key = np.uint64(self._words_done * INDEX_KEY & MASK)
        np.add(self._keys[: len(words)], first_key, out=mixed)
        np.bitwise_xor(mixed, words, out=mixed)
        for shift, factor in ((FIRST_SHIFT, FIRST_FACTOR), (SECOND_SHIFT, SECOND_FACTOR)):
            np.right_shift(mixed, np.uint64(shift), out=shifted)
            np.bitwise_xor(mixed, shifted, out=mixed)
            np.multiply(mixed, np.uint64(factor), out=mixed)
        np.right_shift(mixed, np.uint64(THIRD_SHIFT), out=shifted)
        np.bitwise_xor(mixed, shifted, out=mixed)
        return int(mixed.sum(dtype=np.uint64))


def mix_word(word: int, index: int) -> int:
    """Return what one word adds to the sum; the plain twin of the array code."""
    value = word ^ (index * INDEX_KEY & MASK)
    value = (value ^ (value >> FIRST_SHIFT)) * FIRST_FACTOR & MASK
    value = (value ^ (value >> SECOND_SHIFT)) * SECOND_FACTOR & MASK
    return value ^ (value >> THIRD_SHIFT)


def unmix_word(mixed: int, index: int) -> int:
    """Return the word that `mix_word` turns into `mixed` at this index."""
    value = _undo_shift(mixed, THIRD_SHIFT)
    value = _undo_shift(value * pow(SECOND_FACTOR, -1, MASK + 1) & MASK, SECOND_SHIFT)
    value = _undo_shift(value * pow(FIRST_FACTOR, -1, MASK + 1) & MASK, FIRST_SHIFT)
    return value ^ (index * INDEX_KEY & MASK)


def find_balance(sum_with_zero: int, target: int, index: int) -> int:
    """Return the word that moves a file's checksum from one value to another.

    Args:
        sum_with_zero: `sum_so_far` of the file while the word at `index` is 0.
        target: Checksum that the header announces.
        index: Position of the word, counted in words from the start of the file.
    """
    return unmix_word((target - sum_with_zero + mix_word(0, index)) & MASK, index)


def checksum_of(source: ByteSource, *, chunk_bytes: int = 1 << 20) -> int:
    """Return the checksum of a whole file, with the header's own field counted as zero."""
    checksum = Checksum()
    buffer = memoryview(bytearray(min(chunk_bytes, max(source.size, 1))))
    for offset in range(0, source.size, len(buffer)):
        piece = buffer[: min(len(buffer), source.size - offset)]
        source.read_into(offset, piece)
        for position in range(FIELD_OFFSET, FIELD_OFFSET + FIELD_BYTES):
            if offset <= position < offset + len(piece):
                piece[position - offset] = 0
        checksum.update(piece)
    return checksum.total()


def _undo_shift(value: int, shift: int) -> int:
    # x ^ (x >> s) is undone by xoring in ever further shifted copies of the result.
    result = value
    while value := value >> shift:
        result ^= value
    return result
