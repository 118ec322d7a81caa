"""Cut text into the pieces of an uncased WordPiece vocabulary, as BERT does.

Takes a text, gives token ids with the opening and closing mark around them. Accents go, letters
become lower case, punctuation and CJK characters stand alone, and each word is cut greedily into
the longest pieces of the vocabulary. Does not know vectors.

Source: J. Devlin et al., BERT (2018), and the reference tokenizer of that model: what is written
here are its rules, checked against the `tokenizers` package.
"""

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from kernels.errors import ErrorCode, kernel_error

MOST_WORD_CHARS = 100
"""A longer word is unknown as a whole."""

CONTINUATION: Final = "##"
UNKNOWN, OPENING, CLOSING, PADDING = "[UNK]", "[CLS]", "[SEP]", "[PAD]"

# Symbols of ASCII that Unicode does not call punctuation but BERT does.
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_CACHED_WORDS = 16_384


@dataclass(frozen=True, slots=True)
class WordPiece:
    """A vocabulary ready for encoding; the line number of a piece is its id."""

    ids: dict[str, int]
    unknown_id: int
    opening_id: int
    closing_id: int
    _cache: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False)

    def encode(self, text: str, most_tokens: int) -> list[int]:
        """Give the ids of a text with both marks, cut to `most_tokens`.

        Example:
            "The cat." gives [CLS] the cat . [SEP], five ids.
        """
        room = most_tokens - 2
        ids: list[int] = []
        for word in split_words(text):
            ids += self._cut(word)
            if len(ids) >= room:
                break
        return [self.opening_id, *ids[:room], self.closing_id]

    def _cut(self, word: str) -> tuple[int, ...]:
        known = self._cache.get(word)
        if known is None:
            known = self._cut_anew(word)
            if len(self._cache) < _CACHED_WORDS:
                self._cache[word] = known
        return known

    def _cut_anew(self, word: str) -> tuple[int, ...]:
        if len(word) > MOST_WORD_CHARS:
            return (self.unknown_id,)
        pieces, start = [], 0
        while start < len(word):
            mark = CONTINUATION if start else ""
            stop = next(
                (end for end in range(len(word), start, -1) if mark + word[start:end] in self.ids),
                None,
            )
            if stop is None:
                return (self.unknown_id,)
            pieces.append(self.ids[mark + word[start:stop]])
            start = stop
        return tuple(pieces)


def read_vocabulary(text: str) -> WordPiece:
    """Read a vocabulary of one piece a line.

    Raises:
        KernelError: `invalid_tokenizer` when one of the three marks is missing.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    ids = {piece.rstrip("\r"): number for number, piece in enumerate(lines)}
    for mark in (UNKNOWN, OPENING, CLOSING):
        if mark not in ids:
            message = f"The vocabulary has no {mark}; take vocab.txt of an uncased BERT model."
            raise kernel_error(ErrorCode.INVALID_TOKENIZER, mark, message)
    return WordPiece(ids, ids[UNKNOWN], ids[OPENING], ids[CLOSING])


def split_words(text: str) -> list[str]:
    """Give words and single marks, lower case and without accents, in order."""
    cleaned = "".join(_replace(char) for char in text)
    words = []
    for word in cleaned.split():
        plain = unicodedata.normalize("NFD", word.lower())
        words += _split_marks("".join(c for c in plain if unicodedata.category(c) != "Mn"))
    return words


def _split_marks(word: str) -> list[str]:
    if word.isalnum():
        return [word]
    parts, begun = [], ""
    for char in word:
        if _is_punctuation(char):
            parts += [begun, char] if begun else [char]
            begun = ""
        else:
            begun += char
    return [*parts, begun] if begun else parts


@lru_cache(maxsize=4_096)
def _replace(char: str) -> str:
    """Drop what cannot be seen, write every space as one, put spaces around CJK characters."""
    if char in "\t\n\r":
        return " "
    code = ord(char)
    category = unicodedata.category(char)
    if code in {0, 0xFFFD} or category.startswith("C"):
        return ""
    if category == "Zs":
        return " "
    if any(first <= code <= last for first, last in _CJK_RANGES):
        return f" {char} "
    return char


@lru_cache(maxsize=4_096)
def _is_punctuation(char: str) -> bool:
    return char in _ASCII_PUNCTUATION or unicodedata.category(char).startswith("P")
