"""Run the kernel module on a memory that several threads share.

Takes the shell's kernel memory: the module's exports for this thread, copies from and to Python's
memory, and threads that can be started on it. Gives a port; weights and cache lie in the shared
memory, and only rows of hidden states and logits cross. Does not know models.
"""

from typing import Any, Protocol

import numpy as np

from kernels.simd.own_memory_port import ModuleExports
from kernels.simd.port import STACK_BYTES, STACK_POINTER, AnyArray, address_of
from kernels.simd.region_port import RegionPort

_PAGE = 1 << 16
_TEAM_BYTES = 192
_COUNT_OFFSET, _READY_OFFSET = 0, 4  # words of the record `Team` in source/team.c
_SMALL_BYTES = 1 << 16


class KernelMemory(Protocol):
    """What the shell offers; addresses without a name are in the shared memory."""

    @property
    def exports(self) -> ModuleExports:
        """The module's functions on this thread."""

    @property
    def seats(self) -> int:
        """Threads that the machine can run at a time."""

    def byte_length(self) -> int:
        """The size of the shared memory."""

    def grow(self, pages: int, /) -> bool:
        """Make the memory longer; false when it cannot."""

    def clear(self, address: int, size: int, /) -> object:
        """Fill with zeros."""

    def copy_in(self, address: int, python_address: int, size: int, /) -> object:
        """Copy from Python's memory."""

    def copy_out(self, address: int, python_address: int, size: int, /) -> object:
        """Copy to Python's memory."""

    def load_word(self, address: int, /) -> int:
        """Read a 32-bit word that another thread may write."""

    def start_seats(self, team: int, stacks: int, stack_bytes: int, count: int, /) -> object:
        """Begin to start threads for seats 1 to `count` - 1 of a team."""

    def stop_seats(self) -> object:
        """End those threads at once."""

    def close(self) -> object:
        """End the threads and stop counting the memory as used."""


class SharedMemoryPort(RegionPort):
    """The module among threads; this one has seat 0."""

    def __init__(self, memory: KernelMemory) -> None:
        self._memory = memory
        super().__init__(_PAGE, int(memory.byte_length()))
        self._functions: dict[str, Any] = {}
        # The address of an array costs more to ask for than a small copy.
        self._staging = np.empty(_SMALL_BYTES, dtype=np.uint8)
        self._staging_address = address_of(self._staging)
        self._seats = max(1, int(memory.seats))
        self._team_seats = 1
        self._team = self.allocate(_TEAM_BYTES)
        self._stacks = self.allocate(STACK_BYTES * self._seats)
        getattr(memory.exports, STACK_POINTER).value = self._stacks + STACK_BYTES

    @property
    def seats(self) -> int:
        """The most threads that can share a call."""
        return self._seats

    def write(self, address: int, data: AnyArray) -> None:
        """Copy an array into the shared memory."""
        self._memory.copy_in(address, address_of(data), data.nbytes)

    def read(self, address: int, target: AnyArray) -> None:
        """Copy from the shared memory."""
        if target.nbytes > _SMALL_BYTES:
            self._memory.copy_out(address, address_of(target), target.nbytes)
            return
        self._memory.copy_out(address, self._staging_address, target.nbytes)
        target.reshape(-1).view(np.uint8)[:] = self._staging[: target.nbytes]

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function on this thread."""
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = getattr(self._memory.exports, name)
        return int(function(*arguments))

    def start_team(self, seats: int) -> None:
        """Begin to start a team; any earlier one ends."""
        self.dismiss_team()
        self._team_seats = seats
        # A fresh record each time: a thread that is just ending may still look at the old one.
        self._team = self.allocate(_TEAM_BYTES)
        self.write(self._team + _COUNT_OFFSET, np.array([seats], dtype="<u4"))
        self._memory.start_seats(self._team, self._stacks, STACK_BYTES, seats)

    def ready_team(self) -> int:
        """Give the team's address once all its threads are there, else 0."""
        if self._team_seats == 1:
            return 0
        ready = int(self._memory.load_word(self._team + _READY_OFFSET))
        return self._team if ready == self._team_seats - 1 else 0

    def dismiss_team(self) -> None:
        """End the team's other threads."""
        if self._team_seats > 1:
            self._team_seats = 1
            self._memory.stop_seats()

    def close(self) -> None:
        """End the threads and let go of the memory."""
        self._team_seats = 1
        self._functions.clear()
        self._memory.close()

    def _clear(self, address: int, size: int) -> None:
        self._memory.clear(address, size)

    def _grow(self, missing: int) -> int:
        if not self._memory.grow(-(-missing // _PAGE)):
            text = f"the kernel memory cannot grow by {missing} bytes"
            raise MemoryError(text)
        return int(self._memory.byte_length())
