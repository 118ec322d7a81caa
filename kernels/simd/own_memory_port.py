"""Run the kernel module on the memory that Python itself lives in.

Takes the exports of a module that the shell has instantiated on that memory, so the addresses of
numpy arrays are valid there at once. Gives a port with one seat.
Does not know how the shell did it, nor models.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kernels.simd.port import (
    ALIGNMENT,
    STACK_BYTES,
    STACK_POINTER,
    AnyArray,
    address_of,
    as_bytes,
)


class ModuleExports(Protocol):
    """The functions of the module by name, and the pointer to its stack."""

    def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401 - functions and one global


class OwnMemoryPort:
    """The module among Python's own objects."""

    def __init__(self, exports: ModuleExports) -> None:
        self._exports = exports
        self._functions: dict[str, Any] = {}
        self._blocks: dict[int, npt.NDArray[np.uint8]] = {}
        self._lent: list[AnyArray] = []
        # By name: inside a class Python would change an attribute with two underscores.
        getattr(exports, STACK_POINTER).value = self.allocate(STACK_BYTES) + STACK_BYTES

    @property
    def seats(self) -> int:
        """One."""
        return 1

    @property
    def used_bytes(self) -> int:
        """Bytes that are allocated now."""
        return sum(block.nbytes for block in self._blocks.values())

    def allocate(self, size: int) -> int:
        """Give the address of zeroed bytes; they are a numpy array that this port keeps."""
        raw = np.zeros(size + ALIGNMENT, dtype=np.uint8)
        skipped = -address_of(raw) % ALIGNMENT
        block = raw[skipped : skipped + size]
        address = address_of(block)
        self._blocks[address] = block
        return address

    def release(self, address: int) -> None:
        """Let go of the array."""
        self._blocks.pop(address, None)

    def write(self, address: int, data: AnyArray) -> None:
        """Copy an array to the beginning of a block."""
        self._blocks[address][: data.nbytes] = as_bytes(data)

    def read(self, address: int, target: AnyArray) -> None:
        """Copy the beginning of a block."""
        as_bytes(target)[:] = self._blocks[address][: target.nbytes]

    def lend(self, data: AnyArray) -> int:
        """Give the array's own address and keep it alive."""
        self._lent.append(data)
        return address_of(data)

    def take_back(self) -> None:
        """Let go of the arrays."""
        self._lent.clear()

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function."""
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = getattr(self._exports, name)
        return int(function(*arguments))

    def start_team(self, seats: int) -> None:
        """There is only this thread."""

    def ready_team(self) -> int:
        """There is none."""
        return 0

    def dismiss_team(self) -> None:
        """There is none."""

    def close(self) -> None:
        """Let go of all blocks; the module has no state of its own."""
        self._blocks.clear()
        self._functions.clear()
