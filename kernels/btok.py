"""The byte tokenizer BTOK: one token per UTF-8 byte.

Takes UTF-8 bytes and gives ids 0 to 255, and back. Knows nothing else.
Source: the notes on SLM1, section 1.7.
"""

from kernels.tokenizer_section import (
    SECTION_HEADER,
    SectionHeader,
    SpecialIds,
    pack_section_header,
    tokenizer_error,
)

BYTE_COUNT = 256
BYTE_SPECIAL_IDS = SpecialIds(bos=256, eos=257, pad=258, unk=259)
BYTE_VOCABULARY = 260


class ByteCodec:
    """Bytes to ids and back."""

    def __init__(self, section: bytes, header: SectionHeader) -> None:
        """Check the rest of a BTOK section.

        Raises:
            KernelError: `invalid_tokenizer` when bytes follow the header or a special id is a byte.
        """
        if len(section) != SECTION_HEADER.size:
            raise tokenizer_error(
                SECTION_HEADER.size,
                "length",
                f"must be {SECTION_HEADER.size}, found {len(section)}",
            )
        if low := sorted(name for name in header.special.as_set() if name < BYTE_COUNT):
            raise tokenizer_error(12, "special ids", f"must be 256 or more, found {low[0]}")

    def encode(self, text: str) -> list[int]:
        """Return one id per byte of the text's UTF-8 form."""
        return list(text.encode())

    def token_bytes(self, token_id: int) -> bytes | None:
        """Return the byte of an id, or None for ids that stand for none."""
        return bytes([token_id]) if token_id < BYTE_COUNT else None

    def reachable_ids(self) -> frozenset[int]:
        """Return the ids that encoding can give."""
        return frozenset(range(BYTE_COUNT))

    def named_ids(self) -> dict[str, int]:
        """Return the records that encoding cannot reach: none here."""
        return {}


def pack_btok() -> bytes:
    """Return the only BTOK section this project writes: 260 ids."""
    return pack_section_header(SectionHeader("BTOK", BYTE_VOCABULARY, BYTE_SPECIAL_IDS))
