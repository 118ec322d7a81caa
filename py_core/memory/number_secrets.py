"""Secrets that follow from arithmetic: card numbers by their check digit, random texts by entropy.

Takes a text, gives places. A random text is one run without spaces whose characters are spread as
evenly as chance spreads them, and that holds no word. Hashes of only hexadecimal digits are no
secrets: they are what receipts, commits and checksums are made of. Does not know words around.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import sqrt

_CARD = re.compile(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d-])")
_CARD_PREFIX = re.compile(r"^(?:4|5[1-5]|2[2-7]|3[47]|3[0689]|6)")
_RUN = re.compile(r"[A-Za-z0-9+/=_-]{20,}")
_HEX = re.compile(r"^[0-9a-fA-F-]+$")
_LETTER_RUN = re.compile(r"[a-z]{6,}|[A-Z]{6,}")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_MUTE_RUN = re.compile(r"[^aeiouyAEIOUY]{5}")
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]{3,}")

SYMBOLS = 62
"""Letters of both cases and digits: what keys are drawn from, give or take two signs."""

MOST_DEVIATIONS = 3
LEAST_VOWELS_OF_WORD = 2
LEAST_OF_EACH_SORT = 2
LARGEST_WORD_SHARE_PPM = 450_000
PPM = 1_000_000


def find_card_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Give the places of numbers of 13 to 19 digits with an issuer's prefix and a right check."""
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if _CARD_PREFIX.match(digits) and len(set(digits)) > 1 and has_luhn_check(digits):
            yield match.span()


def has_luhn_check(digits: str) -> bool:
    """Tell whether the last digit checks the others.

    Example:
        79927398713 is right, 79927398710 is not.
    """
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + index % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the sum of two digits
    return total % 10 == 0


def find_random_texts(text: str) -> Iterator[tuple[int, int]]:
    """Give the places of runs that look drawn by chance."""
    for match in _RUN.finditer(text):
        run = match.group().strip("=-_/+")
        is_long = len(run) >= 20  # noqa: PLR2004 - shorter runs are as even as words are
        if is_long and not _HEX.match(run) and _looks_random(run):
            yield match.span()


def _looks_random(run: str) -> bool:
    sorts = (str.isdigit, str.isupper, str.islower)
    if any(sum(map(is_sort, run)) < LEAST_OF_EACH_SORT for is_sort in sorts):
        return False
    word_chars = sum(len(part) for part in _NAME_PARTS.findall(run))
    is_wordy = word_chars * PPM > LARGEST_WORD_SHARE_PPM * len(run)
    return not (is_wordy or _holds_word(run)) and is_even(run)


def _holds_word(run: str) -> bool:
    """Tell whether six letters of one case in a row could be spoken; chance draws such rows too."""
    return any(
        len(_VOWEL.findall(letters)) >= LEAST_VOWELS_OF_WORD and not _MUTE_RUN.search(letters)
        for letters in _LETTER_RUN.findall(run)
    )


def is_even(run: str) -> bool:
    """Tell whether no more characters repeat than chance would let, three deviations allowed.

    Of n characters drawn from 62, n(n-1)/124 pairs are equal on average, at any length.

    Example:
        40 characters have 12.6 equal pairs on average; up to 23 pass, English prose has 50.
    """
    equal_pairs = sum(count * (count - 1) // 2 for count in Counter(run).values())
    expected = len(run) * (len(run) - 1) / (2 * SYMBOLS)
    return equal_pairs <= expected + MOST_DEVIATIONS * sqrt(expected)
