"""Read the fields and the tensor list of a GGUF file.

Takes a byte source. Gives metadata values by key and tensors by name, with rows on request.
Every count is compared with the bytes that are left before anything is read.
Does not know what the fields mean: `gguf_model` does.
"""

import struct
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import ByteSource, read_bytes
from kernels.dtypes import I8, U8, DType, rows_and_columns
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.gguf_blocks import GgufType, decode_rows, is_whole_blocks, row_bytes
from kernels.gguf_regroup import regroup_rows, stored_type_of

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
MAX_DIMS = 4
WINDOW_BYTES = 1 << 20

BOOLEAN, STRING, ARRAY = 7, 8, 9
SCALARS: Final = {
    0: "<u1",
    1: "<i1",
    2: "<u2",
    3: "<i2",
    4: "<u4",
    5: "<i4",
    6: "<f4",
    BOOLEAN: "<u1",
    10: "<u8",
    11: "<i8",
    12: "<f8",
}

GgufValue = str | int | float | bool | list[str] | list[int] | list[float] | list[bool]


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """One tensor; `read` decodes rows."""

    source: ByteSource
    name: str
    kind: GgufType
    shape: tuple[int, ...]  # numpy order: rows first
    offset: int  # in the file

    def read(self, start: int, stop: int) -> F32:
        """Return rows `start` to `stop` as float32 [rows, columns]."""
        return decode_rows(self.kind, self._read_bytes(start, stop), self.shape[-1])

    @property
    def stored_as(self) -> tuple[DType, int] | None:
        """The type of `.slm` that holds the same values, where there is one."""
        return stored_type_of(self.kind)

    def read_stored(self, start: int, stop: int) -> tuple[F32 | I8 | U8, F32 | None]:
        """Return payload and scales of rows, without loss."""
        return regroup_rows(self.kind, self._read_bytes(start, stop), self.shape[-1])

    def _read_bytes(self, start: int, stop: int) -> U8:
        width = row_bytes(self.kind, self.shape[-1])
        data = np.empty((stop - start, width), dtype=np.uint8)
        self.source.read_into(self.offset + start * width, data.data.cast("B"))
        return data


@dataclass(frozen=True, slots=True)
class GgufFile:
    """An open GGUF file."""

    values: dict[str, GgufValue]
    tensors: dict[str, GgufTensor] = field(default_factory=dict)


def open_gguf(source: ByteSource) -> GgufFile:
    """Read all fields and the tensor list.

    Raises:
        KernelError: `invalid_model_magic`, `unsupported_source` for versions and tensor types that
            cannot be read, `invalid_source` for damage.
    """
    cursor = _Cursor(source)
    if cursor.take(len(MAGIC)) != MAGIC:
        text = "The file does not begin with GGUF; choose a GGUF or .slm model."
        raise kernel_error(ErrorCode.INVALID_MODEL_MAGIC, "magic", text, offset=0)
    version = cursor.number("<I")
    if version not in VERSIONS:
        text = f"GGUF version {version} cannot be read; convert the file to version 3."
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "version", text, offset=4)
    tensor_count, value_count = cursor.number("<Q"), cursor.number("<Q")
    values: dict[str, GgufValue] = {}
    for _ in range(value_count):
        key = cursor.text()
        values[key] = cursor.value(cursor.number("<I"))
    infos = [_read_info(cursor) for _ in range(cursor.checked_count(tensor_count, 24))]
    alignment = values.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < 1:
        raise cursor.damage(name="general.alignment", rule="must be a number above 0")
    data_start = -(-cursor.position // alignment) * alignment
    tensors = [_locate(source, info, data_start) for info in infos]
    return GgufFile(values, {tensor.name: tensor for tensor in tensors})


@dataclass(frozen=True, slots=True)
class _Info:
    name: str
    dims: tuple[int, ...]
    kind: int
    offset: int
    entry_offset: int


class _Cursor:
    """A position in the file with a window of bytes read ahead."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._window = b""
        self._window_start = 0
        self.position = 0

    def take(self, length: int) -> bytes:
        if length > self._source.size - self.position:
            raise self.damage(
                name="length", rule=f"of {length} bytes goes past the end of the file"
            )
        start = self.position - self._window_start
        if start + length > len(self._window):
            size = min(max(length, WINDOW_BYTES), self._source.size - self.position)
            self._window = read_bytes(self._source, self.position, size)
            self._window_start, start = self.position, 0
        self.position += length
        return self._window[start : start + length]

    def number(self, layout: str) -> int:
        (value,) = struct.unpack(layout, self.take(struct.calcsize(layout)))
        return int(value)

    def text(self) -> str:
        raw = self.take(self.number("<Q"))
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise self.damage(name="text", rule="is not UTF-8") from error

    def checked_count(self, count: int, least_bytes: int) -> int:
        if count > (self._source.size - self.position) // least_bytes:
            raise self.damage(name="count", rule=f"{count} does not fit the file")
        return count

    def value(self, kind: int) -> GgufValue:
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            return self._array(self.number("<I"))
        scalar: GgufValue = self._scalars(kind, 1)[0]
        return scalar

    def _array(self, kind: int) -> GgufValue:
        count = self.number("<Q")
        if kind == STRING:
            return [self.text() for _ in range(self.checked_count(count, 8))]
        return self._scalars(kind, count)

    def _scalars(self, kind: int, count: int) -> list[int]:
        if kind not in SCALARS:
            raise self.damage(name="value type", rule=f"{kind} is unknown")
        layout = np.dtype(SCALARS[kind])
        data = self.take(self.checked_count(count, layout.itemsize) * layout.itemsize)
        numbers: list[int] = np.frombuffer(data, dtype=layout).tolist()
        return [bool(number) for number in numbers] if kind == BOOLEAN else numbers

    def damage(self, name: str, rule: str) -> KernelError:
        text = f"GGUF: the {name} at byte {self.position} {rule}; fetch the file again."
        return kernel_error(ErrorCode.INVALID_SOURCE, name, text, offset=self.position)


def _read_info(cursor: _Cursor) -> _Info:
    start = cursor.position
    name = cursor.text()
    rank = cursor.number("<I")
    if not 1 <= rank <= MAX_DIMS:
        raise cursor.damage(name="rank", rule=f"{rank} must be 1 to {MAX_DIMS}")
    dims = tuple(cursor.number("<Q") for _ in range(rank))
    return _Info(name, dims, cursor.number("<I"), cursor.number("<Q"), start)


def _locate(source: ByteSource, info: _Info, data_start: int) -> GgufTensor:
    try:
        kind = GgufType(info.kind)
    except ValueError as error:
        known = ", ".join(item.name for item in GgufType)
        text = f"Tensor {info.name} has GGUF type {info.kind}; only {known} can be read."
        raise kernel_error(
            ErrorCode.UNSUPPORTED_SOURCE, info.name, text, offset=info.entry_offset
        ) from error
    shape = info.dims[::-1]
    rows, columns = rows_and_columns(shape)
    offset = data_start + info.offset
    is_inside = offset + rows * row_bytes(kind, columns) <= source.size
    if min(shape) < 1 or not is_whole_blocks(kind, columns) or not is_inside:
        text = f"Tensor {info.name} does not fit the file; fetch the file again."
        raise kernel_error(ErrorCode.INVALID_SOURCE, info.name, text, offset=info.entry_offset)
    return GgufTensor(source, info.name, kind, shape, offset)
