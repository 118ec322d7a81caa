"""Bring a stored tensor into the panels that the kernels read.

Takes a tensor as it lies in the file and a port. Gives the record of the matrix in the module's
memory. Quantised tensors keep their codes and scales exactly; a layout that the integer kernels do
not know (a block or a row width that is no multiple of 32) is kept exactly as float32 instead.
Does not know which tensor of the model it is.
"""

from dataclasses import replace

import numpy as np

from kernels.arrays import F32
from kernels.dtypes import DType, StoredTensor, rows_and_columns
from kernels.simd.port import AnyArray, KernelPort
from kernels.simd.records import Kind, MatrixRecord, pack

PANEL_ROWS = 8
BLOCK = 32
_SCALE_BYTES = 32  # of a block, for the eight rows of a panel
_CODE_BYTES = {Kind.F32: 0, Kind.Q8: 1, Kind.Q4_SYMMETRIC: 0.5, Kind.Q4_MINIMUM: 0.5}


def kind_of(dtype: DType, columns: int, block_size: int) -> Kind:
    """Choose the layout for a stored type."""
    is_whole = columns % BLOCK == 0 and block_size % BLOCK == 0
    match dtype:
        case DType.Q8_0 if is_whole:
            return Kind.Q8
        case DType.Q4_0 if is_whole:
            return Kind.Q4_SYMMETRIC
        case DType.Q4_1:
            return Kind.Q4_MINIMUM
        case _:
            return Kind.F32


def plan_matrix(dtype: DType, shape: tuple[int, ...], block_size: int) -> MatrixRecord:
    """Give the record of a matrix that has no memory yet."""
    rows, columns = rows_and_columns(shape)
    kind = kind_of(dtype, columns, block_size)
    if kind == Kind.F32:
        block_columns, blocks, panel_bytes = 0, 0, columns * 4 * PANEL_ROWS
    else:
        block_columns = block_size if kind == Kind.Q8 else BLOCK
        blocks = columns // block_columns
        codes = int(columns * PANEL_ROWS * _CODE_BYTES[kind])
        panel_bytes = blocks * _SCALE_BYTES + codes
    panels = -(-rows // PANEL_ROWS)
    return MatrixRecord(kind, rows, columns, block_columns, blocks, panels, panel_bytes, 0)


def place_matrix(port: KernelPort, tensor: StoredTensor) -> MatrixRecord:
    """Allocate the panels of a tensor and fill them.

    Raises:
        MemoryError: there is no room for it.
    """
    plan = plan_matrix(tensor.dtype, tensor.shape, tensor.block_size)
    record = replace(plan, panel=port.allocate(plan.stored_bytes))
    try:
        matrix = port.lend(pack(record))
        name, arrays = _stored_arrays(Kind(record.kind), tensor)
        addresses = [port.lend(array) for array in arrays]
        port.call(name, matrix, 0, record.rows, *addresses)
    finally:
        port.take_back()
    return record


def place_vector(port: KernelPort, values: F32) -> int:
    """Copy a vector into the module's memory and give its address."""
    data = np.ascontiguousarray(values, dtype="<f4")
    address = port.allocate(data.nbytes)
    port.write(address, data)
    return address


def _stored_arrays(kind: Kind, tensor: StoredTensor) -> tuple[str, list[AnyArray]]:
    """Give the packing function for a kind and what it reads."""
    payload, scales = tensor.payload, tensor.scales
    if kind == Kind.F32 or scales is None:
        return "pack_f32", [np.ascontiguousarray(tensor.to_f32(), dtype="<f4")]
    if kind == Kind.Q8:
        return "pack_q8", [payload, scales]
    if kind == Kind.Q4_MINIMUM:
        return "pack_q4", [payload, scales.astype("<f2")]  # scale and minimum side by side
    per_block = np.repeat(scales, tensor.block_size // BLOCK, axis=1)  # [rows, columns / 32]
    return "pack_q4", [payload, np.ascontiguousarray(per_block, dtype="<f4")]
