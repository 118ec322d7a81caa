"""Build the kernel modules from C: `python -m kernels.simd.build [--check]`.

Takes the C files of `source/`. Gives `kernels.wasm` (one thread, on any memory) and
`kernels_threads.wasm` (the same on a shared memory), with their sha256 in `checksums.json`; with
`--check` it builds aside and fails when the committed bytes differ.

The compiler is the pinned `ziglang` package, so the bytes are the same everywhere. A module must
hold no data: a segment would be written over whatever Python keeps at that address.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from kernels.simd.module_bytes import MODULES, SINGLE, THREADS
from kernels.simd.module_layout import read_layout

FOLDER = Path(__file__).parent
SOURCE = FOLDER / "source"
CHECKSUMS = FOLDER / "checksums.json"
COMPILER = "0.17.1"

_FLAGS = (
    "-target",
    "wasm32-freestanding",
    "-O3",
    "-ffreestanding",
    "-nostdlib",
    # Each float operation is rounded by itself, and sums keep the order in which they are written.
    "-ffp-contract=off",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wl,--no-entry",
    "-Wl,--import-memory",
    "-Wl,--export=__stack_pointer",
    "-Wl,--strip-all",
)
_FEATURES = "generic+simd128+bulk_memory+sign_ext+nontrapping_fptoint+mutable_globals"
_OWN_FLAGS = {
    SINGLE: (f"-mcpu={_FEATURES}",),
    THREADS: (
        f"-mcpu={_FEATURES}+atomics",
        "-DTINYLOOM_THREADS",
        "-Wl,--shared-memory",
        "-Wl,--max-memory=4294901760",
    ),
}


def build_module(name: str, target: Path) -> bytes:
    """Compile one module and give its bytes.

    Raises:
        SystemExit: the compiler refused, or the module would write to Python's memory.
    """
    files = [path.name for path in sorted(SOURCE.glob("*.c"))]
    command = [sys.executable, "-m", "ziglang", "cc", *_FLAGS, *_OWN_FLAGS[name]]
    done = subprocess.run([*command, "-o", str(target), *files], cwd=SOURCE, check=False)
    if done.returncode:
        _stop(f"{name}: the compiler failed")
    content = target.read_bytes()
    if fault := read_layout(content).find_fault():
        _stop(f"{name}: {fault}")
    return content


def main() -> int:
    """Build both modules, or compare fresh ones with those that are committed."""
    parser = argparse.ArgumentParser(prog="python -m kernels.simd.build")
    parser.add_argument("--check", action="store_true", help="build aside and compare")
    is_check = parser.parse_args().check
    if (found := version("ziglang")) != COMPILER:
        _stop(f"ziglang is {found}, not {COMPILER}: install the pinned one")
    with tempfile.TemporaryDirectory() as folder:
        built = {name: build_module(name, Path(folder) / name) for name in MODULES}
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in built.items()}
    if is_check:
        return _compare(built, checksums)
    for name, content in built.items():
        (FOLDER / name).write_bytes(content)
    CHECKSUMS.write_text(json.dumps(checksums, indent=2, sort_keys=True) + "\n")
    _say([f"{name}: {len(content)} bytes" for name, content in built.items()])
    return 0


def _compare(built: dict[str, bytes], checksums: dict[str, str]) -> int:
    different = [name for name in built if (FOLDER / name).read_bytes() != built[name]]
    if json.loads(CHECKSUMS.read_text()) != checksums:
        different.append(CHECKSUMS.name)
    _say([f"{name}: differs from its source" for name in different])
    return 1 if different else 0


def _stop(reason: str) -> NoReturn:
    raise SystemExit(reason)


def _say(lines: list[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
