"""Know what a model will need from its header and directory, before a weight is read.

Takes a byte source. Gives the configuration, how each tensor is or will be stored, and the size of
the tokenizer. Reads no payload and computes no checksum, so what it gives is only for planning.
"""

import math
from dataclasses import dataclass

from kernels.byte_source import ByteSource
from kernels.dtypes import DType
from kernels.model_config import ModelConfig
from kernels.slm_directory import read_directory
from kernels.slm_header import read_header
from kernels.slm_layout import payload_bytes, scale_bytes


@dataclass(frozen=True, slots=True)
class StoredShape:
    """How one tensor is stored; block_size is 0 for f32."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    block_size: int

    @property
    def stored_bytes(self) -> int:
        """Bytes of payload and scales."""
        scales = scale_bytes(self.dtype, self.shape, self.block_size)
        return payload_bytes(self.dtype, self.shape) + scales

    @property
    def reading_bytes(self) -> int:
        """Bytes while it is read: as stored, and two flags for each scale that is checked."""
        return self.stored_bytes + scale_bytes(self.dtype, self.shape, self.block_size) // 2

    @property
    def f32_bytes(self) -> int:
        """Bytes of the weights as float32."""
        return 4 * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What planning needs of a model."""

    config: ModelConfig
    tensors: tuple[StoredShape, ...]
    tokenizer_bytes: int


def read_model_shape(source: ByteSource) -> ModelShape:
    """Read header and directory of a `.slm` file.

    Raises:
        KernelError: As `slm_file.open_model` for these two.
    """
    header = read_header(source)
    entries = read_directory(source, header).values()
    tensors = (
        StoredShape(entry.name, entry.dtype, entry.shape, entry.block_size) for entry in entries
    )
    return ModelShape(header.config, tuple(tensors), header.raw.tokenizer_length)
