"""Cut text into words before merges are applied.

Takes text. Gives its pieces in order; joined they are the text again. The rule "smollm" first
splits off every number character alone and then applies the GPT-2 pattern to what lies between;
the rule "none" keeps the text whole. Does not know bytes, tokens or vocabularies.
"""

import re
from collections.abc import Iterator
from functools import cache

from kernels.manifest import PreTokenizerRule
from kernels.unicode_classes import (
    LETTER_RANGES,
    NUMBER_RANGES,
    WHITE_SPACE_RANGES,
    character_class,
)


def split_words(text: str, rule: PreTokenizerRule) -> Iterator[str]:
    """Yield the words of a text.

    Worked example, "smollm": "it's 42" gives "it", "'s", " ", "4", "2". The space before the
    first digit stands alone, because the digits are split off before words are looked for.
    """
    if rule == "none":
        if text:
            yield text
        return
    numbers, words = _patterns()
    # Splitting at a captured pattern alternates text between numbers (maybe empty) and numbers.
    for index, piece in enumerate(numbers.split(text)):
        if index % 2:
            yield piece
        elif piece:
            yield from words.findall(piece)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    letter, number, space = (
        character_class(table) for table in (LETTER_RANGES, NUMBER_RANGES, WHITE_SPACE_RANGES)
    )
    # GPT-2's pattern; its branch for numbers is left out, as none reach it.
    words = (
        r"'(?:[stmd]|re|ve|ll)"
        rf"| ?[{letter}]+"
        rf"| ?[^{space}{letter}{number}]+"
        rf"|[{space}]+(?![^{space}])"
        rf"|[{space}]+"
    )
    return re.compile(f"([{number}])"), re.compile(words)
