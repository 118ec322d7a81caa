"""Counters without a model, and the cache that asks each text once."""

from py_core.compiler.token_counters import (
    MARKS,
    CachedCounter,
    CharacterCounter,
    WordCounter,
    make_counter,
)


class CountingCounter(CharacterCounter):
    """Remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def encode(self, text):
        """Remember the text."""
        self.asked.append(text)
        return super().encode(text)


def test_a_text_is_encoded_once():
    """However many records and compilations it stands in."""
    inner = CountingCounter()
    counter = CachedCounter(inner)
    assert counter.encode("abc") == counter.encode("abc") == (97, 98, 99)
    assert inner.asked == ["abc"]
    assert counter.identity == inner.identity


def test_the_cache_forgets_what_was_unused_for_longest():
    """It stays small in a long session."""
    inner = CountingCounter()
    counter = CachedCounter(inner, cached_texts=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        counter.encode(text)
    assert inner.asked == ["a", "b", "c", "b"]


def test_words_count_with_the_space_behind_them():
    """A row costs as many tokens as it has words."""
    counter = WordCounter()
    assert len(counter.encode("- a=b; src=x\n")) == 3
    assert counter.encode("one two ") == counter.encode("one ") + counter.encode("two ")
    assert counter.encode("") == []


def test_no_text_reaches_a_control_id():
    """Marks lie above every code point and every word id."""
    highest = max(WordCounter().encode(" ".join(map(str, range(1000)))))
    assert max(0x10FFFF, highest) < min(MARKS.values())
    assert make_counter("words").control_ids == MARKS
