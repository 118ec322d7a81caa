"""A port that writes down what it is asked, so that another runtime can be asked the same.

Takes the module's bytes. Gives a script of steps and the memory before the first of them.
"""

import base64
from typing import Any, TypeAlias

from kernels.simd.port import STACK_BYTES, AnyArray, as_bytes
from tests.kernels.simd.wasmtime_port import WasmtimePort

Script: TypeAlias = list[list[Any]]
TEAM_BYTES = 192


class RecordingPort(WasmtimePort):
    """Records after `start`; the blocks that threads need are allocated before."""

    def __init__(self, module: bytes, seats: int) -> None:
        super().__init__(module, seats=seats)
        self.script: Script | None = None
        self.memory_before = b""
        self.stacks = self.allocate(seats * STACK_BYTES)
        self.teams = [self.allocate(TEAM_BYTES) for _ in range(seats)]

    def start(self) -> None:
        """Keep the memory as it is and record from here on."""
        self.memory_before = self.image()
        self.script = []

    def allocate(self, size: int) -> int:
        """Record that zeros are expected."""
        address = super().allocate(size)
        self._note("clear", address, size)
        return address

    def write(self, address: int, data: AnyArray) -> None:
        """Record the bytes."""
        super().write(address, data)
        self._note("write", address, _text(data))

    def read(self, address: int, target: AnyArray) -> None:
        """Record what was found."""
        super().read(address, target)
        self._note("expect", address, _text(target))

    def call(self, name: str, *arguments: int) -> int:
        """Record name and arguments."""
        self._note("call", name, list(arguments))
        return super().call(name, *arguments)

    def _note(self, *step: object) -> None:
        if getattr(self, "script", None) is not None:
            self.script.append(list(step))  # type: ignore[union-attr]


def _text(data: AnyArray) -> str:
    return base64.b64encode(as_bytes(data).tobytes()).decode()
