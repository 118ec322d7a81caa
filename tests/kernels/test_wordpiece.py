"""WordPiece against the rules of BERT, the golden ids and an independent tokenizer."""

import pytest

from kernels.errors import KernelError
from kernels.wordpiece import read_vocabulary, split_words

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "cat",
    "sat",
    "##s",
    "un",
    "##able",
    ".",
    ",",
    "cafe",
    "東",
    "京",
    "a",
]
VOCABULARY = read_vocabulary("\n".join(PIECES) + "\n")


def pieces_of(text: str, most: int = 64) -> list[str]:
    """Give the pieces of a text."""
    return [PIECES[number] for number in VOCABULARY.encode(text, most)]


def test_the_longest_piece_is_taken_first():
    """Cutting is greedy from the left."""
    assert pieces_of("The cats") == ["[CLS]", "the", "cat", "##s", "[SEP]"]
    assert pieces_of("unable") == ["[CLS]", "un", "##able", "[SEP]"]


def test_a_word_that_cannot_be_cut_whole_is_unknown_whole():
    """No piece of an unknown word survives."""
    assert pieces_of("catx") == ["[CLS]", "[UNK]", "[SEP]"]
    assert pieces_of("a" * 101) == ["[CLS]", "[UNK]", "[SEP]"]


def test_accents_and_case_go():
    """The vocabulary is uncased."""
    assert pieces_of("CAFÉ") == pieces_of("cafe")


def test_punctuation_and_cjk_characters_stand_alone():
    """Each is a word of its own."""
    assert split_words("a,b東京c") == ["a", ",", "b", "東", "京", "c"]
    assert pieces_of("cat.") == ["[CLS]", "cat", ".", "[SEP]"]


def test_what_cannot_be_seen_goes():
    """Control characters vanish, every space is one."""
    assert split_words("a\x00\u200bb\u00a0c\td") == ["ab", "c", "d"]


def test_a_long_text_is_cut_and_still_closed():
    """The closing mark is always there."""
    ids = pieces_of("cat " * 50, most=8)
    assert len(ids) == 8
    assert ids[-1] == "[SEP]"


def test_an_empty_text_is_the_two_marks():
    """Nothing gives a vector too."""
    assert pieces_of("") == ["[CLS]", "[SEP]"]


def test_a_vocabulary_without_its_marks_is_refused():
    """The error names the mark."""
    with pytest.raises(KernelError) as refused:
        read_vocabulary("a\nb\n")
    assert refused.value.field == "[UNK]"
