"""Who may know whom, and what the page may never contain: rules no single file can show."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from py_core.serving.refresh_assets import are_assets_fresh
from py_core.serving.site import Site
from py_core.serving.vendor_lock import read_vendor_lock
from tests.source_tree import (
    PACKAGES,
    ROOT,
    WEB,
    find_imports,
    find_python_files,
    find_script_imports,
    find_web_files,
    read_tree,
    relative,
)

FILE_LIMIT_LINES = 350
FUNCTION_LIMIT_LINES = 40

# A pattern, and why the page must not contain it.
BANNED_IN_WEB = {
    r"\b(inner|outer)HTML\b": "text is set by textContent",
    r"insertAdjacentHTML|document\.write": "text is set by textContent",
    r"\beval\s*\(|new Function\b": "code comes from files only",
    r"\bconsole\.": "what happens is shown on the page",
    r"\brunPython": "no Python source inside JavaScript",
    r"\blocalStorage\b|\bsessionStorage\b": "what is kept lies in IndexedDB or the model store",
    r"\bhttps?://(?!www\.w3\.org/)": "no remote origin",
    r"javascript:": "code comes from files only",
}
# The mark by which a lost memory is noticed has to lie where the browser does not clear it along.
MAY_MARK = "web/app/memory_guard.js"
BANNED_IN_HTML = {
    r"\son[a-z]+\s*=": "no inline handler",
    r"\sstyle\s*=": "no inline style",
    r"<style\b": "no inline style",
    r"<script(?![^>]*\bsrc=)": "no inline script",
    r"""\b(?:src|href)\s*=\s*["']//""": "no remote origin",
}
# Where waiting for something outside is the point.
MAY_BE_ASYNC = (
    "py_core/bridge/",
    "py_core/chat/",
    "py_core/hosted/",
    "py_core/memory/sync.py",
    "py_core/memory_host/",
    "py_core/retrieval/lanes.py",
    "py_core/store/",
)


def test_import_contracts_are_kept():
    """The layers and prohibitions of pyproject.toml hold for every import."""
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [str(program), "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("kernels", {"kernels", "numpy"}),
        ("py_core", {"py_core", "kernels", "pydantic", "snowballstemmer"}),
    ],
)
def test_packages_import_nothing_else_from_outside(package: str, allowed: set[str]):
    """Kernels need numpy, the core pydantic and a stemmer; all else is the standard library."""
    strangers = {
        f"{relative(path)} imports {name}"
        for path in find_python_files(package)
        for name in find_imports(read_tree(path))
        if name.split(".")[0] not in allowed | sys.stdlib_module_names
    }
    assert not strangers


def test_the_program_that_prepares_a_fresh_clone_needs_the_standard_library_only():
    """serve.py and py_core.serving run before anything is installed."""
    paths = [*find_python_files("py_core/serving"), ROOT / "serve.py"]
    allowed = {"py_core", "kernels", *sys.stdlib_module_names}
    strangers = {
        f"{relative(path)} imports {name}"
        for path in paths
        for name in find_imports(read_tree(path))
        if name.split(".")[0] not in allowed
    }
    assert not strangers


def test_async_stops_at_the_ports():
    """Only what talks to the outside waits; everything else is plain functions."""
    found = {
        relative(path)
        for path in find_python_files(*PACKAGES)
        for node in ast.walk(read_tree(path))
        if isinstance(node, ast.AsyncFunctionDef)
    }
    assert not {name for name in found if not name.startswith(MAY_BE_ASYNC)}


@pytest.mark.parametrize("path", find_web_files(), ids=relative)
def test_page_contains_no_banned_word(path: Path):
    """The content security policy would stop most of these; this names the line."""
    banned = BANNED_IN_WEB | (BANNED_IN_HTML if path.suffix == ".html" else {})
    found = [
        f"{relative(path)}:{number}: {line.strip()}  ({why})"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for pattern, why in banned.items()
        if re.search(pattern, line)
        and not ("localStorage" in pattern and relative(path) == MAY_MARK)
    ]
    assert not found, "\n".join(found)


def test_page_scripts_keep_their_layers():
    """Views import other views and dom only, and nothing imports the composition."""
    app = WEB / "app"
    wrong = []
    for path in find_web_files():
        for target in find_script_imports(path) if path.suffix == ".js" else []:
            from_view = path.parent == app / "views"
            stays = target.parent == app / "views" or target == app / "dom.js"
            if (from_view and not stays) or target == app / "main.js":
                wrong.append(f"{relative(path)} imports {relative(target)}")
    assert not wrong


def test_lock_of_the_javascript_tools_names_no_download_address():
    """The lock pins by hash; where the bytes come from is the machine's own setting."""
    lock = (WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"integrity"' in lock
    assert "resolved" not in lock


def test_asset_list_is_fresh():
    """The service worker keeps what lies here; else run `python serve.py --write-assets`."""
    site = Site(ROOT, read_vendor_lock(WEB / "vendor.lock.json"))
    assert are_assets_fresh(ROOT, site)


@pytest.mark.parametrize("package", ["numpy", "pydantic"])
def test_native_tests_run_the_browsers_versions(package: str):
    """The test extra pins the very version that the vendor lock brings to the page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = dict(pin.split("==") for pin in project["project"]["optional-dependencies"]["test"])
    lock = read_vendor_lock(WEB / "vendor.lock.json")
    assert any(f"/{package}-{pins[package]}-" in file.path for file in lock.files)


def test_files_and_functions_stay_short(capsys: pytest.CaptureFixture[str]):
    """A file is one idea; growth per package is printed so that it is seen."""
    sizes: Counter[str] = Counter()
    too_long = []
    for path in [*find_python_files(*PACKAGES, "tests"), ROOT / "serve.py", *find_web_files()]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        sizes[relative(path).split("/")[0]] += lines
        if lines > FILE_LIMIT_LINES and not _is_generated(path):
            too_long.append(f"{relative(path)}: {lines} lines")
        if path.suffix == ".py":
            too_long += _find_long_functions(path)
    with capsys.disabled():
        sys.stdout.write(f"\nlines: {dict(sorted(sizes.items()))}\n")
    assert not too_long


def _find_long_functions(path: Path) -> list[str]:
    functions = (
        node
        for node in ast.walk(read_tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return [
        f"{relative(path)}: {node.name} has {length} lines"
        for node in functions
        if (length := _count_code_lines(node)) > FUNCTION_LIMIT_LINES
    ]


def _count_code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    # The docstring says what a reader needs; only the code counts.
    last = node.end_lineno or node.lineno
    body = node.body
    has_docstring = ast.get_docstring(node, clean=False) is not None
    docstring = (body[0].end_lineno or 0) - body[0].lineno + 1 if has_docstring else 0
    return last - node.lineno + 1 - docstring


def _is_generated(path: Path) -> bool:
    return "generated by" in path.read_text(encoding="utf-8")[:400].lower()
