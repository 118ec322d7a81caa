"""A bound that refuses a text must never refuse one that fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.bpe import BpeCodec
from kernels.bpe_section import BpeVocabulary, Merge
from kernels.tokenizer import Tokenizer
from kernels.tokenizer_section import SectionHeader, SpecialIds
from py_core.chat.token_bound import TokenBound
from py_core.chat.token_counter import ModelTokenCounter

WITHOUT_TOKEN = b"\x04\x06\xf1"
MERGED = [b"aa", b"aaaa", b"==", b"====", b" t", b" th", b" the", b"\xe4\xb8", b"\xe4\xb8\xad"]
SPECIAL = SpecialIds(1000, 1000, 1000, 1000)


def make_tokenizer(rule):
    """Build a byte-pair tokenizer in which a few bytes have no token."""
    tokens = {byte: bytes([byte]) for byte in range(256) if byte not in WITHOUT_TOKEN}
    merges = []
    for rank, raw in enumerate(MERGED):
        half = raw[: len(raw) // 2] if raw[:1] in {b"a", b"="} else raw[:-1]
        ids = {known: token for token, known in tokens.items()}
        tokens[256 + rank] = raw
        merges.append(Merge(ids[half], ids[raw[len(half) :]], 256 + rank, rank))
    header = SectionHeader("BPE1", 1001, SPECIAL)
    codec = BpeCodec(BpeVocabulary(header, tokens, merges), rule, frozenset({1000}))
    return Tokenizer("BPE1", 1001, SPECIAL, {"<end>": 1000}, "f" * 64, codec)


TEXTS = st.text(st.sampled_from("a=the 12中é\x04\x06\U00040000\n'"), max_size=120)


@pytest.mark.parametrize("rule", ["smollm", "none"])
@given(text=TEXTS, enough=st.integers(1, 60))
def test_the_bound_is_never_above_the_exact_count(rule, text, enough):
    """Lower bound: with and without word cutting, with bytes that have no token."""
    tokenizer = make_tokenizer(rule)
    bound = TokenBound(tokenizer, cuts_words=rule == "smollm")

    assert bound.least_tokens(text, enough) <= len(tokenizer.encode(text))


@pytest.mark.parametrize("text", ["a" * 1_000_000, "中" * 400_000, "the word " * 100_000])
def test_a_megabyte_is_recognised_as_too_long_for_8192_tokens(text):
    """Long runs, other scripts and ordinary prose are all refused without encoding them."""
    bound = TokenBound(make_tokenizer("smollm"), cuts_words=True)

    assert bound.least_tokens(text, enough=8192) > 8192


def test_a_short_text_is_left_to_the_exact_count():
    """The vocabulary is not even read for ordinary messages."""
    counter = ModelTokenCounter(make_tokenizer("smollm"), cuts_words=True)

    assert counter.least_tokens("the word " * 10, enough=1000) == 0


def test_a_text_that_was_counted_before_gives_the_same_ids():
    """The cache is invisible."""
    counter = ModelTokenCounter(make_tokenizer("smollm"), cuts_words=True)

    assert counter.encode("the aaaa") == counter.encode("the aaaa")
    assert list(counter.encode("the aaaa")) == make_tokenizer("smollm").encode("the aaaa")
