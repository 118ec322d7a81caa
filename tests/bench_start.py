"""Measure how long a later visit takes to its first token: `python tests/bench_start.py`.

Takes the browser and the real model. Opens a profile that stays, visits once and waits until all is
kept; then visits again some times. On each visit a message is sent as soon as the page can take it,
and it waits in the page until the model of the last visit is there. Gives the milliseconds from the
navigation to each stage, the median of all later visits, and the first visit beside them.
Nothing here is a test: a busy machine makes it slower.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import BrowserContext, Playwright, sync_playwright  # noqa: E402

from py_core.serving.cache_folder import find_cache_folder  # noqa: E402
from py_core.serving.prepare import Places, prepare  # noqa: E402
from py_core.serving.static_server import start  # noqa: E402
from tests.bench.start_watch import WATCH, WATCH_ONLY, read_stages  # noqa: E402
from tests.browser.chat_page import SMOLLM2, ChatPage  # noqa: E402
from tests.browser.engines import CHROMIUM_FLAGS, find_chromium  # noqa: E402
from tests.browser.kept_image import wait_for_image  # noqa: E402

REPEATS = 5
DEADLINE_MS = 240_000
Stages: TypeAlias = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Visit, visit again, and print the table or one JSON object."""
    parser = argparse.ArgumentParser(description="Measure the start of a later visit.")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--open-browser", action="store_true", help="the browser runs already")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    report = measure(chosen.repeats, is_open=chosen.open_browser)
    print(json.dumps(report) if chosen.json else write_table(report))  # noqa: T201
    return 0


def measure(repeats: int, *, is_open: bool = False) -> dict[str, Any]:
    """Make one profile, fill it, and visit the site with it again and again.

    A browser that has just started is measured, or one in which a tab was open before.
    """
    cache = find_cache_folder(os.environ, sys.platform)
    site = prepare(Places(ROOT, cache, os.environ.get("TINYLOOM_CDN")), "smollm2", report=_say)
    with start(site) as server, tempfile.TemporaryDirectory() as profile:
        first = visit_first(profile, server.address)
        _say(f"first visit: {first}")
        runs = []
        visit = visit_in_open_browser if is_open else visit_again
        for stages in visit(profile, server.address, repeats):
            runs.append(stages)
            _say(f"visit {len(runs) + 1}: {stages}")
    names = [name for name in runs[0] if all(name in run for run in runs)]
    medians = {name: statistics.median(run[name] for run in runs) for name in names}
    return {"first_visit": first, "median": medians, "runs": runs, "cores": os.cpu_count()}


def visit_first(profile: str, address: str) -> Stages:
    """Start from nothing, load the model, and stay until everything is kept."""
    chromium = find_chromium()
    with sync_playwright() as playwright:
        context = _launch(playwright, chromium, profile)
        chat = ChatPage(context.new_page())
        chat.page.add_init_script(WATCH_ONLY)
        chat.page.goto(address)
        chat.wait_until_ready()
        chat.load_model(SMOLLM2)
        stages = read_stages(chat.page)
        wait_for_image(chat.page)
        context.close()
    return stages


def visit_again(profile: str, address: str, repeats: int) -> Iterator[Stages]:
    """Start the browser for each visit and open the page as a person who comes back does."""
    for _ in range(repeats):
        yield from visit_in_open_browser(profile, address, 1)


def visit_in_open_browser(profile: str, address: str, repeats: int) -> Iterator[Stages]:
    """Open the page in a new tab for each visit, after the one before is closed."""
    chromium = find_chromium()
    with sync_playwright() as playwright:
        context = _launch(playwright, chromium, profile)
        for _ in range(repeats):
            page = context.new_page()
            page.add_init_script(WATCH)
            page.goto(address, wait_until="commit")
            page.wait_for_function("() => window.watched?.some(([name]) => name === 'first token')")
            yield read_stages(page)
            page.close()
        context.close()


def _launch(playwright: Playwright, chromium: Path | None, profile: str) -> BrowserContext:
    context = playwright.chromium.launch_persistent_context(
        profile, executable_path=chromium, args=CHROMIUM_FLAGS, headless=True
    )
    context.set_default_timeout(DEADLINE_MS)
    return context


def write_table(report: dict[str, Any]) -> str:
    """Write the stages in the order of time."""
    lines = [f"{'ms from navigation to':36}{'median':>8}{'added':>8}"]
    before = 0.0
    for name, reached in sorted(report["median"].items(), key=lambda stage: stage[1]):
        lines.append(f"{name:36}{reached:8.0f}{reached - before:8.0f}")
        before = reached
    ready = report["first_visit"].get("ready")
    lines.append(f"first visit: ready after {ready:.0f} ms; {report['cores']} cores")
    return "\n".join(lines)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
