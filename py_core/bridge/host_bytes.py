"""Model bytes through the host: read from an opened file, write to a new one.

Takes the host and a handle, gives the byte source and sink that `kernels` asks for, without
importing it. Does not know what the bytes mean.
"""

from py_core.bridge.host import Host
from py_core.errors import InvariantError


class HostSource:
    """Random reads of an opened model file."""

    def __init__(self, host: Host, handle: str) -> None:
        """Ask the size once; the file behind a handle does not change."""
        self._host, self._handle = host, handle
        self.size = int(host.model_size(handle))

    def read_into(self, offset: int, target: memoryview, /) -> None:
        """Fill all of `target`."""
        if offset < 0 or offset + len(target) > self.size:
            raise InvariantError(what="a read leaves the model file")
        if len(target):
            self._host.model_read(self._handle, offset, target)


class HostSink:
    """Sequential writes to the file that is being made from `handle`."""

    def __init__(self, host: Host, handle: str) -> None:
        """Begin with nothing written."""
        self._host, self._handle = host, handle

    def write(self, data: bytes | bytearray | memoryview, /) -> None:
        """Append a copy of `data`."""
        if len(data):
            self._host.model_write(self._handle, memoryview(data).cast("B"))
