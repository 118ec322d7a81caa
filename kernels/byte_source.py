"""Where the bytes of a model come from and go to, without the whole model in Python memory.

Takes a path, a bytes object or anything of the same two shapes (the browser brings its own).
Gives random reads into a caller's buffer, and sequential writes.
Does not know what the bytes mean.
"""

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, Protocol, Self, TypeAlias

from kernels.errors import ErrorCode, KernelError, kernel_error

BytesLike: TypeAlias = bytes | bytearray | memoryview
"""What a sink accepts."""


class ByteSource(Protocol):
    """Random access to a run of bytes of known size."""

    @property
    def size(self) -> int:
        """Number of bytes in all."""

    def read_into(self, offset: int, target: memoryview, /) -> None:
        """Fill all of `target` (flat, unsigned bytes) from `offset` on, or raise `KernelError`."""


class ByteSink(Protocol):
    """Takes bytes one after the other."""

    def write(self, data: BytesLike, /) -> object:
        """Append all of `data`."""


class BytesSource:
    """A source over bytes that are in memory already."""

    def __init__(self, data: BytesLike) -> None:
        self._data = memoryview(data).cast("B")
        self.size = len(self._data)

    def read_into(self, offset: int, target: memoryview) -> None:
        """Copy from memory."""
        check_range(self, offset, len(target))
        target[:] = self._data[offset : offset + len(target)]


class FileSource:
    """A source over a file; use as a context manager or call `close`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self._file = self.path.open("rb")
        except OSError as error:
            raise _file_error(ErrorCode.READ_FAILED, self.path, error) from error
        self.size = os.fstat(self._file.fileno()).st_size

    def read_into(self, offset: int, target: memoryview) -> None:
        """Read from the file at `offset`."""
        check_range(self, offset, len(target))
        done = 0
        try:
            self._file.seek(offset)
            while done < len(target):
                count = self._file.readinto(target[done:])
                if not count:
                    break
                done += count
        except OSError as error:
            raise _file_error(ErrorCode.READ_FAILED, self.path, error) from error
        if done < len(target):
            text = f"{self.path.name} became shorter while it was read; load it again."
            raise kernel_error(ErrorCode.READ_FAILED, "source", text, offset=offset + done)

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def __enter__(self) -> Self:
        """Return the open source."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()


class FileSink:
    """Write a file aside and put it in place only when all is written.

    Leaving the `with` block without an error renames the part file; with an error it is removed,
    so a half-written model never carries the final name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._part = self.path.with_name(self.path.name + ".part")
        self._file: BinaryIO

    def write(self, data: BytesLike, /) -> None:
        """Append to the part file."""
        try:
            self._file.write(data)
        except OSError as error:
            raise _file_error(ErrorCode.WRITE_FAILED, self.path, error) from error

    def __enter__(self) -> Self:
        """Open the part file."""
        try:
            self._file = self._part.open("wb")
        except OSError as error:
            raise _file_error(ErrorCode.WRITE_FAILED, self.path, error) from error
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        """Rename the part file, or remove it after an error."""
        try:
            self._file.close()
            if error_type is None:
                self._part.replace(self.path)
        except OSError as error:
            self._part.unlink(missing_ok=True)
            raise _file_error(ErrorCode.WRITE_FAILED, self.path, error) from error
        if error_type is not None:
            self._part.unlink(missing_ok=True)


class HashingSink:
    """Pass everything on to another sink and keep its SHA-256 and length."""

    def __init__(self, sink: ByteSink) -> None:
        self._sink = sink
        self._hash = hashlib.sha256()
        self.length_bytes = 0

    def write(self, data: BytesLike, /) -> None:
        """Hash and pass on."""
        self._hash.update(data)
        self.length_bytes += len(data)
        self._sink.write(data)

    @property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of all bytes so far."""
        return self._hash.hexdigest()


def check_range(source: ByteSource, offset: int, length: int) -> None:
    """Refuse a read that leaves the source.

    Raises:
        KernelError: `read_failed` when `offset` to `offset + length` is not inside.
    """
    if offset < 0 or offset + length > source.size:
        text = f"Bytes {offset} to {offset + length} are outside the {source.size} bytes there are."
        raise kernel_error(ErrorCode.READ_FAILED, "source", text, offset=offset)


def read_bytes(source: ByteSource, offset: int, length: int) -> bytes:
    """Return `length` bytes from `offset` on; the range is checked before anything is allocated."""
    check_range(source, offset, length)
    buffer = bytearray(length)
    if length:
        source.read_into(offset, memoryview(buffer))
    return bytes(buffer)


def sha256_of(source: ByteSource, *, chunk_bytes: int = 1 << 20) -> str:
    """Return the hexadecimal SHA-256 of a whole source, read piece by piece."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(min(chunk_bytes, max(source.size, 1))))
    for offset in range(0, source.size, len(buffer)):
        piece = buffer[: min(len(buffer), source.size - offset)]
        source.read_into(offset, piece)
        digest.update(piece)
    return digest.hexdigest()


def _file_error(code: ErrorCode, path: Path, error: OSError) -> KernelError:
    reason = (error.strerror or type(error).__name__).lower()
    verb = "read" if code == ErrorCode.READ_FAILED else "written"
    return kernel_error(
        code, str(path), f"{path.name} cannot be {verb} ({reason}); check the path."
    )
