"""A memory is kept with consent, found after a reload and deleted, in Firefox and in WebKit too."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_core.serving.static_server import RunningServer
from tests.browser import webkit_driver
from tests.browser.chat_page import ChatPage
from tests.browser.engines import ENGINES
from tests.browser.firefox_driver import drive_firefox
from tests.browser.profiles import demand_engine

pytestmark = pytest.mark.browser

TEXT = "I keep bees behind the shed"
FLOW = (Path(__file__).parent / "memory_flow.js").read_text(encoding="utf-8").partition("*/")[2]
SCRIPTS = [f"({FLOW})({json.dumps({'step': step, 'text': TEXT})})" for step in ("keep", "delete")]


def expect_kept_and_deleted(results: list[dict[str, Any]]) -> None:
    """The text lies in the database between the two, and only then."""
    kept, deleted = results
    assert TEXT in kept["raw"]
    assert any("tier 7" in row for row in kept["rows"])
    assert TEXT not in deleted["raw"]
    assert "Tombstone" in deleted["raw"]


def test_chromium_keeps_and_deletes(context: BrowserContext, server: RunningServer):
    """The flow itself is sound where the other tests run."""
    results = []
    for script in SCRIPTS:
        chat = ChatPage.open(context, server.address)
        results.append(chat.page.evaluate(script))
        chat.page.close()
    expect_kept_and_deleted(results)


def test_firefox_keeps_and_deletes(server: RunningServer):
    """Through WebDriver BiDi."""
    order = {"address": server.address, "scripts": SCRIPTS}
    executable = demand_engine(ENGINES["firefox"])
    expect_kept_and_deleted(drive_firefox("firefox_scripts.mjs", order, executable))


# selenium passes its own deprecated argument when it starts this driver.
@pytest.mark.filterwarnings("ignore:setting remote_server_addr:DeprecationWarning")
def test_webkit_keeps_and_deletes(server: RunningServer):
    """Through WebKit's own driver."""
    executable = demand_engine(ENGINES["webkit"])
    expect_kept_and_deleted(webkit_driver.run_scripts(executable, server.address, SCRIPTS))
