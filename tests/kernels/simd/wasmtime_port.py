"""Run the kernel module beside CPython, in the `wasmtime` runtime.

Takes the module's bytes. Gives a port with one seat, over a memory of its own.
Does not know models; `wasmtime` is needed only here and never in the browser.
"""

import ctypes

import numpy as np
import numpy.typing as npt
import pytest

from kernels.simd.port import STACK_BYTES, STACK_POINTER, AnyArray, as_bytes
from kernels.simd.region_port import RegionPort

wasmtime = pytest.importorskip(
    "wasmtime",
    reason="no WebAssembly runtime beside Python; the browser tests run the module there",
)

_PAGE = 1 << 16
_FIRST_PAGES = 64
_MOST_PAGES = 65_535  # 4 GiB less a page, so that every end fits 32 bits


class WasmtimePort(RegionPort):
    """The module over its own memory.

    Args:
        module: the module's bytes.
        seats: threads to leave memory for; only this one ever works.
    """

    def __init__(self, module: bytes, *, seats: int = 1) -> None:
        self._seats = seats
        config = wasmtime.Config()
        config.wasm_simd = True
        engine = wasmtime.Engine(config)
        self._store = wasmtime.Store(engine)
        limits = wasmtime.Limits(_FIRST_PAGES, _MOST_PAGES)
        self._memory = wasmtime.Memory(self._store, wasmtime.MemoryType(limits))
        instance = wasmtime.Instance(self._store, wasmtime.Module(engine, module), [self._memory])
        self._exports = instance.exports(self._store)
        super().__init__(_PAGE, _FIRST_PAGES * _PAGE)
        stack = self._exports[STACK_POINTER]
        if not isinstance(stack, wasmtime.Global):
            raise TypeError(STACK_POINTER)
        self.stack_end = self._regions.take(STACK_BYTES) + STACK_BYTES
        stack.set_value(self._store, self.stack_end)

    @property
    def seats(self) -> int:
        """As many as there is memory for."""
        return self._seats

    def write(self, address: int, data: AnyArray) -> None:
        """Copy an array into the module's memory."""
        self._bytes(address, data.nbytes)[:] = as_bytes(data)

    def read(self, address: int, target: AnyArray) -> None:
        """Fill an array from the module's memory."""
        as_bytes(target)[:] = self._bytes(address, target.nbytes)

    def call(self, name: str, *arguments: int) -> int:
        """Call an exported function."""
        function = self._exports[name]
        if not isinstance(function, wasmtime.Func):
            raise TypeError(name)
        return int(function(self._store, *arguments))

    def start_team(self, seats: int) -> None:
        """There is only this thread."""

    def ready_team(self) -> int:
        """There is none."""
        return 0

    def dismiss_team(self) -> None:
        """There is none."""

    def close(self) -> None:
        """Let go of the store, and with it of the memory."""
        self._store.close()

    def image(self) -> bytes:
        """Give the whole memory as it is now."""
        return self._bytes(0, int(self._memory.size(self._store)) * _PAGE).tobytes()

    def _bytes(self, address: int, size: int) -> npt.NDArray[np.uint8]:
        # Made anew each time: the memory may move when it grows.
        base = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        view = (ctypes.c_uint8 * size).from_address(base + address)
        return np.ctypeslib.as_array(view)

    def _clear(self, address: int, size: int) -> None:
        self._bytes(address, size).fill(0)

    def _grow(self, missing: int) -> int:
        pages = -(-missing // _PAGE)
        try:
            self._memory.grow(self._store, pages)
        except wasmtime.WasmtimeError as error:
            text = f"the kernel memory cannot grow by {missing} bytes"
            raise MemoryError(text) from error
        return int(self._memory.size(self._store)) * _PAGE
