"""Read the project's own source for the boundary tests.

Takes folders of the checkout; gives Python files as syntax trees and web files as text.
Does not know any rule.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PACKAGES = ("kernels", "py_core")
SCRIPT_IMPORT = re.compile(r"^(?:import|export)\b[^';]*'(\.[^']+)'", re.MULTILINE)
DYNAMIC_IMPORT = re.compile(r"await import\(\s*'(\.[^']+)'")


def find_python_files(*folders: str) -> list[Path]:
    """Return the Python files below the folders, in path order."""
    return sorted(path for name in folders for path in (ROOT / name).rglob("*.py"))


def find_web_files() -> list[Path]:
    """Return the page's own files: what is written by hand and runs in the browser."""
    scripts = [path for name in ("app", "worker") for path in (WEB / name).rglob("*.js")]
    return sorted([*scripts, *WEB.glob("*.js"), *WEB.glob("*.html"), *WEB.glob("*.css")])


def read_tree(path: Path) -> ast.Module:
    """Parse one Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def find_imports(tree: ast.Module) -> Iterator[str]:
    """Give the full name of every imported module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def find_script_imports(path: Path) -> list[Path]:
    """Return the files that a JavaScript module imports by a relative path; types do not count."""
    text = path.read_text(encoding="utf-8")
    found = SCRIPT_IMPORT.findall(text) + DYNAMIC_IMPORT.findall(text)
    return [(path.parent / relative).resolve() for relative in found]


def relative(path: Path) -> str:
    """Return the path as the messages show it."""
    return path.relative_to(ROOT).as_posix()
