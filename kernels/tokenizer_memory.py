"""Predict the memory of a tokenizer's tables from the size of its section.

Takes the length of the section; gives bytes. Does not know the format.
"""

_TABLES_PER_BYTE = 7
"""Objects of the tables for each byte of a BPE1 section, as a 32-bit interpreter keeps them."""


def count_tokenizer_bytes(section_bytes: int) -> int:
    """Count the section itself and the tables made of it."""
    return section_bytes * (1 + _TABLES_PER_BYTE)
