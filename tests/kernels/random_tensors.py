"""A model with seeded random weights that lives in memory, and one whose tensors are quantised.

Takes a shape and a seed. Gives what loading needs of a file (`kernels.ops.TensorSource`), so that
kernel tests need no container.
"""

from dataclasses import replace

import numpy as np

from kernels.arrays import F32
from kernels.dtypes import DType, StoredTensor, quantise, rows_and_columns
from kernels.model_config import ModelConfig
from kernels.model_names import tensor_shapes
from kernels.ops import TensorSource

SMALL = ModelConfig(
    vocab_size=50,
    special_token_count=4,
    hidden_size=24,
    layer_count=3,
    head_count=6,
    kv_head_count=2,
    head_dim=4,
    ffn_size=40,
    max_context=64,
    rope_theta=10_000.0,
    rms_norm_epsilon=1e-5,
    tied_output=False,
)
TIED = replace(SMALL, tied_output=True)
UNGROUPED = replace(SMALL, kv_head_count=6)
SHAPES = {"grouped": SMALL, "tied": TIED, "one key head per query head": UNGROUPED}


class RandomTensors:
    """Weights drawn so that every layer changes the hidden state by about its own size."""

    def __init__(self, config: ModelConfig = SMALL, *, seed: int = 7) -> None:
        self.config = config
        draw = np.random.default_rng(seed)
        self._tensors = {
            name: self._one(draw, name, shape) for name, shape in tensor_shapes(config)
        }

    def read_f32(self, name: str) -> F32:
        """Give a copy, which the caller may keep."""
        return self._tensors[name].copy()

    def read_tensor(self, name: str) -> StoredTensor:
        """Give the tensor as a file would store it in float32."""
        return StoredTensor(DType.F32, self._tensors[name].shape, self.read_f32(name), None, 0)

    @staticmethod
    def _one(draw: np.random.Generator, name: str, shape: tuple[int, ...]) -> F32:
        values = draw.standard_normal(shape, dtype=np.float32)
        if len(shape) == 1:
            return np.float32(1) + np.float32(0.1) * values
        if name == "tok_embeddings.weight":
            return values
        return values / np.float32(np.sqrt(shape[1]))


class QuantisedTensors:
    """Another source's matrices, quantised and read back; norms stay as they are."""

    def __init__(self, source: TensorSource, dtype: DType, block_size: int | None) -> None:
        self.config = source.config
        self._source = source
        self._dtype = dtype
        self._block_size = block_size

    def read_tensor(self, name: str) -> StoredTensor:
        """Quantise one matrix with scales for blocks, or for rows when no block size is given."""
        weights = self._source.read_f32(name)
        if weights.ndim == 1:
            return StoredTensor(DType.F32, weights.shape, weights, None, 0)
        rows, columns = rows_and_columns(weights.shape)
        block_size = self._block_size or columns
        payload, scales = quantise(self._dtype, weights.reshape(rows, columns), block_size)
        return StoredTensor(self._dtype, weights.shape, payload, scales, block_size)

    def read_f32(self, name: str) -> F32:
        """Give one tensor after its trip through the stored type."""
        return self.read_tensor(name).to_f32()
