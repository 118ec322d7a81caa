"""The browser's database keeps the promises of the storage port, also when the tab is killed."""

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from playwright.sync_api import Browser, BrowserContext, CDPSession, Error, Page

from py_core.serving.static_server import RunningServer
from tests.browser.memory_page import run_in_page
from tests.browser.profiles import open_context
from tests.laws.test_store_machine import StoreMachine
from tests.source_tree import ROOT

pytestmark = pytest.mark.browser

MACHINE_RUNS = settings(
    max_examples=20, stateful_step_count=12, deadline=None, derandomize=True, database=None
)
DROP_DATABASE = """() => new Promise((resolve, reject) => {
  const request = indexedDB.deleteDatabase('tinyloom');
  request.onsuccess = resolve;
  request.onerror = () => reject(request.error);
})"""
KILLS = int(os.environ.get("TINYLOOM_KILLS", "12"))
LONGEST_STORM_MS = 250

REPLAY = """async (port, steps) => {
  const answers = [];
  for (const step of steps) {
    if (step.do === 'commit')
      answers.push(await port.ledger_commit(step.base, JSON.stringify(step.changes)));
    if (step.do === 'changes') answers.push(await port.ledger_changes(step.area, step.since));
    if (step.do === 'read')
      answers.push(await port.ledger_read(step.area, JSON.stringify(step.keys)));
    if (step.do === 'wipe') answers.push(await port.ledger_wipe());
  }
  return answers;
}"""

# Each commit writes one key into three areas; what was answered is told to the test at once.
STORM = """async (port, first) => {
  let { revision } = JSON.parse(await port.ledger_changes('heads', 0));
  for (let number = first; ; number += 1) {
    const text = 'x'.repeat(500);
    const rows = ['heads', 'records', 'choices'].map((area) => [area, `k${number}`, text]);
    const answer = JSON.parse(await port.ledger_commit(revision, JSON.stringify(rows)));
    revision = answer.revision;
    await window.acknowledge(number);
  }
}"""

READ_KEYS = """async (port) => {
  const found = [];
  for (const area of ['heads', 'records', 'choices'])
    found.push(JSON.parse(await port.ledger_changes(area, 0)).rows.map(([key]) => key));
  return found;
}"""

MAKE_VERSION_2 = """() => new Promise((resolve, reject) => {
  const areas = ['records', 'heads', 'plans', 'choices', 'startup', 'outbox', 'cursor'];
  const request = indexedDB.open('tinyloom', 2);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('settings');
    for (const area of areas) {
      const store = request.result.createObjectStore(area, { keyPath: 'key' });
      store.createIndex('by_revision', 'revision');
      if (area === 'records') store.put({ key: 'a', revision: 1, text: 'kept' });
    }
    const state = request.result.createObjectStore('ledger_state');
    state.put({ revision: 1, wiped_at: 0 }, 'state');
  };
  request.onerror = () => reject(request.error);
  request.onsuccess = () => resolve(request.result.close());
})"""

WRITE_NEW_AREA = """async (port) => {
  const { rows } = JSON.parse(await port.ledger_changes('records', 0));
  const changes = JSON.stringify([['search', 'words', 'text']]);
  return [rows, JSON.parse(await port.ledger_commit(1, changes))];
}"""

RACE = """async (port, count) => {
  const wins = [];
  for (let attempt = 0; wins.length < count; attempt += 1) {
    const { revision } = JSON.parse(await port.ledger_changes('heads', 0));
    const rows = JSON.stringify([['heads', `r${revision}`, 'x']]);
    const answer = JSON.parse(await port.ledger_commit(revision, rows));
    if (answer.is_committed) wins.push(answer.revision);
  }
  return wins;
}"""


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Open a profile of its own."""
    context = open_context(chromium)
    yield context
    context.close()


def open_bare(context: BrowserContext, server: RunningServer) -> Page:
    """Open a page of the site's origin on which nothing runs."""
    while True:
        # A tab may begin in a process that was just killed.
        with suppress(Error):
            page = context.new_page()
            page.goto(f"{server.address}assets.json")
            return page


