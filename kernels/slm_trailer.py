"""The manifest inside a `.slm` file: found from the end, behind the last payload.

Takes a byte source, or a manifest to be written. Gives the manifest and where it lies.
Layout: manifest as UTF-8 JSON at a multiple of 64, zero bytes up to the next multiple, then the
64-byte trailer as the last bytes of the file. Does not compute checksums.
"""

from dataclasses import dataclass

from kernels.byte_source import ByteSource, read_bytes
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.manifest import MAX_MANIFEST_BYTES, Manifest, parse_manifest
from kernels.slm_layout import (
    ALIGNMENT,
    CHECKSUM_RULE,
    TRAILER,
    TRAILER_BYTES,
    TRAILER_MAGIC,
    TRAILER_VERSION,
    RawTrailer,
    align,
)


@dataclass(frozen=True, slots=True)
class EmbeddedManifest:
    """A manifest found at the end of a file."""

    manifest: Manifest
    offset: int


def find_embedded_manifest(source: ByteSource) -> EmbeddedManifest | None:
    """Return the manifest inside a file, or None when the file carries no trailer of ours.

    Raises:
        KernelError: When there is a trailer but it, or its manifest, is damaged.
    """
    if source.size < TRAILER_BYTES:
        return None
    offset = source.size - TRAILER_BYTES
    raw = RawTrailer._make(TRAILER.unpack(read_bytes(source, offset, TRAILER_BYTES)))
    if raw.magic != TRAILER_MAGIC:
        return None
    if raw.version != TRAILER_VERSION or raw.checksum_rule != CHECKSUM_RULE:
        text = "The trailer was written by a newer version; update the program to read this model."
        raise kernel_error(
            ErrorCode.UNSUPPORTED_MODEL_VERSION, "trailer.version", text, offset=offset
        )
    if offset % ALIGNMENT or raw.manifest_offset % ALIGNMENT:
        raise _damaged(offset, "trailer.manifest_offset")
    if raw.manifest_length > MAX_MANIFEST_BYTES:
        raise _damaged(offset, "trailer.manifest_length")
    if align(raw.manifest_offset + raw.manifest_length) != offset:
        raise _damaged(offset, "trailer.manifest_length")
    text_bytes = read_bytes(source, raw.manifest_offset, raw.manifest_length)
    manifest = parse_manifest(text_bytes, offset=raw.manifest_offset)
    return EmbeddedManifest(manifest, raw.manifest_offset)


def pack_trailer(manifest_offset: int, manifest_length: int, *, balance: int) -> bytes:
    """Return the last 64 bytes of a file."""
    raw = RawTrailer(
        magic=TRAILER_MAGIC,
        version=TRAILER_VERSION,
        checksum_rule=CHECKSUM_RULE,
        manifest_offset=manifest_offset,
        manifest_length=manifest_length,
        balance=balance,
    )
    return TRAILER.pack(*raw)


def _damaged(offset: int, field: str) -> KernelError:
    text = f"The file's last 64 bytes name a wrong place in {field}; fetch the model again."
    return kernel_error(ErrorCode.INVALID_HEADER, field, text, offset=offset)
