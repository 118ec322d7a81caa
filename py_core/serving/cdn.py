"""Pyodide's distribution over HTTP, with a deadline that is paid at most once.

Takes an address; gives chunks of bytes of a named file. Does not know pins: what it gives may be
cut short or wrong. A CDN that does not answer is not asked again in the same run.
"""

import errno
import http.client
import queue
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Final

from py_core.serving.pinned_bytes import CHUNK_BYTES

_HEADERS: Final = {"User-Agent": "tinyloom", "Accept-Encoding": "identity"}


class SourceUnavailableError(Exception):
    """A source cannot give this file; the text says why, for the line about the file."""

    @classmethod
    def answered(cls, status: int) -> "SourceUnavailableError":
        """Say that a server answered with an HTTP status that is not success."""
        return cls(f"answered {status}")


class Cdn:
    """One CDN for one run; `outage` is the reason why it is no longer asked, or None."""

    def __init__(
        self, address: str, *, deadline_s: float = 5.0, slowest_bytes_per_s: int = 20_000
    ) -> None:
        """Remember the address; nothing is sent yet.

        Args:
            address: base address, ending in a slash.
            deadline_s: longest silence, when connecting and between two reads.
            slowest_bytes_per_s: below this rate over a whole file the CDN counts as dead.
        """
        self.address = address
        self.outage: str | None = None
        self._deadline_s = deadline_s
        self._slowest_bytes_per_s = slowest_bytes_per_s

    def read(self, name: str, size: int) -> Iterator[bytes]:
        """Give the bytes of a file as they arrive.

        Raises:
            SourceUnavailableError: not there, not in time, or known to be dead.
        """
        if self.outage is not None:
            raise SourceUnavailableError(self.outage)
        try:
            yield from self._read(name, size)
        except urllib.error.HTTPError as error:
            error.close()  # it holds the connection
            if error.code != http.HTTPStatus.NOT_FOUND:
                self.outage = f"answered {error.code}"
            raise SourceUnavailableError.answered(error.code) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            self.outage = f"no answer ({reason})"
            raise SourceUnavailableError(self.outage) from error

    def _read(self, name: str, size: int) -> Iterator[bytes]:
        ends_at = time.monotonic() + self._deadline_s + size / self._slowest_bytes_per_s
        with self._open(name) as stream:
            # read1 returns what has arrived: a full read would wait for a slow megabyte.
            while chunk := stream.read1(CHUNK_BYTES):
                yield chunk
                if time.monotonic() > ends_at:
                    raise TimeoutError(errno.ETIMEDOUT, "too slow")

    def _open(self, name: str) -> http.client.HTTPResponse:
        """Open in a thread: looking up a name ignores every socket timeout."""
        request = urllib.request.Request(self.address + name, headers=_HEADERS)
        outcome: queue.SimpleQueue[http.client.HTTPResponse | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                outcome.put(urllib.request.urlopen(request, timeout=self._deadline_s))
            except (OSError, http.client.HTTPException) as error:
                outcome.put(error)

        threading.Thread(target=ask, daemon=True).start()
        try:
            found = outcome.get(timeout=2 * self._deadline_s)
        except queue.Empty:
            raise TimeoutError(errno.ETIMEDOUT, "timed out") from None
        if isinstance(found, Exception):
            raise found
        return found
