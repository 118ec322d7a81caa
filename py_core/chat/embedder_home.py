"""Where an embedder runs: in the kernel module on Python's own memory, or on numpy.

Takes a file and the shell's kernel function, gives loading steps and then the embedder. Threads are
left to the chat model: embedding is work for idle time. Does not know texts or vectors.
"""

from collections.abc import Generator
from typing import Protocol, cast

from kernels.byte_source import ByteSource
from kernels.embedder import Embedder, load_embedder
from kernels.embedder_file import open_embedder
from kernels.ops import LoadProgress
from kernels.reserved_memory import reserve
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.own_memory_port import ModuleExports, OwnMemoryPort
from kernels.simd.simd_encoder import find_encoder_fault, load_simd_embedder_steps

_ROOM_BYTES = 6 << 20
"""Buffers for one text, the vocabulary's table, and what loading needs for a moment."""


class EmbedderHome(Protocol):
    """The shell's function for the kernels; it gives None where it cannot."""

    def kernel_on_python_memory(self, module: bytes, /) -> object | None:
        """Instantiate a module on the memory that Python lives in; give its exports."""


def count_embedder_bytes(file_bytes: int) -> int:
    """Count what an embedder takes: its file's bytes, laid out anew, and room to work."""
    return file_bytes + _ROOM_BYTES


def load_embedder_steps(
    source: ByteSource, home: EmbedderHome
) -> Generator[LoadProgress, None, tuple[Embedder, str]]:
    """Load an embedder; gives it with the name of its op set.

    Raises:
        KernelError: the file is refused.
        MemoryError: there is no room for it.
    """
    reserve(count_embedder_bytes(source.size))
    file = open_embedder(source)
    exports = home.kernel_on_python_memory(read_module(SINGLE))
    if exports is None or find_encoder_fault(file.config):
        yield LoadProgress(0, 1, "embedder")
        return load_embedder(file), "numpy"
    port = OwnMemoryPort(cast(ModuleExports, exports))
    is_complete = False
    try:
        embedder = yield from load_simd_embedder_steps(file, port)
        is_complete = True
        return embedder, "simd"
    finally:
        # Also when the consumer closes this generator to stop the load.
        if not is_complete:
            port.close()
