"""What the shell around Python offers, as one object handed to `worker_entry.start`.

In the browser it is a JavaScript object, in tests a small Python one; names are the same. Bytes
cross only in `model_read`, `model_write` and `prefix_put`, which copy before they return, so
nothing of one side is kept by the other. Everything else is text and numbers.
"""

from collections.abc import Awaitable
from typing import Protocol

from py_core.store.host_database import DatabaseHost
from py_core.store.host_prefixes import PrefixHost


class Host(DatabaseHost, PrefixHost, Protocol):
    """The shell's functions; those of the stores are declared beside them."""

    def post(self, message: str, /) -> object:
        """Send one event or reply to the page."""

    def now_ms(self) -> float:
        """A monotonic clock."""

    def now_utc(self) -> str:
        """The time of day, as ISO text in UTC; it may jump."""

    def begin_visit(self) -> Awaitable[bool]:
        """Tell whether this tab begins a visit, or joins one of another tab; asked once."""

    def pause(self) -> Awaitable[object]:
        """Give the event loop one turn, so that a waiting message is delivered."""

    def heap_bytes(self) -> int:
        """The size of the memory that Python lives in, and of those that kernels share."""

    def heap_limit_bytes(self) -> int:
        """The most that these memories can become."""

    def kernel_on_python_memory(self, module: bytes, /) -> object | None:
        """Instantiate a kernel module on the memory that Python lives in; give its exports.

        None where that memory cannot be had or the module does not start.
        """

    def kernel_on_shared_memory(self, module: bytes, /) -> object | None:
        """Instantiate a kernel module on a memory that threads can share; give that memory.

        None where the page is not isolated or has one core only.
        """

    def model_size(self, handle: str, /) -> int:
        """Bytes of an opened model whose sha256 the shell has checked."""

    def model_read(self, handle: str, offset: int, target: memoryview, /) -> object:
        """Copy bytes from `offset` on until `target` is full."""

    def model_close(self, handle: str, /) -> object:
        """Let go of the shell's copy, and of a new file begun from it; unknown ones are ignored."""

    def model_write(self, handle: str, data: memoryview, /) -> object:
        """Append a copy of `data` to the new file that is made from the file `handle`."""

    def model_commit(self, handle: str, /) -> Awaitable[str]:
        """Finish that new file and store it.

        Gives JSON `{"handle", "sha256", "file_bytes"}` of the stored file, opened for reading.
        """
