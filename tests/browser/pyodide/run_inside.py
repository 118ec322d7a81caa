"""Run pytest inside the browser's Python.

Takes the test paths as JSON text; gives the outcome of every test as JSON text. Does not know the
page around it. Only the files of the bundle and the installed wheels are here.
"""

import json
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent


class OutcomeRecorder:
    """Collects one row per test, and one per file that could not even be imported."""

    def __init__(self) -> None:
        self.rows: list[dict[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the call's outcome, and whatever went wrong or was skipped around it."""
        if report.when == "call" or not report.passed:
            self._record(report.nodeid, report.outcome, _text_of(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep a file's failed or skipped import."""
        if not report.passed:
            self._record(report.nodeid, report.outcome, _text_of(report))

    def _record(self, node: str, outcome: str, text: str) -> None:
        self.rows.append(
            {"file": node.partition("::")[0], "node": node, "outcome": outcome, "text": text}
        )


def run(paths: str) -> str:
    """Run the tests below `paths` (a JSON list) and return {"exit_code", "rows"} as JSON."""
    recorder = OutcomeRecorder()
    arguments = [
        "--rootdir=.",
        "--quiet",
        "--tb=short",
        "--capture=sys",  # the browser has no file descriptors to duplicate
        "-pno:cacheprovider",
        "-pno:faulthandler",
        "-mnot slow and not browser",
        *json.loads(paths),
    ]
    sys.dont_write_bytecode = True
    exit_code = pytest.main(arguments, plugins=[recorder])
    return json.dumps({"exit_code": int(exit_code), "rows": recorder.rows})


def _text_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return str(report.longrepr or "")
