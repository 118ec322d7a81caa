"""The first fields of a tokenizer section, which BTOK and BPE1 share.

Takes the section's bytes. Gives kind, vocabulary size and the four special ids, checked.
Does not know how text becomes ids.

Source: the notes on SLM1, section 1.7: magic, version, vocab size, then BOS, EOS, PAD, UNK.
"""

import struct
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from kernels.errors import ErrorCode, KernelError, kernel_error

TokenizerKind: TypeAlias = Literal["BTOK", "BPE1"]

KINDS = (b"BTOK", b"BPE1")
SECTION_VERSION = 1
SECTION_HEADER: Final = struct.Struct("<4s6I")
MIN_BYTE_VOCABULARY = 260
"""256 bytes and four special ids."""


@dataclass(frozen=True, slots=True)
class SpecialIds:
    """The four ids that every tokenizer names; some may be equal."""

    bos: int
    eos: int
    pad: int
    unk: int

    def as_set(self) -> frozenset[int]:
        """Return the distinct ids."""
        return frozenset((self.bos, self.eos, self.pad, self.unk))


@dataclass(frozen=True, slots=True)
class SectionHeader:
    """Kind, vocabulary size and special ids of a section."""

    kind: TokenizerKind
    vocab_size: int
    special: SpecialIds


def read_section_header(section: bytes) -> SectionHeader:
    """Read and check the shared fields.

    Raises:
        KernelError: `invalid_tokenizer`; offsets count from the start of the section.
    """
    if len(section) < SECTION_HEADER.size:
        raise tokenizer_error(len(section), "length", f"has only {len(section)} bytes")
    magic, version, vocab_size, *ids = SECTION_HEADER.unpack_from(section)
    if magic not in KINDS:
        raise tokenizer_error(0, "magic", "must be BTOK or BPE1")
    if version != SECTION_VERSION:
        raise tokenizer_error(4, "version", f"must be {SECTION_VERSION}, found {version}")
    if magic == b"BTOK" and vocab_size < MIN_BYTE_VOCABULARY:
        rule = f"must be at least {MIN_BYTE_VOCABULARY}, found {vocab_size}"
        raise tokenizer_error(8, "vocab_size", rule)
    for index, (name, special_id) in enumerate(zip(("bos", "eos", "pad", "unk"), ids, strict=True)):
        if special_id >= vocab_size:
            rule = f"{special_id} is not below the vocabulary size {vocab_size}"
            raise tokenizer_error(12 + 4 * index, name, rule)
    return SectionHeader(cast("TokenizerKind", magic.decode()), vocab_size, SpecialIds(*ids))


def pack_section_header(header: SectionHeader) -> bytes:
    """Return the 28 bytes of the shared fields."""
    special = header.special
    return SECTION_HEADER.pack(
        header.kind.encode(),
        SECTION_VERSION,
        header.vocab_size,
        special.bos,
        special.eos,
        special.pad,
        special.unk,
    )


def tokenizer_error(offset: int | None, field: str, rule: str) -> KernelError:
    """Build the refusal of a tokenizer section."""
    text = f"Tokenizer {field} {rule}; the model file is damaged, so fetch or convert it again."
    return kernel_error(ErrorCode.INVALID_TOKENIZER, f"tokenizer.{field}", text, offset=offset)
