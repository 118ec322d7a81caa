"""One preparation at a time for one cache, across processes.

Takes a cache folder; gives a context that only one process is in. The lock dies with its process,
so a killed start never blocks the next one.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from py_core.serving.failure import explained
from py_core.serving.pinned_bytes import make_folder

_POLL_S: Final = 0.2


@contextmanager
def only_start(cache: Path, *, report: Callable[[str], None]) -> Iterator[None]:
    """Wait until no other start prepares this cache, then hold it.

    The lock file stays: deleting it would let two processes lock two files of one name.
    """
    make_folder(cache)
    path = cache / "prepare.lock"
    with explained(path, "a lock file that can be written"):
        stream = path.open("ab")
    with stream:
        if not _try_lock(stream):
            report("another start is preparing the same cache; waiting for it")
            while not _try_lock(stream):
                time.sleep(_POLL_S)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_lock(stream: BinaryIO) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(stream: BinaryIO) -> bool:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
