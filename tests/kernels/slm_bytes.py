"""Bytes of `.slm` files for tests, and single fields changed in them.

Takes fixture names, field names and values. Gives copies; the originals stay as they are.
"""

import struct
from pathlib import Path

from kernels.byte_source import BytesSource
from kernels.slm_file import SlmFile, open_model
from kernels.slm_layout import (
    ENTRY,
    ENTRY_BYTES,
    ENTRY_OFFSETS,
    HEADER,
    HEADER_OFFSETS,
    RawEntry,
    RawHeader,
    name_hash,
)

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"

FIELD_FORMATS = {4: "<I", 8: "<Q"}


def read_fixture(name: str = "tiny_f32.slm") -> bytes:
    """Return the bytes of a committed model."""
    return (MODELS / name).read_bytes()


def open_bytes(data: bytes) -> SlmFile:
    """Open a model that lies in memory."""
    return open_model(BytesSource(data))


def read_all(data: bytes) -> SlmFile:
    """Open a model and read every tensor."""
    model = open_bytes(data)
    for name in model.entries:
        model.read_tensor(name)
    return model


def header_of(data: bytes) -> RawHeader:
    """Return the header's fields."""
    return RawHeader._make(HEADER.unpack_from(data))


def with_bytes(data: bytes, offset: int, replacement: bytes) -> bytes:
    """Return a copy with some bytes replaced."""
    return data[:offset] + replacement + data[offset + len(replacement) :]


def with_header(data: bytes, **values: int | float) -> bytes:
    """Return a copy with header fields replaced."""
    for field, value in values.items():
        layout = "<f" if isinstance(value, float) else _integer_layout(HEADER_OFFSETS, field)
        data = with_bytes(data, HEADER_OFFSETS[field], struct.pack(layout, value))
    return data


def entry_offset(data: bytes, name: str) -> int:
    """Return where a tensor's directory entry begins."""
    header = header_of(data)
    for index in range(header.tensor_count):
        offset = header.tensor_directory_offset + index * ENTRY_BYTES
        if struct.unpack_from("<Q", data, offset)[0] == name_hash(name):
            return offset
    raise KeyError(name)


def entry_of(data: bytes, name: str) -> RawEntry:
    """Return a tensor's directory entry."""
    return RawEntry._make(ENTRY.unpack_from(data, entry_offset(data, name)))


def with_entry(data: bytes, name: str, **values: int) -> bytes:
    """Return a copy with fields of one directory entry replaced."""
    start = entry_offset(data, name)
    for field, value in values.items():
        layout = _integer_layout(ENTRY_OFFSETS, field)
        data = with_bytes(data, start + ENTRY_OFFSETS[field], struct.pack(layout, value))
    return data


def _integer_layout(offsets: dict[str, int], field: str) -> str:
    order = [*offsets.values(), HEADER.size if "magic" in offsets else ENTRY.size - 4]
    position = order.index(offsets[field])
    return FIELD_FORMATS[order[position + 1] - order[position]]