def test_recorded_operations_give_their_recorded_answers(
    context: BrowserContext, server: RunningServer
):
    """What memory and SQLite answer natively, IndexedDB answers here."""
    steps = json.loads((ROOT / "fixtures/memory/store_operations.json").read_text("utf-8"))
    page = open_bare(context, server)
    answers = [json.loads(answer) for answer in run_in_page(page, REPLAY, steps)]
    for step, answer in zip(steps, answers, strict=True):
        if step["do"] == "read":
            assert dict(answer["texts"]) == dict(step["answer"]["texts"])
        else:
            assert answer == step["answer"]


def test_whatever_the_machine_did_to_the_other_stores_indexeddb_answers_alike(
    context: BrowserContext, server: RunningServer
):
    """Memory and SQLite were driven by generated operations; the same are replayed here."""
    StoreMachine.runs.clear()
    with ThreadPoolExecutor(1) as elsewhere:
        # This thread has Playwright's event loop.
        elsewhere.submit(run_state_machine_as_test, StoreMachine, settings=MACHINE_RUNS).result()
    page = open_bare(context, server)
    assert sum(map(len, StoreMachine.runs)) > 100
    for steps in StoreMachine.runs:
        page.evaluate(DROP_DATABASE)
        for step, text in zip(steps, run_in_page(page, REPLAY, steps), strict=True):
            answer = json.loads(text)
            if step["do"] == "read":
                answer["texts"] = dict(answer["texts"])
            assert answer == json.loads(json.dumps(step["answer"])), steps


def test_two_tabs_never_get_the_same_revision(context: BrowserContext, server: RunningServer):
    """Each commit of each tab is its own; none is lost."""
    pages = [open_bare(context, server) for _ in range(2)]
    starts = [
        page.evaluate_handle(
            f"async () => {{ const {{ LEDGER_FUNCTIONS: port }} = "
            f"await import('/worker/ledger_database.js'); "
            f"window.race = ({RACE})(port, 30); return 1; }}"
        )
        for page in pages
    ]
    assert len(starts) == len(pages)
    wins: list[list[int]] = [page.evaluate("window.race") for page in pages]
    assert sorted(wins[0] + wins[1]) == list(range(1, 61))
    (keys, _, _) = run_in_page(pages[0], READ_KEYS)
    assert len(keys) == 60


def test_every_acknowledged_write_survives_the_death_of_the_tab(
    chromium: Browser, context: BrowserContext, server: RunningServer
):
    """Killed at random points of a write storm; none is missing, none is there by half."""
    rng, acknowledged = np.random.default_rng(50), list[int]()
    for kill in range(KILLS):
        page = open_bare(context, server)
        # Playwright marks the function it is given, and a built-in one bears no mark.
        page.expose_function("acknowledge", lambda number: acknowledged.append(number))  # noqa: PLW0108
        first = max(acknowledged, default=-1) + 1_000
        storm = (
            f"async () => {{ const {{ LEDGER_FUNCTIONS: port }} = "
            f"await import('/worker/ledger_database.js'); ({STORM})(port, {first}); }}"
        )
        page.evaluate(storm)
        page.wait_for_timeout(float(rng.integers(1, LONGEST_STORM_MS)))
        _kill_tab(chromium, page)
        heads, records, choices = _read_keys(context, server)
        assert heads == records == choices
        assert {f"k{number}" for number in acknowledged} <= set(heads), f"kill {kill}"
    assert len(acknowledged) > KILLS


def _kill_tab(browser: Browser, page: Page) -> None:
    """End the tab's process from outside, as a crash or a full memory does.

    No other test has a tab open meanwhile, so all processes that draw pages may go.
    """
    session = browser.new_browser_cdp_session()
    killed = _find_renderers(session)
    for process in killed:
        os.kill(process, signal.SIGKILL)
    while killed & _find_renderers(session):
        pass
    session.detach()
    with suppress(Error):
        page.close()


def _find_renderers(session: CDPSession) -> set[int]:
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return {process["id"] for process in processes if process["type"] == "renderer"}


def _read_keys(context: BrowserContext, server: RunningServer) -> Any:
    page = open_bare(context, server)
    keys = run_in_page(page, READ_KEYS)
    page.close()
    return keys


def test_a_database_of_the_version_before_is_taken_over(
    context: BrowserContext, server: RunningServer
):
    """What was kept is there, and the new area can be written."""
    page = open_bare(context, server)
    page.evaluate(MAKE_VERSION_2)
    kept, written = run_in_page(page, WRITE_NEW_AREA)
    assert kept == [["a", 1, "kept"]]
    assert written == {"revision": 2, "is_committed": True}
