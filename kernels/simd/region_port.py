"""Hand out blocks of a memory that belongs to the kernels alone.

Takes, from the port that builds on it, how to write, clear and grow that memory. Gives the part of
a `KernelPort` that is about blocks. Does not know whose memory it is, nor who calls the module.
"""

from abc import ABC, abstractmethod

from kernels.simd.port import AnyArray
from kernels.simd.regions import Regions


class RegionPort(ABC):
    """Blocks of one range, and copies of arrays that the module may read for a while.

    Args:
        start: first address that may be given out.
        end: end of the memory as it is now.
    """

    def __init__(self, start: int, end: int) -> None:
        self._regions = Regions(start, end, self._grow)
        self._lent: list[int] = []

    @property
    def used_bytes(self) -> int:
        """Bytes that are allocated now."""
        return self._regions.used_bytes

    def allocate(self, size: int) -> int:
        """Give the address of zeroed bytes."""
        address = self._regions.take(size)
        self._clear(address, size)
        return address

    def release(self, address: int) -> None:
        """Give a block back."""
        self._regions.give_back(address)

    def lend(self, data: AnyArray) -> int:
        """Copy an array to where the module can read it."""
        address = self._regions.take(data.nbytes)
        self._lent.append(address)
        self.write(address, data)
        return address

    def take_back(self) -> None:
        """Give the copies back."""
        for address in self._lent:
            self._regions.give_back(address)
        self._lent.clear()

    @abstractmethod
    def write(self, address: int, data: AnyArray) -> None:
        """Copy an array into the memory."""

    @abstractmethod
    def _clear(self, address: int, size: int) -> None:
        """Fill with zeros."""

    @abstractmethod
    def _grow(self, missing: int) -> int:
        """Make the memory longer by so many bytes at least and give its new end.

        Raises:
            MemoryError: it cannot be had.
        """
