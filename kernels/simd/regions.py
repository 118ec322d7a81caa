"""Hand out parts of a growing linear memory.

Takes sizes; gives addresses and asks for growth when nothing free fits. Free neighbours are joined.
Does not know whose memory it is.
"""

from collections.abc import Callable

from kernels.simd.port import ALIGNMENT, aligned


class Regions:
    """First fit over one range that grows at its end.

    Args:
        start: First address that may be given out.
        end: End of the memory as it is now.
        grow: Told how many bytes are missing at least, makes the memory longer and gives its new
            end; raises `MemoryError` when it cannot.
    """

    def __init__(self, start: int, end: int, grow: Callable[[int], int]) -> None:
        first = aligned(start)
        self._free: list[tuple[int, int]] = [(first, end)]
        self._sizes: dict[int, int] = {}
        self._end = end
        self._grow = grow

    @property
    def used_bytes(self) -> int:
        """Bytes that are given out."""
        return sum(self._sizes.values())

    def take(self, size: int) -> int:
        """Give the address of a free region.

        Raises:
            MemoryError: the memory cannot grow that far.
        """
        wanted = max(aligned(size), ALIGNMENT)
        for index, (start, end) in enumerate(self._free):
            if end - start >= wanted:
                return self._cut(index, wanted)
        self._extend(wanted)
        return self._cut(len(self._free) - 1, wanted)

    def give_back(self, address: int) -> None:
        """Make a region free again."""
        end = address + self._sizes.pop(address)
        self._free.append((address, end))
        self._free.sort()
        joined: list[tuple[int, int]] = []
        for region in self._free:
            if joined and joined[-1][1] == region[0]:
                joined[-1] = (joined[-1][0], region[1])
            else:
                joined.append(region)
        self._free = joined

    def _cut(self, index: int, wanted: int) -> int:
        start, end = self._free[index]
        if end - start == wanted:
            del self._free[index]
        else:
            self._free[index] = (start + wanted, end)
        self._sizes[start] = wanted
        return start

    def _extend(self, wanted: int) -> None:
        tail = self._free[-1] if self._free and self._free[-1][1] == self._end else None
        missing = wanted - (tail[1] - tail[0] if tail else 0)
        old_end, self._end = self._end, self._grow(missing)
        if tail:
            self._free[-1] = (tail[0], self._end)
        else:
            self._free.append((aligned(old_end), self._end))
