"""The wheel that the page installs: `py_core` and `kernels` without their native parts.

Takes a checkout; gives the wheel's name and bytes, the same on every machine and Python. Does not
write files: the server gives the wheel from memory, so it can never be stale.
"""

import base64
import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from py_core.serving.failure import ServingError, explained
from py_core.serving.stored_zip import write_stored_zip

_PACKAGES: Final = ("py_core", "kernels")
_NATIVE_FOLDERS: Final = ("py_core/serving", "py_core/memory_host", "py_core/evaluation/native")
_SUFFIXES: Final = {".py", ".wasm", ".json", ".txt"}


WheelState: TypeAlias = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel in memory."""

    file_name: str
    content: bytes


def build_wheel(root: Path) -> Wheel:
    """Pack the checkout at `root`.

    Raises:
        ServingError: pyproject.toml or a module cannot be read.
    """
    project = _read_project(root / "pyproject.toml")
    stem = f"{project['name']}-{project['version']}"
    members = dict(_modules(root))
    info = f"{stem}.dist-info"
    members[f"{info}/METADATA"] = _metadata(project).encode()
    members[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: tinyloom\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = f"{info}/RECORD"
    members[record] = _record(members, record).encode()
    return Wheel(f"{stem}-py3-none-any.whl", write_stored_zip(members, last=record))


def wheel_state(root: Path) -> WheelState:
    """Describe the wheel's sources by name, size and time: enough to see that a developer saved."""
    paths = [("pyproject.toml", root / "pyproject.toml"), *_find_modules(root)]
    with explained(root, "a whole checkout"):
        states = [(name, path.stat()) for name, path in paths]
    return tuple((name, state.st_size, state.st_mtime_ns) for name, state in states)


def _read_project(path: Path) -> dict[str, Any]:
    with explained(path, "the project's settings"):
        text = path.read_text(encoding="utf-8")
    try:
        project: dict[str, Any] = tomllib.loads(text)["project"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        raise ServingError(
            str(path),
            expected="a [project] table",
            found=str(error),
            remedy="Restore it with git checkout",
        ) from error
    return project


def _modules(root: Path) -> Iterator[tuple[str, bytes]]:
    for name, path in _find_modules(root):
        with explained(path, "a readable module"):
            content = path.read_bytes()
        # A checkout with Windows line ends must give the same wheel.
        yield name, content if path.suffix == ".wasm" else content.replace(b"\r\n", b"\n")


def _find_modules(root: Path) -> Iterator[tuple[str, Path]]:
    for package in _PACKAGES:
        for path in sorted((root / package).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in _SUFFIXES and path.is_file() and not _is_native(name):
                yield name, path


def _is_native(name: str) -> bool:
    return any(name.startswith(f"{folder}/") for folder in _NATIVE_FOLDERS)


def _metadata(project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def _record(members: dict[str, bytes], record: str) -> str:
    lines = []
    for name, content in sorted(members.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{record},,"]) + "\n"
