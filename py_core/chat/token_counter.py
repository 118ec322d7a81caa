"""The model's tokenizer as the compiler sees it.

Takes a tokenizer, gives ids with a small cache by text, the control ids, and a cheap lower bound
for texts that are too long to be encoded for nothing. Does not know budgets.
"""

from collections.abc import Mapping

from kernels.tokenizer import Tokenizer
from py_core.chat.token_bound import TokenBound

CACHED_TEXTS = 1024
CHEAP_CHARS_PER_TOKEN = 2


class ModelTokenCounter:
    """Counts by encoding; a conversation's earlier turns are encoded once."""

    def __init__(self, tokenizer: Tokenizer, *, cuts_words: bool) -> None:
        """Wrap a tokenizer that never changes."""
        self._tokenizer = tokenizer
        self._cuts_words = cuts_words
        self._bound: TokenBound | None = None
        self._ids_by_text: dict[str, tuple[int, ...]] = {}

    @property
    def identity(self) -> str:
        """The sha256 of the tokenizer."""
        return self._tokenizer.identity

    @property
    def control_ids(self) -> Mapping[str, int]:
        """Role marks and end marks by name."""
        return self._tokenizer.control_ids

    @property
    def begin_id(self) -> int | None:
        """The mark that opens a prompt."""
        return self._tokenizer.special.bos

    def encode(self, text: str) -> tuple[int, ...]:
        """Encode a text, or give what it was encoded to before."""
        known = self._ids_by_text.pop(text, None)
        ids = tuple(self._tokenizer.encode(text)) if known is None else known
        # Put back at the end: the oldest entry of the dict is then the least recently used one.
        self._ids_by_text[text] = ids
        if len(self._ids_by_text) > CACHED_TEXTS:
            del self._ids_by_text[next(iter(self._ids_by_text))]
        return ids

    def least_tokens(self, text: str, enough: int) -> int:
        """Give a lower bound of the token count; 0 for a text that is cheap to count exactly."""
        if len(text) <= CHEAP_CHARS_PER_TOKEN * enough:
            return 0
        if self._bound is None:
            self._bound = TokenBound(self._tokenizer, cuts_words=self._cuts_words)
        return self._bound.least_tokens(text, enough)
