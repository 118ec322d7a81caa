"""Token counters that need no model, and a cache around any counter.

Takes texts, gives ids. The cache is keyed by the content hash of a text, so that a text is encoded
once however many records, turns and compilations it stands in. Does not know budgets.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence

from py_core.compiler.request import PromptTemplate, TokenCounter
from py_core.identity import sha256_hex

CACHED_TEXTS = 16_384
_WORD = re.compile(r"[^ \t\n]+[ \t\n]*|[ \t\n]+")

# Above every code point and every word id, so that no text can reach them.
_FIRST_CONTROL_ID = 0x7000_0000
_WORD_ID_BYTES = 3

MARKS: Mapping[str, int] = {
    "<|im_start|>": _FIRST_CONTROL_ID,
    "<|im_end|>": _FIRST_CONTROL_ID + 1,
}


class CharacterCounter:
    """One token for each character; its id is the code point."""

    identity = sha256_hex(b"tinyloom: one token for each character")
    control_ids = MARKS
    begin_id: int | None = None

    def encode(self, text: str) -> list[int]:
        """Give the code points."""
        return [ord(character) for character in text]

    def least_tokens(self, text: str, enough: int) -> int:
        """Count exactly; that is as cheap as anything."""
        return len(text)


class WordCounter:
    """One token for each word with the spaces behind it; its id comes from its hash."""

    identity = sha256_hex(b"tinyloom: one token for each word")
    control_ids = MARKS
    begin_id: int | None = None

    def encode(self, text: str) -> list[int]:
        """Give one number for each word."""
        return [
            int.from_bytes(hashlib.sha256(word.encode()).digest()[:_WORD_ID_BYTES], "big")
            for word in _WORD.findall(text)
        ]

    def least_tokens(self, text: str, enough: int) -> int:
        """Count exactly."""
        return len(_WORD.findall(text))


class CachedCounter:
    """Any counter, asked once for each text."""

    def __init__(self, counter: TokenCounter, cached_texts: int = CACHED_TEXTS) -> None:
        """Wrap a counter that never changes."""
        self._counter = counter
        self._cached_texts = cached_texts
        self._ids: dict[bytes, Sequence[int]] = {}

    @property
    def identity(self) -> str:
        """That of the counter inside."""
        return self._counter.identity

    @property
    def control_ids(self) -> Mapping[str, int]:
        """Those of the counter inside."""
        return self._counter.control_ids

    @property
    def begin_id(self) -> int | None:
        """That of the counter inside."""
        return self._counter.begin_id

    def encode(self, text: str) -> Sequence[int]:
        """Encode a text, or give what it was encoded to before."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._ids.pop(key, None)
        ids = tuple(self._counter.encode(text)) if known is None else known
        # Put back at the end: the first entry of the dict is then the one unused for longest.
        self._ids[key] = ids
        if len(self._ids) > self._cached_texts:
            del self._ids[next(iter(self._ids))]
        return ids

    def least_tokens(self, text: str, enough: int) -> int:
        """Ask the counter inside."""
        return self._counter.least_tokens(text, enough=enough)


def make_counter(name: str) -> TokenCounter:
    """Make the counter that a request without a model names."""
    return CachedCounter(WordCounter() if name == "words" else CharacterCounter())


def make_template(kind: str, default_system: str = "") -> PromptTemplate:
    """Make the template that a request without a model names."""
    if kind == "plain":
        return PromptTemplate("plain", default_system)
    return PromptTemplate("chatml", default_system, "<|im_start|>", "<|im_end|>")
