"""Make `web/vendor.lock.json` anew, by hand, when a pinned version changes.

`python -m py_core.serving.write_lock ROOT CARRIER.whl HTTP.whl`.
Takes the wheels that carry the runtime; gives the lock's text, with the models of the lock that
stands. Trusts the carrier only
as far as the runtime's own lock agrees with it.
"""

import argparse
import json
import zipfile
from pathlib import Path
from typing import Any, Final

from py_core.serving.failure import ServingError
from py_core.serving.pinned_bytes import Pin, pin_of_bytes, pin_of_file, publish
from py_core.serving.vendor_lock import FORMAT

_CDN: Final = "https://cdn.jsdelivr.net/pyodide/v314.0.3/full/"
_CARRIER: Final = "open-webui"
_HTTP: Final = "pyodide-http"
_PACKAGES: Final = {_CARRIER: "open-webui==0.12.4", _HTTP: "pyodide-http==0.2.2"}
_FOLDER: Final = "open_webui/frontend/pyodide/"
_CORE: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_LOADED: Final = (
    *("numpy", "pydantic", "pydantic-core", "annotated-types", "typing-extensions"),
    *("typing-inspection", "micropip", "packaging"),
)


def lock_text(carrier: Path, http: Path, standing: dict[str, Any]) -> str:
    """Write the lock from two wheels and the parts of the standing lock that they do not tell."""
    with zipfile.ZipFile(carrier) as archive:
        official = json.loads(archive.read(f"{_FOLDER}pyodide-lock.json"))
        listed = {name: official["packages"][name] for name in _LOADED}
        names = [*_CORE, *(entry["file_name"] for entry in listed.values())]
        pins = {name: pin_of_bytes(archive.read(_FOLDER + name)) for name in names}
    for entry in listed.values():
        _expect(entry["file_name"], entry["sha256"], pins[entry["file_name"]].sha256)
    http_pin = _pin(http)
    # Pyodide packs pyodide-http itself; the registry's own wheel has the same modules.
    listed[_HTTP] = official["packages"][_HTTP] | {
        "file_name": http.name,
        "sha256": http_pin.sha256,
    }
    files = [_runtime_entry(name, pin) for name, pin in pins.items()]
    files.append(_entry(f"pyodide/{http.name}", http_pin, [{"package": _HTTP}]))
    packages = standing.get("packages", {}) | {
        _CARRIER: _package(_CARRIER, carrier),
        _HTTP: _package(_HTTP, http),
    }
    lock = {
        "format": FORMAT,
        "cdn": _CDN,
        "packages": packages,
        "files": sorted(files, key=lambda entry: str(entry["path"])),
        "pyodide_lock": {"info": official["info"], "packages": listed},
        "models": standing.get("models", []),
    }
    return json.dumps(lock, indent=1) + "\n"


def main() -> None:
    """Read the command line and write the lock in its place."""
    parser = argparse.ArgumentParser(description="Make web/vendor.lock.json from two wheels.")
    for name in ("root", "carrier", "http"):
        parser.add_argument(name, type=Path)
    chosen = parser.parse_args()
    path = chosen.root / "web" / "vendor.lock.json"
    standing = json.loads(path.read_bytes()) if path.exists() else {}
    publish(path, [lock_text(chosen.carrier, chosen.http, standing).encode()])


def _runtime_entry(name: str, pin: Pin) -> dict[str, Any]:
    sources = [{"cdn": name}, {"package": _CARRIER, "member": _FOLDER + name}]
    return _entry(f"pyodide/{name}", pin, sources)


def _package(name: str, wheel: Path) -> dict[str, Any]:
    entry = _entry(wheel.name, _pin(wheel), [])
    return {"requirement": _PACKAGES[name], "python_version": "3.12", "wheel": entry}


def _entry(path: str, pin: Pin, sources: list[dict[str, str]]) -> dict[str, Any]:
    entry: dict[str, Any] = {"path": path, "size": pin.size, "sha256": pin.sha256}
    return entry | ({"sources": sources} if sources else {})


def _pin(path: Path) -> Pin:
    found = pin_of_file(path)
    if found is None:
        raise ServingError(
            str(path), expected="a wheel", found="no file", remedy="Download it with pip first"
        )
    return found


def _expect(subject: str, expected: str, found: str) -> None:
    if expected != found:
        raise ServingError(
            subject, expected=expected, found=found, remedy="Do not use this carrier"
        )


if __name__ == "__main__":
    main()
