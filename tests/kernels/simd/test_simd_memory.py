"""The memory plan says what the kernels will really take."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.dtypes import DType
from kernels.memory_plan import Engine, plan_memory
from kernels.simd.kv_storage import KINDS
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.simd_ops import SimdOps
from tests.kernels.random_tensors import QuantisedTensors, RandomTensors
from tests.kernels.shapes import shape_of
from tests.kernels.simd.test_simd_ops import LONG_IDS, WIDE
from tests.kernels.simd.wasmtime_port import WasmtimePort


@pytest.mark.parametrize("cache_format", KINDS)
@pytest.mark.parametrize("dtype", [DType.Q8_0, DType.Q4_0, DType.Q4_1], ids=lambda one: one.label)
def test_planned_bytes_are_the_real_ones(dtype, cache_format):
    """Weights, cache and buffers, to the byte, as loaded and at full context."""
    plan = plan_memory(shape_of(WIDE, dtype, 32), Engine("simd", cache_format))
    port = WasmtimePort(read_module(SINGLE))
    ops = SimdOps(WIDE, port, cache_kind=KINDS[cache_format])
    for _ in ops.load(QuantisedTensors(RandomTensors(WIDE), dtype, 32)):
        pass
    assert ops.weight_bytes == plan.weight_bytes
    cache = ops.new_cache(plan.kv_first_tokens)
    assert port.used_bytes == plan.bytes_when_loaded
    cache.storage.grow(WIDE.max_context)
    hidden = ops.embed(np.array(LONG_IDS[:8], dtype=np.int32))
    ops.attention_block(0, hidden, cache, 0)
    assert port.used_bytes == plan.bytes_for(WIDE.max_context)


@pytest.mark.parametrize("cache_format", ["int16", "int8"])
def test_codes_are_planned_only_where_heads_suit_them(cache_format):
    """The plan says what the op set will do, not what was asked for."""
    narrow = replace(WIDE, head_dim=4, head_count=WIDE.hidden_size // 4)
    plan = plan_memory(shape_of(narrow, DType.F32, 0), Engine("simd", cache_format))
    assert plan.engine.cache_format == "f32"
