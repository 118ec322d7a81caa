"""A model on its way into a `.slm` file, whatever format it is read from.

Takes and gives the same four things for every format: shape, tokenizer, weights on request, and
the manifest's facts. Does not know formats or files.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kernels.arrays import F32
from kernels.dtypes import I8, U8, DType, rows_and_columns
from kernels.manifest import Manifest
from kernels.model_config import ModelConfig
from kernels.slm_file import SlmFile
from kernels.slm_plan import TensorRows


@dataclass(frozen=True, slots=True)
class ModelSource:
    """What a converter needs.

    Attributes:
        config: Shape of the model.
        tokenizer_section: BTOK or BPE1 bytes.
        tensors: Name in the `.slm` to its weights, in the order to be written.
        manifest: Facts; its dtype is replaced by that of the conversion.
    """

    config: ModelConfig
    tokenizer_section: bytes
    tensors: Mapping[str, TensorRows]
    manifest: Manifest


class ArrayRows:
    """Weights that are in memory."""

    def __init__(self, array: F32) -> None:
        self._rows = array.reshape(rows_and_columns(array.shape))  # [rows, columns]
        self.shape = array.shape

    def read(self, start: int, stop: int) -> F32:
        """Return a slice."""
        return self._rows[start:stop]


class SlmRows:
    """Weights of an open `.slm` file."""

    def __init__(self, model: SlmFile, name: str) -> None:
        self._model = model
        self._name = name
        self.shape = model.entries[name].shape

    @property
    def stored_as(self) -> tuple[DType, int] | None:
        """Type and block size in the file."""
        entry = self._model.entries[self._name]
        return entry.dtype, entry.block_size

    def read(self, start: int, stop: int) -> F32:
        """Decode rows from the file."""
        return self._model.read_rows_f32(self._name, start, stop)

    def read_stored(self, start: int, stop: int) -> tuple[F32 | I8 | U8, F32 | None]:
        """Read rows as they are in the file."""
        rows = self._model.read_rows(self._name, start, stop)
        return rows.payload, rows.scales
