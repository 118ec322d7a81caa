"""Files that appear whole and right, or not at all.

Takes chunks of bytes and the pin they must have; gives a file written aside, synced, renamed.
Does not know where bytes come from.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final

from py_core.serving.failure import WrongBytesError, explained

CHUNK_BYTES: Final = 1 << 20
PART_SUFFIX: Final = ".part"


@dataclass(frozen=True, slots=True)
class Pin:
    """Size and sha256 of some bytes; two byte strings with one pin are the same bytes."""

    size: int
    sha256: str

    def __str__(self) -> str:
        """Say the pin as error lines show it."""
        return f"{self.size} bytes with sha256 {self.sha256}"


def pin_of_bytes(content: bytes) -> Pin:
    """Compute the pin of bytes in memory."""
    return Pin(len(content), hashlib.sha256(content).hexdigest())


def pin_of_file(path: Path) -> Pin | None:
    """Read a whole file and compute its pin, or give None where no file stands.

    Every start hashes every file anew: 18 MB of runtime take 20 ms and a 150 MB model a tenth of
    a second or so, and no stamp can then vouch for bytes that changed under it.
    """
    if not path.is_file():
        return None
    with explained(path, "a readable file"), path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
        return Pin(stream.tell(), digest.hexdigest())


def read_chunks(stream: IO[bytes]) -> Iterator[bytes]:
    """Give what is left of a stream in pieces."""
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def file_chunks(path: Path) -> Iterator[bytes]:
    """Give a file's bytes in pieces."""
    with path.open("rb") as stream:
        yield from read_chunks(stream)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, or say why that cannot be."""
    with explained(folder, "a folder that can be written"):
        folder.mkdir(parents=True, exist_ok=True)


def publish(target: Path, chunks: Iterable[bytes], *, pin: Pin | None = None) -> Pin:
    """Write `chunks` aside, check them against `pin`, sync, and rename onto `target`.

    Raises:
        WrongBytesError: the bytes are not the pinned ones; `target` is as it was.
        ServingError: the disk refused; `target` is as it was.
    """
    make_folder(target.parent)
    with explained(target, "space and permission to write it"):
        handle, name = tempfile.mkstemp(PART_SUFFIX, f".{target.name}.", target.parent)
        try:
            with os.fdopen(handle, "wb") as part:
                found = _write_checked(part, chunks, subject=target.name, pin=pin)
                part.flush()
                os.fsync(part.fileno())
            Path(name).chmod(0o644)
            os.replace(name, target)
        except BaseException:
            # Interrupts too: a half-written part must not outlive its writer.
            Path(name).unlink(missing_ok=True)
            raise
    _sync_folder(target.parent)
    return found


def remove_parts(folder: Path) -> None:
    """Delete what a killed writer left; only while holding the preparation lock."""
    for part in list(folder.rglob(f".*{PART_SUFFIX}")):
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def _write_checked(
    part: BinaryIO, chunks: Iterable[bytes], *, subject: str, pin: Pin | None
) -> Pin:
    digest = hashlib.sha256()
    size = 0
    for chunk in chunks:
        part.write(chunk)
        digest.update(chunk)
        size += len(chunk)
        if pin is not None and size > pin.size:
            break
    found = Pin(size, digest.hexdigest())
    if pin is not None and found != pin:
        raise WrongBytesError(
            subject, expected=str(pin), found=str(found), remedy="Nothing of it was kept"
        )
    return found


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # Windows cannot open a folder; its rename is durable enough for a cache
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
