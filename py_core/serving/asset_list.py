"""What the service worker keeps for offline use: every path, size and sha256, and one version.

Takes the checkout, its lock and the wheel; gives the text of `web/assets.json`. Models are not in
it: they are large and the page keeps them in a store of their own.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from py_core.serving.failure import explained
from py_core.serving.pinned_bytes import pin_of_bytes
from py_core.serving.vendor_lock import VendorLock
from py_core.serving.wheel import Wheel

FORMAT: Final = "tinyloom-assets/1"
_PAGE_FOLDERS: Final = ("app", "worker", "icons")
_PAGE_SUFFIXES: Final = {".js", ".mjs", ".css", ".html", ".svg", ".png", ".webmanifest", ".wasm"}
_NOT_ASSETS: Final = {"sw.js"}  # the browser keeps and renews the service worker by itself

Role = Literal["page", "python", "runtime"]


@dataclass(frozen=True, slots=True)
class Asset:
    """One file of the page, by its path below the server's root."""

    path: str
    role: Role
    sha256: str
    size: int


def list_assets(web: Path, lock: VendorLock, wheel: Wheel) -> list[Asset]:
    """List every asset in the order of paths."""
    assets = [_asset_of_file(web, path) for path in find_page_files(web)]
    assets += [
        Asset(f"vendor/{file.path}", "runtime", file.pin.sha256, file.pin.size)
        for file in lock.files
    ]
    pin = pin_of_bytes(wheel.content)
    assets.append(Asset(f"wheels/{wheel.file_name}", "python", pin.sha256, pin.size))
    return sorted(assets, key=lambda asset: asset.path)


def assets_text(assets: list[Asset]) -> str:
    """Write the list with its version: the hash of all that it says."""
    entries = [asdict(asset) for asset in assets]
    canonical = json.dumps(entries, sort_keys=True, separators=(",", ":"))
    version = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps({"format": FORMAT, "version": version, "files": entries}, indent=1) + "\n"


def find_page_files(web: Path) -> Iterator[Path]:
    """Find what belongs to the page, in the order of paths."""
    return (path for path in sorted(_candidates(web)) if _is_page_file(path, web))


def find_page_file(web: Path, name: str) -> Path | None:
    """Find the page file of exactly this path below `web`."""
    for path in _candidates(web):
        if path.relative_to(web).as_posix() == name and _is_page_file(path, web):
            return path
    return None


def _candidates(web: Path) -> Iterator[Path]:
    yield from web.glob("*")
    for folder in _PAGE_FOLDERS:
        yield from (web / folder).rglob("*")


def _is_page_file(path: Path, web: Path) -> bool:
    """Tell by folder and suffix, so that tool files stay out.

    Hidden files and links that lead out of the folder are not the page's either.
    """
    if path.suffix not in _PAGE_SUFFIXES or path.name in _NOT_ASSETS:
        return False
    if any(part.startswith(".") for part in path.relative_to(web).parts):
        return False
    return path.is_file() and path.resolve().is_relative_to(web.resolve())


def _asset_of_file(web: Path, path: Path) -> Asset:
    with explained(path, "a readable page file"):
        pin = pin_of_bytes(path.read_bytes())
    return Asset(path.relative_to(web).as_posix(), "page", pin.sha256, pin.size)
