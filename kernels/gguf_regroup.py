"""Put the weight blocks of GGUF rows into the layout of `.slm`, value for value.

Takes the bytes of whole rows. Gives payload and scales as `kernels.dtypes.StoredTensor` has them.
Does not know tensors or files.

GGUF keeps a block's scale beside its codes and puts weights 0 to 15 into low nibbles, 16 to 31
into high ones; `.slm` keeps scales apart and puts neighbours into one byte. A scale of `.slm` is
above 0: a negative one gives its sign to the codes, and a block of zeros has scale 1. GGUF's Q4_0
has the code -8 with scales of both signs, which only signed bytes can hold.
"""

import numpy as np

from kernels.arrays import F32
from kernels.dtypes import I8, U8, DType, pack_nibbles
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.gguf_blocks import BLOCK, NIBBLE_CENTRE, GgufType

_STORED_TYPES = {
    GgufType.Q4_0: (DType.Q8_0, BLOCK),
    GgufType.Q4_1: (DType.Q4_1, BLOCK),
    GgufType.Q8_0: (DType.Q8_0, BLOCK),
}
_LOWEST_CODE = -128


def stored_type_of(kind: GgufType) -> tuple[DType, int] | None:
    """Return the quantised type and block size of `.slm` that hold the same values, if any."""
    return _STORED_TYPES.get(kind)


def regroup_rows(kind: GgufType, data: U8, columns: int) -> tuple[I8 | U8, F32]:
    """Regroup uint8 [rows, row_bytes] of a type that `stored_type_of` knows.

    Raises:
        KernelError: `unsupported_source` for scales that no block of `.slm` can have.
    """
    rows = data.shape[0]
    match kind:
        case GgufType.Q4_0:
            blocks = data.reshape(-1, 18)  # [blocks, 18]
            signed = _codes(blocks[:, 2:]).view(np.int8) - np.int8(NIBBLE_CENTRE)
        case GgufType.Q8_0:
            blocks = data.reshape(-1, 34)
            signed = np.ascontiguousarray(blocks[:, 2:]).view(np.int8)
        case _:
            blocks = data.reshape(-1, 20)
            codes = _codes(blocks[:, 4:]).reshape(rows, columns)
            pairs = _halves(blocks, 2)  # [blocks, 2]
            if not (pairs[:, 0] >= 0).all() or not np.isfinite(pairs).all():
                raise _odd_scale()
            return pack_nibbles(codes.view(np.int8)), pairs.reshape(rows, -1, 2)
    payload, scales = _with_positive_scales(signed, _halves(blocks, 1))
    return payload.reshape(rows, columns), scales.reshape(rows, -1)


def _with_positive_scales(signed: I8, scales: F32) -> tuple[I8, F32]:
    """Move signs to the codes: int8 [blocks, 32], float32 [blocks, 1]."""
    is_negative = scales < 0  # [blocks, 1]
    if not np.isfinite(scales).all() or (is_negative & (signed == _LOWEST_CODE)).any():
        raise _odd_scale()
    turned = np.where(is_negative, -signed, signed)
    turned[scales[:, 0] == 0] = 0
    return turned, np.where(scales == 0, np.float32(1), np.abs(scales))


def _codes(packed: U8) -> U8:
    return np.concatenate((packed & np.uint8(0x0F), packed >> np.uint8(4)), axis=1)  # [blocks, 32]


def _halves(blocks: U8, count: int) -> F32:
    return np.ascontiguousarray(blocks[:, : 2 * count]).view("<f2").astype("<f4")  # [blocks, count]


def _odd_scale() -> KernelError:
    text = "A block has a scale that cannot be kept; convert the model to a float type instead."
    return kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "scales", text)
