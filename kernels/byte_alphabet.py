"""The printable alphabet in which GPT-2 style vocabularies write raw bytes.

Takes token texts such as "Ġthe" and gives the bytes they stand for (" the").
Printable Latin-1 characters stand for themselves, the 68 others for U+0100 and up in byte order.
Does not know vocabularies.
"""

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = tuple(value for value in range(256) if value not in _PRINTABLE)

BYTE_OF_LETTER = {chr(value): value for value in _PRINTABLE} | {
    chr(0x100 + index): value for index, value in enumerate(_OTHERS)
}
LETTER_OF_BYTE = {value: letter for letter, value in BYTE_OF_LETTER.items()}


def find_token_bytes(text: str) -> bytes | None:
    """Return the bytes of a token text, or None when a letter is outside the alphabet.

    Worked example: "Ġthe" gives b" the", because Ġ (U+0120) stands for byte 0x20.
    """
    values = [BYTE_OF_LETTER.get(letter) for letter in text]
    if None in values:
        return None
    return bytes(value for value in values if value is not None)
