"""The same tests pass in the browser's own Python as in this one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from py_core.serving.site import Site
from py_core.serving.static_server import start
from py_core.serving.vendor_lock import VendorLock
from py_core.serving.wheel import build_wheel
from tests.browser import pyodide_wheels
from tests.browser.pyodide_bundle import HARNESS, write_bundle

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("kernels", "py_core", "laws", "cases")
# What runs natively only and never reaches the browser's wheel.
NATIVE_ONLY = ("tests/py_core/serving/",)
BROWSER_DEADLINE_MS = 900_000

START_WORKER = """order => new Promise((resolve) => {
    const worker = new Worker('/harness/worker.js', { type: 'module' });
    const printed = [];
    worker.onerror = (event) => resolve({ failure: event.message, printed });
    worker.onmessage = ({ data }) => {
        if (data.progress !== undefined) printed.push(data.progress);
        else resolve({ ...data, printed });
    };
    worker.postMessage(order);
})"""

Row = Mapping[str, str]


def find_test_files() -> list[str]:
    """Return the test files that must also pass inside the browser."""
    found = (path for name in FOLDERS for path in (ROOT / "tests" / name).rglob("test_*.py"))
    names = sorted(path.relative_to(ROOT).as_posix() for path in found)
    return [name for name in names if not name.startswith(NATIVE_ONLY)]


@pytest.fixture(scope="module")
def harness_address(vendor_lock: VendorLock, tmp_path_factory) -> Iterator[str]:
    """Serve the harness by the real server with its real headers."""
    bundle = write_bundle(tmp_path_factory.mktemp("bundle"))
    folders = {
        "harness": HARNESS,
        "test-wheels": pyodide_wheels.collect(),
        "bundle": bundle.parent,
    }
    with start(Site(ROOT, vendor_lock, extra_folders=folders)) as server:
        yield server.address


@pytest.fixture(scope="module")
def inside_rows(chromium: Browser, harness_address: str) -> Sequence[Row]:
    """Run everything once inside Pyodide and return one row per test."""
    wheels = sorted(pyodide_wheels.WHEELS.glob("*.whl"))
    order = {
        "wheels": [f"/test-wheels/{path.name}" for path in wheels],
        "ourWheel": f"/wheels/{build_wheel(ROOT).file_name}",
        "paths": find_test_files(),
    }
    page = chromium.new_page()
    page.set_default_timeout(BROWSER_DEADLINE_MS)
    page.goto(f"{harness_address}harness/index.html")
    answer: dict[str, Any] = page.evaluate(START_WORKER, order)
    page.close()
    printed = "\n".join(answer["printed"])
    assert "report" in answer, f"pytest did not finish: {answer.get('failure')}\n{printed}"
    rows: list[Row] = json.loads(answer["report"])["rows"]
    assert rows, f"pytest ran nothing:\n{printed}"
    return rows


@pytest.mark.parametrize("file", find_test_files())
def test_file_passes_inside_the_browser(file: str, inside_rows: Sequence[Row]) -> None:
    """Native and browser agree; a test may be skipped there only with its reason."""
    rows = [row for row in inside_rows if row["file"] == file]
    failures = [f"{row['node']}\n{row['text']}" for row in rows if row["outcome"] == "failed"]
    assert not failures, "\n\n".join(failures)


def test_most_tests_run_inside_the_browser(inside_rows: Sequence[Row]) -> None:
    """The run above is no empty promise: skipped tests are the exception."""
    outcomes = [row["outcome"] for row in inside_rows]
    assert outcomes.count("passed") > 9 * outcomes.count("skipped")
