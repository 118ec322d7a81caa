"""Read the tensor list of a safetensors file.

Takes a byte source. Gives tensors by name, with float32 rows on request.
Layout: u64 header length, JSON header (name to dtype, shape, data_offsets), then the data.
Does not know what the tensors mean.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import ByteSource, read_bytes
from kernels.dtypes import rows_and_columns
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.strict_json import parse_strict_json

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
"""The format's own limit."""
MAX_DEPTH = 3

ITEM_BYTES: Final = {"F32": 4, "F16": 2, "BF16": 2}


@dataclass(frozen=True, slots=True)
class SafetensorsTensor:
    """One tensor; `read` gives float32 rows."""

    source: ByteSource
    name: str
    kind: str
    shape: tuple[int, ...]
    offset: int  # in the file

    def read(self, start: int, stop: int) -> F32:
        """Return rows `start` to `stop` as float32 [rows, columns]."""
        columns = self.shape[-1]
        width = columns * ITEM_BYTES[self.kind]
        data = np.empty((stop - start, width), dtype=np.uint8)
        self.source.read_into(self.offset + start * width, data.data.cast("B"))
        if self.kind == "F32":
            return data.view("<f4").astype(np.float32, copy=False)
        if self.kind == "F16":
            return data.view("<f2").astype(np.float32)
        # bfloat16 is the upper half of a float32.
        return (data.view("<u2").astype("<u4") << np.uint32(16)).view("<f4")


def open_safetensors(source: ByteSource) -> dict[str, SafetensorsTensor]:
    """Read the header.

    Raises:
        KernelError: `invalid_source` for damage. Tensors of other types than F32, F16 and BF16
            are left out, so asking for one reports it as missing.
    """
    if source.size < LENGTH_BYTES:
        raise _fault(name="header", rule="is cut off")
    length = int.from_bytes(read_bytes(source, 0, LENGTH_BYTES), "little")
    data_start = LENGTH_BYTES + length
    if length > MAX_HEADER_BYTES or data_start > source.size:
        raise _fault(name="header", rule=f"length {length} does not fit the file")
    try:
        text = read_bytes(source, LENGTH_BYTES, length)
        header = parse_strict_json(text, max_depth=MAX_DEPTH)
    except ValueError as error:
        raise _fault(name="header", rule="is not readable JSON") from error
    if not isinstance(header, dict):
        raise _fault(name="header", rule="must be an object")
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and (tensor := _locate(source, name, entry, data_start)):
            tensors[name] = tensor
    return tensors


def _locate(
    source: ByteSource, name: str, entry: object, data_start: int
) -> SafetensorsTensor | None:
    match entry:
        case {"dtype": str(kind), "shape": [*dims], "data_offsets": [int(start), int(stop)]}:
            if kind not in ITEM_BYTES:
                return None
        case _:
            raise _fault(name=name, rule="has a malformed entry")
    shape = tuple(dim for dim in dims if isinstance(dim, int) and dim > 0)
    if len(shape) != len(dims) or not shape:
        raise _fault(name=name, rule="has a bad shape")
    length = math.prod(rows_and_columns(shape)) * ITEM_BYTES[kind]
    if start < 0 or stop - start != length or data_start + stop > source.size:
        raise _fault(name=name, rule="does not fit the file")
    return SafetensorsTensor(source, name, kind, shape, data_start + start)


def _fault(name: str, rule: str) -> KernelError:
    text = f"Safetensors: {name[:80]} {rule}; fetch the file again."
    return kernel_error(ErrorCode.INVALID_SOURCE, name[:80], text)
