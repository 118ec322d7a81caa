"""Saved beginnings behind the shell's functions: IndexedDB in the browser.

Takes the host object, gives the port. Bytes cross as those of a model do: the shell opens an entry
under a handle, and both ways copy within the call. What the browser refuses is not kept. Does not
know what the bytes mean.
"""

import json
from collections.abc import Awaitable
from typing import Any, Protocol


class PrefixHost(Protocol):
    """The shell's functions for saved beginnings; each gives JSON, `{"error": name}` if refused."""

    def prefix_open(self, key: str, /) -> Awaitable[str]:
        """Open an entry for `model_read`; give `{handle}`, null where there is none."""

    def prefix_put(self, key: str, model: str, data: memoryview, /) -> Awaitable[str]:
        """Keep a copy of `data`, made before the first wait; give `{is_kept}`."""

    def prefix_remove(self, key: str, /) -> Awaitable[str]:
        """Remove an entry; give `{}`."""

    def model_size(self, handle: str, /) -> int:
        """Bytes of what is open."""

    def model_read(self, handle: str, offset: int, target: memoryview, /) -> object:
        """Copy bytes from `offset` on until `target` is full."""

    def model_close(self, handle: str, /) -> object:
        """Let go of the shell's copy."""


class HostPrefixes:
    """The port over a host."""

    def __init__(self, host: PrefixHost) -> None:
        """Keep the host; nothing is opened yet."""
        self._host = host

    async def read(self, key: str) -> bytes | None:
        """Copy an entry."""
        handle = _read_answer(await self._host.prefix_open(key)).get("handle")
        if handle is None:
            return None
        try:
            data = bytearray(int(self._host.model_size(handle)))
            if data:
                self._host.model_read(handle, 0, memoryview(data))
        finally:
            self._host.model_close(handle)
        return bytes(data)

    async def write(self, key: str, model: str, data: bytes) -> bool:
        """Hand a copy over."""
        answer = _read_answer(await self._host.prefix_put(key, model, memoryview(data)))
        return answer.get("is_kept") is True

    async def remove(self, key: str) -> None:
        """Remove an entry."""
        await self._host.prefix_remove(key)


def _read_answer(text: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(text)
    return answer
