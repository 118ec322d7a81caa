"""The shape of a model that no file holds: every matrix in one stored type, norms in float32."""

from kernels.dtypes import DType
from kernels.model_config import ModelConfig
from kernels.model_names import tensor_shapes
from kernels.model_shape import ModelShape, StoredShape


def shape_of(config: ModelConfig, dtype: DType, block_size: int) -> ModelShape:
    """Give what the header and directory of such a file would say."""
    tensors = []
    for name, shape in tensor_shapes(config):
        is_matrix = len(shape) > 1
        kind = dtype if is_matrix else DType.F32
        tensors.append(StoredShape(name, kind, shape, block_size if is_matrix else 0))
    return ModelShape(config, tuple(tensors), 0)
