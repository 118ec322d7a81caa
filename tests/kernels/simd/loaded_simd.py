"""A decoder over the SIMD operations with its weights loaded, in the `wasmtime` runtime.

Takes any tensor source. Gives a ready decoder.
"""

from kernels.decoder import Decoder
from kernels.ops import TensorSource
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.records import CacheKind
from kernels.simd.simd_ops import SimdOps
from tests.kernels.simd.wasmtime_port import WasmtimePort


def load_simd_ops(source: TensorSource, cache_kind: CacheKind = CacheKind.F32) -> SimdOps:
    """Load all weights and give the op set."""
    ops = SimdOps(source.config, WasmtimePort(read_module(SINGLE)), cache_kind=cache_kind)
    for _ in ops.load(source):
        pass
    return ops


def load_simd_decoder(source: TensorSource, cache_kind: CacheKind = CacheKind.F32) -> Decoder:
    """Load all weights and give the decoder."""
    return Decoder(source.config, load_simd_ops(source, cache_kind))
