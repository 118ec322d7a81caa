"""The port to what a model had read at the end of an earlier visit.

Takes bytes under a key, gives them back as they were or not at all: losing them costs time and
nothing else, so no call fails. Old entries make room for new ones. Does not know what the bytes
mean.
"""

from typing import Protocol


class PrefixStore(Protocol):
    """A few saved beginnings, each belonging to one model file."""

    async def read(self, key: str) -> bytes | None:
        """Give what lies under a key."""

    async def write(self, key: str, model: str, data: bytes) -> bool:
        """Keep bytes that go when the model goes; tell whether they are kept."""

    async def remove(self, key: str) -> None:
        """Let go of what lies under a key."""


class NoPrefixes:
    """Where nothing is kept."""

    async def read(self, _key: str) -> bytes | None:
        """Find nothing."""
        return None

    async def write(self, _key: str, _model: str, _data: bytes) -> bool:
        """Keep nothing."""
        return False

    async def remove(self, _key: str) -> None:
        """There is nothing."""
