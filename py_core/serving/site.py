"""The closed list of what is served, looked up by exact path.

Takes a checkout, its lock and the chosen models; gives a resource for a path, or None. A path is a
key, never joined to a folder, so no spelling of it can leave the list. Does not speak HTTP.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from py_core.serving.asset_list import assets_text, find_page_file, list_assets
from py_core.serving.pinned_bytes import Pin, pin_of_bytes, pin_of_file
from py_core.serving.vendor_lock import VendorLock
from py_core.serving.wheel import Wheel, WheelState, build_wheel, wheel_state

_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
    ".py": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
}
_ANY_TYPE: Final = "application/octet-stream"
# The tag is a hash of the bytes, so asking again costs one round trip and never gives stale bytes.
_REVALIDATE: Final = "no-cache"
# The page keeps models in its own store; a second copy in the browser's cache helps nobody.
_DO_NOT_KEEP: Final = "no-store"


@dataclass(frozen=True, slots=True)
class Resource:
    """What a path stands for: bytes in memory or a file, and how to label them."""

    content: bytes | Path
    pin: Pin
    content_type: str
    cache_control: str


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model file offered to the page.

    Attributes:
        id: the page's name for it.
        label: what a person reads.
        path: the file.
        manifest: the file beside it, where there is one.
        pin: what this start has just found the file to be, where it had to look.
        role: whether it answers, or finds what a question is about.
    """

    id: str
    label: str
    path: Path
    manifest: Path | None
    pin: Pin | None = None
    role: Literal["chat", "embedder"] = "chat"


class Site:
    """Everything that the page may ask for; page files are read anew each time."""

    def __init__(
        self,
        root: Path,
        lock: VendorLock,
        models: Sequence[ServedModel] = (),
        *,
        extra_folders: Mapping[str, Path] | None = None,
    ) -> None:
        """Remember the checkout and the models.

        Args:
            root: the checkout.
            lock: its vendor lock.
            models: in the order offered; the first is the page's default.
            extra_folders: first path segment to folder, for tests that serve files of their own.
        """
        self._root = root
        self._web = root / "web"
        self._lock = lock
        self._models = tuple(models)
        self._extra_folders = dict(extra_folders or {})
        self._packed: tuple[WheelState, Wheel] | None = None
        self._model_pins: dict[tuple[Path, int, int], Pin] = {}
        for model in self._models:
            self._model_pin(model)  # now, so that the page's first question is answered fast

    def find(self, path: str) -> Resource | None:
        """Look up a decoded URL path without its leading slash."""
        folder, _, rest = path.partition("/")
        match folder:
            case "assets.json":
                return _in_memory(path, self.assets_text().encode())
            case "wheels":
                wheel = self._pack()
                return _in_memory(path, wheel.content) if rest == wheel.file_name else None
            case "vendor":
                known = any(file.path == rest for file in self._lock.files)
                return _from_file(self._web / path) if known else None
            case "models":
                return self._find_model_file(rest)
            case _ if folder in self._extra_folders:
                return self._find_extra(self._extra_folders[folder], rest)
            case _:
                return self._find_page_file(path or "index.html")

    def assets_text(self) -> str:
        """Write the asset list of the checkout as it stands now."""
        return assets_text(list_assets(self._web, self._lock, self._pack()))

    def _find_page_file(self, path: str) -> Resource | None:
        file = self._web / "sw.js" if path == "sw.js" else find_page_file(self._web, path)
        return None if file is None else _from_file(file)

    def _pack(self) -> Wheel:
        """Build the wheel, or give the last one if no module was touched since."""
        state = wheel_state(self._root)
        if self._packed is None or self._packed[0] != state:
            self._packed = (state, build_wheel(self._root))
        return self._packed[1]

    def _find_extra(self, folder: Path, path: str) -> Resource | None:
        for file in folder.rglob("*"):
            if file.relative_to(folder).as_posix() == path:
                return _from_file(file)
        return None

    def _find_model_file(self, name: str) -> Resource | None:
        if name == "index.json":
            entries = [self._model_entry(model) for model in self._models]
            return _in_memory(name, (json.dumps(entries, indent=1) + "\n").encode())
        for model in self._models:
            if name == model.path.name:
                pin = self._model_pin(model)
                return Resource(model.path, pin, _ANY_TYPE, _DO_NOT_KEEP) if pin else None
            if model.manifest is not None and name == model.manifest.name:
                return _from_file(model.manifest)
        return None

    def _model_entry(self, model: ServedModel) -> dict[str, str | int | None]:
        pin = self._model_pin(model) or Pin(0, "")
        return {
            "id": model.id,
            "label": model.label,
            "file": model.path.name,
            "size": pin.size,
            "sha256": pin.sha256,
            "manifest": model.manifest.name if model.manifest else None,
            "role": model.role,
        }

    def _model_pin(self, model: ServedModel) -> Pin | None:
        """Hash a model once for each state of its file: a request must not cost a whole read."""
        if not model.path.is_file():
            return None
        status = model.path.stat()
        key = (model.path, status.st_size, status.st_mtime_ns)
        if key not in self._model_pins:
            is_first = not any(path == model.path for path, _, _ in self._model_pins)
            pin = model.pin if is_first and model.pin else pin_of_file(model.path)
            if pin is None:
                return None
            self._model_pins[key] = pin
        return self._model_pins[key]


def _in_memory(name: str, content: bytes) -> Resource:
    return Resource(content, pin_of_bytes(content), _type_of(name), _REVALIDATE)


def _from_file(path: Path) -> Resource | None:
    # Read whole: tag and body are then of the same moment, and these files are small.
    return _in_memory(path.name, path.read_bytes()) if path.is_file() else None


def _type_of(name: str) -> str:
    return _TYPES.get(Path(name).suffix, _ANY_TYPE)
