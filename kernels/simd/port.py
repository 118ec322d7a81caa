"""State what the SIMD op set needs of a running kernel module and its memory.

Takes nothing at run time. Gives the protocol that each home of the module implements.
Does not know models.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]

ALIGNMENT = 64
"""Every block begins at a multiple of this: a cache line."""

STACK_POINTER = "__stack_pointer"
"""The module's global that a thread sets to the end of its stack before the first call."""

STACK_BYTES = 1 << 16
"""The private stack of one thread of the module."""


class KernelPort(Protocol):
    """A module that is ready to be called, and the memory that it sees."""

    @property
    def seats(self) -> int:
        """The most threads that can share the work of a call, this one included."""

    @property
    def used_bytes(self) -> int:
        """Bytes that are allocated now."""

    def allocate(self, size: int) -> int:
        """Give the address of `size` zeroed bytes, aligned to `ALIGNMENT`.

        Raises:
            MemoryError: the memory cannot grow that far.
        """

    def release(self, address: int) -> None:
        """Give a block back."""

    def write(self, address: int, data: AnyArray) -> None:
        """Copy an array into the module's memory."""

    def read(self, address: int, target: AnyArray) -> None:
        """Fill a contiguous array from the module's memory."""

    def lend(self, data: AnyArray) -> int:
        """Give an address where a contiguous array can be read until `take_back`."""

    def take_back(self) -> None:
        """End all lending."""

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function: 0 means that it is done, 1 that the team lost a thread."""

    def start_team(self, seats: int) -> None:
        """Begin to start a team of so many threads, this one included."""

    def ready_team(self) -> int:
        """Give the address of the team once all its threads are there, else 0."""

    def dismiss_team(self) -> None:
        """End the team's other threads, if there are any; a running call must not use it."""

    def close(self) -> None:
        """Let go of the module, its threads and all memory."""


def aligned(size: int) -> int:
    """Give the bytes that a block of this size takes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def address_of(data: AnyArray) -> int:
    """Give where an array lies in Python's own memory."""
    address: int = data.__array_interface__["data"][0]
    return address


def as_bytes(data: AnyArray) -> npt.NDArray[np.uint8]:
    """See a contiguous array as bytes."""
    return data.reshape(-1).view(np.uint8)
