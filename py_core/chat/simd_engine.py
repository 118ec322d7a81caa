"""Find where the shell can run the kernels, and make op sets there.

Takes the shell's two kernel functions. Gives a way to make a SIMD op set: on a memory that threads
share where the page is isolated and has more than one core, else on Python's own memory; or none
where the shell has no WebAssembly memory to offer. Does not know messages.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from kernels.kv_cache import CacheFormat
from kernels.model_config import ModelConfig
from kernels.ops import OpSet
from kernels.simd.kv_storage import KINDS
from kernels.simd.module_bytes import SINGLE, THREADS, read_module
from kernels.simd.own_memory_port import ModuleExports, OwnMemoryPort
from kernels.simd.port import KernelPort
from kernels.simd.shared_memory_port import KernelMemory, SharedMemoryPort
from kernels.simd.simd_ops import SimdOps


class KernelShell(Protocol):
    """The shell's functions for the kernels; each gives None where it cannot."""

    def kernel_on_python_memory(self, module: bytes, /) -> object | None:
        """Instantiate a module on the memory that Python lives in; give its exports."""

    def kernel_on_shared_memory(self, module: bytes, /) -> object | None:
        """Instantiate a module on a memory for threads; give that memory."""


@dataclass(frozen=True, slots=True)
class SimdHome:
    """A way to make a SIMD op set, and the most threads that it may use.

    Where threads share a memory, `make_alone` does without them, on Python's own memory.
    """

    make: Callable[[ModelConfig, CacheFormat], OpSet]
    seats: int
    make_alone: Callable[[ModelConfig, CacheFormat], OpSet] | None


def find_simd_home(shell: KernelShell) -> SimdHome | None:
    """Find out where a SIMD op set runs, or None where the kernels cannot run."""
    probe = open_port(shell)
    if probe is None:
        return None
    seats = probe.seats
    probe.close()

    def make(config: ModelConfig, cache_format: CacheFormat) -> OpSet:
        port = open_port(shell)
        if port is None:
            raise MemoryError
        return SimdOps(config, port, cache_kind=KINDS[cache_format])

    def make_alone(config: ModelConfig, cache_format: CacheFormat) -> OpSet:
        port = _open_on_python_memory(shell)
        if port is None:
            raise MemoryError
        return SimdOps(config, port, cache_kind=KINDS[cache_format])

    return SimdHome(make, seats, make_alone if seats > 1 else None)


def report_lost_thread(ops: OpSet) -> str | None:
    """Give a sentence, once, when a thread of the kernels was lost since the last time."""
    if not isinstance(ops, SimdOps) or not ops.has_lost_a_thread:
        return None
    ops.has_lost_a_thread = False
    return "A thread of the engine was lost; this answer and the next ones use one thread."


def open_port(shell: KernelShell) -> KernelPort | None:
    """Open a new home for the kernels: each model has its own, so that freeing gives all back."""
    memory = shell.kernel_on_shared_memory(read_module(THREADS))
    if memory is not None:
        try:
            return SharedMemoryPort(cast(KernelMemory, memory))
        except MemoryError:
            cast(KernelMemory, memory).close()
    return _open_on_python_memory(shell)


def _open_on_python_memory(shell: KernelShell) -> KernelPort | None:
    exports = shell.kernel_on_python_memory(read_module(SINGLE))
    return None if exports is None else OwnMemoryPort(cast(ModuleExports, exports))
