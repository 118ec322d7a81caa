"""A lower bound of the token count of a long text, without encoding it.

Takes a tokenizer, gives a bound from two facts: no token covers more bytes of one class than the
vocabulary's longest one does, and no token reaches over the end of a word. Bytes without a token
do not count, since encoding drops them. Does not know budgets.

Example: SmolLM2 has no token with more than 25 ASCII letters and digits, so a megabyte of the
letter a is at least 41,944 tokens, told in milliseconds.
"""

from dataclasses import dataclass
from string import ascii_letters, digits

from kernels.pre_tokenizer import split_words
from kernels.tokenizer import Tokenizer

WORD_BYTES = frozenset((ascii_letters + digits).encode())
HIGH_BYTES = frozenset(range(0x80, 0x100))
OTHER_BYTES = frozenset(range(0x100)) - WORD_BYTES - HIGH_BYTES

CHARS_PER_TOKEN_SCANNED = 16
"""Words are counted in this much of the text for each token that would be enough."""

# The end of the scanned part may cut one word and glue one run of spaces.
WORDS_IN_DOUBT = 2


@dataclass(frozen=True, slots=True)
class _ByteClass:
    """Bytes of one kind, and how many of them one token holds at most."""

    others: bytes
    longest: int


class TokenBound:
    """The bounds of one vocabulary; reads it once."""

    def __init__(self, tokenizer: Tokenizer, *, cuts_words: bool) -> None:
        """Measure the vocabulary.

        Args:
            tokenizer: a loaded tokenizer.
            cuts_words: whether it cuts words before merging, by the rule "smollm".
        """
        tokens = [
            tokenizer.token_bytes(token)
            for token in range(tokenizer.vocab_size)
            if not tokenizer.is_control(token)
        ]
        covered = frozenset(raw[0] for raw in tokens if len(raw) == 1)
        self._classes = tuple(
            _measure(tokens, kind & covered) for kind in (WORD_BYTES, HIGH_BYTES, OTHER_BYTES)
        )
        self._counts_words = cuts_words and covered >= WORD_BYTES

    def least_tokens(self, text: str, enough: int) -> int:
        """Give a number that the exact count cannot be below."""
        data = text.encode("utf-8", "replace")
        by_bytes = max(
            -(-len(data.translate(None, kind.others)) // kind.longest) for kind in self._classes
        )
        if by_bytes > enough or not self._counts_words:
            return by_bytes
        by_words = _count_words(text[: enough * CHARS_PER_TOKEN_SCANNED])
        return max(by_bytes, by_words)


def _measure(tokens: list[bytes], kind: frozenset[int]) -> _ByteClass:
    others = bytes(byte for byte in range(0x100) if byte not in kind)
    lengths = [len(raw.translate(None, others)) for raw in tokens]
    return _ByteClass(others, max(1, *lengths))


def _count_words(text: str) -> int:
    """Count words that surely have a token: those that end in an ASCII letter or digit."""
    words = split_words(text, "smollm")
    count = sum(1 for word in words if word[-1].isascii() and word[-1].isalnum())
    return max(0, count - WORDS_IN_DOUBT)
