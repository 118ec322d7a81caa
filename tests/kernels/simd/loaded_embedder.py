"""An embedder in the kernel module, in the `wasmtime` runtime."""

from kernels.embedder import Embedder
from kernels.embedder_file import EmbedderFile
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.port import KernelPort
from kernels.simd.simd_encoder import load_simd_embedder_steps
from tests.kernels.simd.wasmtime_port import WasmtimePort


def load_in_module(file: EmbedderFile, port: KernelPort | None = None) -> Embedder:
    """Load all steps at once."""
    steps = load_simd_embedder_steps(file, port or WasmtimePort(read_module(SINGLE)))
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            embedder: Embedder = finished.value
            return embedder
