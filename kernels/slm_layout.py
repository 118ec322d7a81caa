"""Byte positions of the SLM1 container: header, directory entry, trailer, padding.

Takes and gives the raw numbers of each record. Shared by the reader and the writer, so that a
layout is written down once. Does not know which values are allowed: the reader checks them.

Source: the notes on SLM1, sections 1.1 to 1.3. The trailer is this project's own: it stands after
the last payload, where readers that do not know it never look.
"""

import struct
from typing import Final, NamedTuple

from kernels.dtypes import DType, payload_bytes_per_row, rows_and_columns

ALIGNMENT = 64
MAGIC = b"SLM1"
VERSION = 1
MODEL_TYPE = 1
TIED_OUTPUT_FLAG = 1

HEADER: Final = struct.Struct("<4s13I2f3QIQQ")
HEADER_BYTES = HEADER.size  # 108
ENTRY: Final = struct.Struct("<QII4IQQQI4x")
ENTRY_BYTES = ENTRY.size  # 64
MAX_RANK = 4

TRAILER: Final = struct.Struct("<8sIIQQQ24x")
TRAILER_BYTES = TRAILER.size  # 64
TRAILER_MAGIC = b"TINYLOOM"
TRAILER_VERSION = 1
CHECKSUM_RULE = 1
BALANCE_OFFSET = 32
"""Where the balance word of the checksum lies inside the trailer."""


class RawHeader(NamedTuple):
    """The header's fields in file order."""

    magic: bytes
    version: int
    header_length: int
    model_type: int
    flags: int
    vocab_size: int
    special_token_count: int
    hidden_size: int
    layer_count: int
    head_count: int
    kv_head_count: int
    head_dim: int
    ffn_size: int
    max_context: int
    rope_theta: float
    rms_norm_epsilon: float
    tokenizer_offset: int
    tokenizer_length: int
    tensor_directory_offset: int
    tensor_count: int
    tensor_data_offset: int
    checksum: int


class RawEntry(NamedTuple):
    """One directory entry's fields in file order; four dimensions whatever the rank."""

    name_hash: int
    dtype: int
    rank: int
    dim_0: int
    dim_1: int
    dim_2: int
    dim_3: int
    byte_offset: int
    byte_length: int
    scale_offset: int
    block_size: int


class RawTrailer(NamedTuple):
    """The last 64 bytes of a file that carries its manifest."""

    magic: bytes
    version: int
    checksum_rule: int
    manifest_offset: int
    manifest_length: int
    balance: int


def field_offsets(record: struct.Struct, names: tuple[str, ...]) -> dict[str, int]:
    """Return the byte offset of each field inside a record, read off its format."""
    codes = [code for count, code in _format_items(record.format) for _ in range(count)]
    offsets, position = {}, 0
    for name, code in zip(names, codes, strict=True):
        offsets[name] = position
        position += struct.calcsize("<" + code)
    return offsets


def _format_items(layout: str) -> list[tuple[int, str]]:
    items, digits = [], ""
    for letter in layout.removeprefix("<"):
        if letter.isdigit():
            digits += letter
            continue
        count = int(digits or 1)
        digits = ""
        if letter == "s":
            items.append((1, f"{count}s"))
        elif letter != "x":
            items.append((count, letter))
    return items


HEADER_OFFSETS: Final = field_offsets(HEADER, RawHeader._fields)
ENTRY_OFFSETS: Final = field_offsets(ENTRY, RawEntry._fields)


def align(offset: int) -> int:
    """Return the next multiple of 64 that is not below `offset`."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def name_hash(name: str) -> int:
    """Return FNV-1a 64 over the UTF-8 name; the container stores no names.

    The empty name gives the basis 0xcbf29ce484222325, "a" gives 0xaf63dc4c8601ec8c.
    """
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def payload_bytes(dtype: DType, shape: tuple[int, ...]) -> int:
    """Return the exact encoded length of a tensor without its scales."""
    rows, columns = rows_and_columns(shape)
    return rows * payload_bytes_per_row(dtype, columns)


def scale_bytes(dtype: DType, shape: tuple[int, ...], block_size: int) -> int:
    """Return the length of a tensor's scale array, 0 for f32."""
    if dtype == DType.F32:
        return 0
    rows, columns = rows_and_columns(shape)
    return 4 * rows * (columns // block_size)
