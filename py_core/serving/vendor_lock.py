"""The committed list of every outside byte: path, size, sha256 and where it may come from.

Takes `web/vendor.lock.json`; gives frozen records. Does not fetch, and does not trust the lock to
be well formed: a field that is missing or of a wrong type is named.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from py_core.serving.failure import ServingError, explained
from py_core.serving.pinned_bytes import Pin, pin_of_bytes

FORMAT: Final = "tinyloom-vendor-lock/1"
PYODIDE_LOCK_PATH: Final = "pyodide/pyodide-lock.json"


@dataclass(frozen=True, slots=True)
class CdnSource:
    """A name below the address of Pyodide's distribution."""

    name: str


@dataclass(frozen=True, slots=True)
class PackageSource:
    """A member of a pinned Python package, or its whole wheel when `member` is None."""

    package: str
    member: str | None


@dataclass(frozen=True, slots=True)
class TextSource:
    """Bytes that the lock itself carries."""

    content: bytes


Source = CdnSource | PackageSource | TextSource


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file: where it goes, what it must be, where it may come from, best source first."""

    path: str
    pin: Pin
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class PinnedPackage:
    """One wheel of the Python registry, as pip is asked for it."""

    requirement: str
    python_version: str
    wheel: PinnedFile


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model made from a pinned origin file by our own converter."""

    id: str
    label: str
    dtype: str
    provenance: str
    origin: PinnedFile
    converted: PinnedFile
    manifest: PinnedFile


@dataclass(frozen=True, slots=True)
class PinnedEmbedder:
    """The text encoder of the semantic search, made from three pinned files."""

    id: str
    label: str
    weights: PinnedFile
    config: PinnedFile
    vocabulary: PinnedFile
    converted: PinnedFile


@dataclass(frozen=True, slots=True)
class VendorLock:
    """The whole lock; `files` are relative to `web/vendor`."""

    cdn: str
    packages: Mapping[str, PinnedPackage]
    files: tuple[PinnedFile, ...]
    models: tuple[PinnedModel, ...]
    embedder: PinnedEmbedder | None = None


def read_vendor_lock(path: Path) -> VendorLock:
    """Read and check the committed lock.

    Raises:
        ServingError: the file is missing, is not JSON, or lacks a field.
    """
    with explained(path, "the committed lock"):
        text = path.read_bytes()
    try:
        return _parse(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ServingError(
            str(path),
            expected=f"a lock of format {FORMAT}",
            found=f"{type(error).__name__}: {error}",
            remedy="Restore it with git checkout",
        ) from error


def pyodide_lock_bytes(content: object) -> bytes:
    """Write our cut of Pyodide's own lock; the same bytes from any source of the runtime.

    The distributions differ in how many packages their lock lists, so theirs cannot be pinned
    across sources. Ours names only what the page loads.
    """
    return (json.dumps(content, sort_keys=True, separators=(",", ":")) + "\n").encode()


def _parse(data: dict[str, Any]) -> VendorLock:
    if data["format"] != FORMAT:
        reason = f"format {data['format']!r}"
        raise ValueError(reason)
    files = [_pinned(entry) for entry in data["files"]]
    content = pyodide_lock_bytes(data["pyodide_lock"])
    files.append(PinnedFile(PYODIDE_LOCK_PATH, pin_of_bytes(content), (TextSource(content),)))
    return VendorLock(
        cdn=str(data["cdn"]),
        packages={name: _package(entry) for name, entry in data["packages"].items()},
        files=tuple(sorted(files, key=lambda file: file.path)),
        models=tuple(_model(entry) for entry in data["models"]),
        embedder=_embedder(data["embedder"]) if "embedder" in data else None,
    )


def _pinned(entry: dict[str, Any]) -> PinnedFile:
    sources = tuple(_source(source) for source in entry.get("sources", []))
    pin = Pin(int(entry["size"]), str(entry["sha256"]))
    return PinnedFile(_safe_path(str(entry["path"])), pin, sources)


def _safe_path(path: str) -> str:
    parts = path.split("/")
    if "\\" in path or ":" in path or any(part in {"", ".", ".."} for part in parts):
        reason = f"path {path!r} leaves its folder"
        raise ValueError(reason)
    return path


def _source(entry: dict[str, Any]) -> Source:
    if "cdn" in entry:
        return CdnSource(str(entry["cdn"]))
    member = entry.get("member")
    return PackageSource(str(entry["package"]), None if member is None else str(member))


def _package(entry: dict[str, Any]) -> PinnedPackage:
    return PinnedPackage(
        str(entry["requirement"]), str(entry["python_version"]), _pinned(entry["wheel"])
    )


def _model(entry: dict[str, Any]) -> PinnedModel:
    return PinnedModel(
        id=str(entry["id"]),
        label=str(entry["label"]),
        dtype=str(entry["dtype"]),
        provenance=str(entry["provenance"]),
        origin=_pinned(entry["origin"]),
        converted=_pinned(entry["converted"]),
        manifest=_pinned(entry["manifest"]),
    )


def _embedder(entry: dict[str, Any]) -> PinnedEmbedder:
    return PinnedEmbedder(
        id=str(entry["id"]),
        label=str(entry["label"]),
        weights=_pinned(entry["weights"]),
        config=_pinned(entry["config"]),
        vocabulary=_pinned(entry["vocabulary"]),
        converted=_pinned(entry["converted"]),
    )
