"""The memory plan says what the kernels will really take."""

import numpy as np
import pytest

from kernels.dtypes import DType
from kernels.memory_plan import plan_memory
from kernels.model_names import tensor_shapes
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.port import STACK_BYTES
from kernels.simd.simd_ops import SimdOps
from kernels.slm_layout import payload_bytes, scale_bytes
from tests.kernels.random_tensors import QuantisedTensors, RandomTensors
from tests.kernels.simd.test_simd_ops import LONG_IDS, WIDE
from tests.kernels.simd.wasmtime_port import WasmtimePort

TOLERANCE = 0.05


def stored_sizes(dtype: DType, block_size: int) -> list[int]:
    """Give the bytes of each tensor in a file, norms in float32."""
    return [
        payload_bytes(kind, shape) + scale_bytes(kind, shape, block_size)
        for _, shape in tensor_shapes(WIDE)
        for kind in [dtype if len(shape) > 1 else DType.F32]
    ]


@pytest.mark.parametrize("dtype", [DType.Q8_0, DType.Q4_0, DType.Q4_1], ids=lambda one: one.label)
def test_planned_bytes_are_near_the_real_ones(dtype):
    """Weights, cache and buffers at full context, within 5 percent."""
    sizes = stored_sizes(dtype, 32)
    plan = plan_memory(WIDE, "simd", stored_bytes=sum(sizes), largest_tensor_bytes=max(sizes))
    port = WasmtimePort(read_module(SINGLE))
    ops = SimdOps(WIDE, port)
    for _ in ops.load(QuantisedTensors(RandomTensors(WIDE), dtype, 32)):
        pass
    assert abs(ops.weight_bytes - plan.weight_bytes) < TOLERANCE * plan.weight_bytes
    cache = ops.new_cache(WIDE.max_context)
    hidden = ops.embed(np.array(LONG_IDS[:8], dtype=np.int32))
    ops.attention_block(0, hidden, cache, 0)
    planned = plan.bytes_for(WIDE.max_context)
    assert abs(port.used_bytes - STACK_BYTES - planned) < TOLERANCE * planned
