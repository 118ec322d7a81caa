"""Watch a page start: when each stage is reached, in the page and in its worker.

Takes an open page; gives milliseconds since the navigation by stage. Does not know profiles.
"""

from pathlib import Path

from playwright.sync_api import Page

_WATCH = (Path(__file__).parent / "start_watch.js").read_text(encoding="utf-8")
WATCH_ONLY = _WATCH
"""Runs in the page before its own scripts."""

WATCH = "window.sendsAhead = true;\n" + _WATCH
"""The same, and sends a message at once."""

_READ_MARKS = """() => [performance.timeOrigin,
    performance.getEntriesByType('mark').map(({ name, startTime }) => [name, startTime])]"""


def read_stages(page: Page) -> dict[str, float]:
    """Give every stage that was reached, in the order of time."""
    stages: dict[str, float] = dict(page.evaluate("() => window.watched"))
    origin = page.evaluate("() => performance.timeOrigin")
    # The threads of the kernels sleep in their memory and would never answer.
    for worker in (each for each in page.workers if each.url.endswith("/worker/worker.js")):
        worker_origin, marks = worker.evaluate(_READ_MARKS)
        for name, reached in marks:
            stages[f"worker: {name}"] = worker_origin - origin + reached
    return dict(sorted(stages.items(), key=lambda stage: stage[1]))
