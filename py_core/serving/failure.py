"""What goes wrong while preparing or serving, as one line that a person can act on.

Takes what was looked at, what was expected, what was found and what to do; gives one exception.
Does not know exit codes or streams: `serve.py` prints the line and leaves with 2.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_REMEDIES: Final = {
    errno.ENOSPC: "Free some disk space and start again",
    errno.EDQUOT: "Free some disk space and start again",
    errno.EFBIG: "Raise the file size limit of this shell and start again",
    errno.EACCES: "Make it writable, or name another cache folder in TINYLOOM_CACHE",
    errno.EPERM: "Make it writable, or name another cache folder in TINYLOOM_CACHE",
    errno.EROFS: "Make it writable, or name another cache folder in TINYLOOM_CACHE",
    errno.ENOTDIR: "A file stands where a folder is needed: move it away, or set TINYLOOM_CACHE",
    errno.EEXIST: "A file stands where a folder is needed: move it away, or set TINYLOOM_CACHE",
}


class ServingError(Exception):
    """Preparation or serving cannot go on; the text names subject, expected, found and remedy."""

    def __init__(self, subject: str, *, expected: str, found: str, remedy: str) -> None:
        """Join the four parts into one line, whatever line breaks they carried."""
        self.subject = subject
        self.expected = expected
        self.found = found
        self.remedy = remedy
        line = f"{subject}: expected {expected}; found {found}. {remedy}."
        super().__init__(" ".join(line.split()))


class WrongBytesError(ServingError):
    """Bytes arrived, but not the pinned ones; nothing of them was kept."""


@contextmanager
def explained(path: Path, purpose: str) -> Iterator[None]:
    """Turn an operating system error about `path` into a `ServingError`.

    Raises:
        ServingError: when the body raises OSError; `found` is the system's own sentence.
    """
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "Remove the cause and start again")
        found = error.strerror or type(error).__name__
        raise ServingError(str(path), expected=purpose, found=found, remedy=remedy) from error
