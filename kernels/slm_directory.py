"""The tensor directory of a `.slm` file, matched to the names that the model must have.

Takes the checked header and the directory's bytes. Gives one checked entry per tensor.
Each refusal names the tensor, the field and its offset. Does not read payloads.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kernels.byte_source import ByteSource, read_bytes
from kernels.dtypes import DType, find_block_fault
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.model_names import OUTPUT, tensor_shapes
from kernels.slm_header import CheckedHeader
from kernels.slm_layout import (
    ALIGNMENT,
    ENTRY,
    ENTRY_BYTES,
    ENTRY_OFFSETS,
    MAX_RANK,
    RawEntry,
    name_hash,
    payload_bytes,
    scale_bytes,
)

_BAD = ErrorCode.INVALID_TENSOR_DIRECTORY


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """Where one tensor lies and how it is stored."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    byte_offset: int
    byte_length: int
    scale_offset: int  # 0 for f32
    scale_length: int  # bytes, 0 for f32
    block_size: int  # 0 for f32
    entry_offset: int  # of the directory entry, for error messages

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return math.prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """Bytes of payload and scales, without padding."""
        return self.byte_length + self.scale_length


def read_directory(source: ByteSource, header: CheckedHeader) -> dict[str, TensorEntry]:
    """Read all entries; the result is in the order of the expected names.

    Raises:
        KernelError: `missing_tensor`, `shape_mismatch`, `unsupported_dtype`, else
            `invalid_tensor_directory`.
    """
    start = header.raw.tensor_directory_offset
    data = read_bytes(source, start, header.raw.tensor_count * ENTRY_BYTES)
    return dict(_check_directory(data, header, source.size))


@lru_cache(maxsize=1)  # a load reads it twice, and its plan once before
def _check_directory(data: bytes, header: CheckedHeader, file_bytes: int) -> dict[str, TensorEntry]:
    entries: dict[str, TensorEntry] = {}
    found = _index_by_hash(data, header)
    for name, shape in _expected(header, found):
        if (located := found.pop(name_hash(name), None)) is None:
            text = (
                f"Tensor {name} is missing; the file is incomplete, so fetch or convert it again."
            )
            raise kernel_error(
                ErrorCode.MISSING_TENSOR, name, text, offset=header.raw.tensor_directory_offset
            )
        entries[name] = _Check(name, *located, file_bytes, header.raw.tensor_data_offset).entry(
            shape
        )
    for offset, raw in found.values():
        text = f"Tensor with name hash {raw.name_hash:#018x} is no part of this model."
        raise kernel_error(_BAD, "name_hash", text, offset=offset)
    return entries


def _expected(
    header: CheckedHeader, found: dict[int, tuple[int, RawEntry]]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from tensor_shapes(header.config)
    if header.config.tied_output and name_hash(OUTPUT) in found:
        yield OUTPUT, (header.config.vocab_size, header.config.hidden_size)


def _index_by_hash(data: bytes, header: CheckedHeader) -> dict[int, tuple[int, RawEntry]]:
    start = header.raw.tensor_directory_offset
    found: dict[int, tuple[int, RawEntry]] = {}
    for index, values in enumerate(ENTRY.iter_unpack(data)):
        raw, offset = RawEntry._make(values), start + index * ENTRY_BYTES
        if raw.name_hash in found:
            text = f"Directory entry {index} repeats the name hash {raw.name_hash:#018x}."
            raise kernel_error(_BAD, "name_hash", text, offset=offset)
        found[raw.name_hash] = (offset, raw)
    return found


@dataclass(frozen=True, slots=True)
class _Check:
    """The rules of one entry, in the order in which its fields make sense."""

    name: str
    offset: int
    raw: RawEntry
    file_bytes: int
    data_offset: int

    def entry(self, shape: tuple[int, ...]) -> TensorEntry:
        dtype = self.dtype()
        self.shape(shape)
        length = self.payload(dtype, shape)
        block_size = self.raw.block_size if dtype != DType.F32 else 0
        if rule := find_block_fault(dtype, shape[-1], block_size):
            raise self.fault(_BAD, "block_size", f"{rule}, found {block_size}")
        scale_length = self.scales(dtype, shape, block_size)
        return TensorEntry(
            name=self.name,
            dtype=dtype,
            shape=shape,
            byte_offset=self.raw.byte_offset,
            byte_length=length,
            scale_offset=self.raw.scale_offset if scale_length else 0,
            scale_length=scale_length,
            block_size=block_size,
            entry_offset=self.offset,
        )

    def dtype(self) -> DType:
        try:
            return DType(self.raw.dtype)
        except ValueError as error:
            rule = f"must be 1 (f32), 2 (q8_0), 3 (q4_0) or 101 (q4_1), found {self.raw.dtype}"
            raise self.fault(ErrorCode.UNSUPPORTED_DTYPE, "dtype", rule) from error

    def shape(self, expected: tuple[int, ...]) -> None:
        if not 1 <= self.raw.rank <= MAX_RANK:
            raise self.fault(_BAD, "rank", f"must be 1 to {MAX_RANK}, found {self.raw.rank}")
        dims = (self.raw.dim_0, self.raw.dim_1, self.raw.dim_2, self.raw.dim_3)
        shape, unused = dims[: self.raw.rank], dims[self.raw.rank :]
        if shape != expected:
            rule = f"must be {list(expected)} by the header, found {list(shape)}"
            raise self.fault(ErrorCode.SHAPE_MISMATCH, "dim_0", rule)
        if any(dim > 1 for dim in unused):
            raise self.fault(_BAD, f"dim_{self.raw.rank}", "must be 0 or 1 where the rank ends")

    def payload(self, dtype: DType, shape: tuple[int, ...]) -> int:
        length = payload_bytes(dtype, shape)
        if self.raw.byte_length != length:
            rule = f"must be {length}, found {self.raw.byte_length}"
            raise self.fault(_BAD, "byte_length", rule)
        if self.raw.byte_offset % ALIGNMENT:
            raise self.fault(_BAD, "byte_offset", f"must be a multiple of {ALIGNMENT}")
        if self.raw.byte_offset < self.data_offset:
            rule = f"must not be before tensor_data_offset {self.data_offset}"
            raise self.fault(_BAD, "byte_offset", rule)
        self.inside("byte_offset", self.raw.byte_offset, length)
        return length

    def scales(self, dtype: DType, shape: tuple[int, ...], block_size: int) -> int:
        length = scale_bytes(dtype, shape, block_size)
        if length and not self.raw.scale_offset:
            raise self.fault(_BAD, "scale_offset", "must not be 0 for a quantised tensor")
        self.inside("scale_offset", self.raw.scale_offset, length)
        return length

    def inside(self, field: str, start: int, length: int) -> None:
        if start + length > self.file_bytes:
            rule = f"needs bytes up to {start + length} of a file of {self.file_bytes}"
            raise self.fault(_BAD, field, rule)

    def fault(self, code: ErrorCode, field: str, rule: str) -> KernelError:
        text = f"Tensor {self.name}: {field} {rule}; the file is damaged, so fetch it again."
        offset = self.offset + ENTRY_OFFSETS[field]
        return kernel_error(code, f"{self.name}.{field}", text, offset=offset)
