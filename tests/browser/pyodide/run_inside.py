"""Run pytest inside the browser's Python.

Takes the test paths as JSON text; prints every start and outcome as a marked line of JSON. Does not
know the page around it. Only the files of the bundle and the installed wheels are here.
"""

import json
import sys

import pytest

MARK = "\x1e"


class OutcomeReporter:
    """Prints one marked line for each start and each outcome, so that a crash loses neither."""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test comes next."""
        _emit({"started": nodeid})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Give the call's outcome, and whatever went wrong or was skipped around it."""
        if report.when == "call" or not report.passed:
            _emit_outcome(report.nodeid, report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Give a file's failed or skipped import."""
        if not report.passed:
            _emit_outcome(report.nodeid, report)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Give the slow tests, which stay native."""
        for item in items:
            _emit({"node": item.nodeid, "outcome": "deselected", "text": ""})


def run(paths: str) -> int:
    """Run the tests of `paths` (a JSON list) and return pytest's exit code."""
    arguments = [
        "--rootdir=.",
        "--quiet",
        "--tb=short",
        "--capture=sys",  # the browser has no file descriptors to duplicate
        "--continue-on-collection-errors",
        "-pno:cacheprovider",
        "-pno:faulthandler",
        "-mnot slow and not browser",
        *json.loads(paths),
    ]
    sys.dont_write_bytecode = True
    return int(pytest.main(arguments, plugins=[OutcomeReporter()]))


def _emit_outcome(node: str, report: pytest.TestReport | pytest.CollectReport) -> None:
    _emit({"node": node, "outcome": report.outcome, "text": _text_of(report)})


def _emit(row: dict[str, str]) -> None:
    # sys.stdout is captured for the test under way.
    print(f"{MARK}{json.dumps(row)}", file=sys.__stdout__, flush=True)


def _text_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return str(report.longrepr or "")
