"""The same tests pass in the browser's own Python as in this one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from py_core.serving.site import Site
from py_core.serving.static_server import start
from py_core.serving.vendor_lock import VendorLock
from py_core.serving.wheel import build_wheel
from tests.browser.pyodide_bundle import HARNESS, write_bundle
from tests.browser.pyodide_wheels import WHEELS, collect

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("kernels", "py_core", "laws", "cases")
# The whole file stays native, mostly because it needs the large model.
NATIVE_MARK = "\npytestmark = pytest.mark.slow\n"
RAN_TO_THE_END = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
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

MARK = "\x1e"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one test ended; a file that could not be imported counts as one test."""

    node: str
    outcome: str
    text: str

    @property
    def file(self) -> str:
        """The file that the test stands in."""
        return self.node.partition("::")[0]


def find_test_files() -> list[str]:
    """Return the test files that must also pass inside the browser."""
    found = (path for name in FOLDERS for path in (ROOT / "tests" / name).rglob("test_*.py"))
    shared = (path for path in found if NATIVE_MARK not in path.read_text(encoding="utf-8"))
    return sorted(path.relative_to(ROOT).as_posix() for path in shared)


@pytest.fixture(scope="module")
def harness_address(vendor_lock: VendorLock, tmp_path_factory) -> Iterator[str]:
    """Serve the harness by the real server with its real headers."""
    bundle = write_bundle(tmp_path_factory.mktemp("bundle"))
    folders = {
        "harness": HARNESS,
        "test-wheels": collect(),
        "bundle": bundle.parent,
    }
    with start(Site(ROOT, vendor_lock, extra_folders=folders)) as server:
        yield server.address


@pytest.fixture(scope="module")
def outcomes(chromium: Browser, harness_address: str) -> Sequence[Outcome]:
    """Run every file inside Pyodide; after a crash go on in a new worker with the next file."""
    page = chromium.new_page()
    page.set_default_timeout(BROWSER_DEADLINE_MS)
    page.goto(f"{harness_address}harness/index.html")
    found: list[Outcome] = []
    waiting = find_test_files()
    while waiting:
        new, crashed = _run_inside(page, waiting)
        found += new
        if crashed is None:
            break
        found.append(crashed)
        waiting = waiting[waiting.index(crashed.file) + 1 :]
    page.close()
    return found


@pytest.mark.parametrize("file", find_test_files())
def test_file_passes_inside_the_browser(file: str, outcomes: Sequence[Outcome]):
    """Native and browser agree; a test may be skipped there only with its reason."""
    rows = [row for row in outcomes if row.file == file]
    assert rows, "no test of this file was even looked at"
    failed = [row for row in rows if row.outcome == "failed"]
    assert not failed, "\n\n".join(f"{row.node}\n{row.text}" for row in failed)


def test_most_tests_run_inside_the_browser(outcomes: Sequence[Outcome]):
    """The run above is no empty promise: skipped tests are the exception."""
    kinds = [row.outcome for row in outcomes]
    assert kinds.count("passed") > 9 * kinds.count("skipped")


def _run_inside(page: Page, files: Sequence[str]) -> tuple[list[Outcome], Outcome | None]:
    order = {
        "wheels": [f"/test-wheels/{path.name}" for path in sorted(WHEELS.glob("*.whl"))],
        "ourWheel": f"/wheels/{build_wheel(ROOT).file_name}",
        "paths": files,
    }
    answer: dict[str, Any] = page.evaluate(START_WORKER, order)
    # pytest's own dots may stand before a mark on the same line.
    parts = [line.partition(MARK) for line in answer["printed"]]
    lines = [json.loads(marked) for _, mark, marked in parts if mark]
    found = [Outcome(**line) for line in lines if "node" in line]
    unmarked = "\n".join(before for before, mark, _ in parts if not mark)
    if "exitCode" in answer:
        assert answer["exitCode"] in RAN_TO_THE_END, unmarked
        return found, None
    started = [line["started"] for line in lines if "started" in line]
    text = f"the interpreter was lost: {answer['failure']}\n{unmarked}"
    assert started, text
    return found, Outcome(started[-1], "failed", text)
