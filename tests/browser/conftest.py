"""The browser and the site, started once for all browser tests.

Takes the engines that this machine has; gives one Chromium and, for each test, a fresh context.
Does not know what a test does with them.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.prepare import Places, prepare
from py_core.serving.site import Site
from py_core.serving.static_server import RunningServer, start
from py_core.serving.vendor_lock import VendorLock, read_vendor_lock
from tests.browser.chat_page import ChatPage
from tests.browser.engines import CHROMIUM_FLAGS, ENGINES
from tests.browser.profiles import DEADLINE_MS, demand_engine, open_context

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start Chromium once."""
    path = demand_engine(ENGINES["chromium"])
    expect.set_options(timeout=DEADLINE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site() -> Site:
    """Prepare the page with the real model and the fixtures, as `serve.py --no-embedder` does."""
    cache = find_cache_folder(os.environ, sys.platform)
    places = Places(ROOT, cache, os.environ.get("TINYLOOM_CDN"))
    return prepare(places, "smollm2", report=_say, wants_embedder=False)


@pytest.fixture(scope="session")
def server(site: Site) -> Iterator[RunningServer]:
    """Serve that site for the whole run."""
    with start(site) as running:
        yield running


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """Open a fresh profile: no cookies, no storage, no service worker of another test."""
    context = open_context(chromium)
    yield context
    context.close()


@pytest.fixture
def chat(context: BrowserContext, server: RunningServer) -> ChatPage:
    """Open the page in a fresh profile and wait until it is ready."""
    return ChatPage.open(context, server.address)


@pytest.fixture(scope="session")
def vendor_lock() -> VendorLock:
    """Read which files the page's runtime consists of."""
    return read_vendor_lock(ROOT / "web" / "vendor.lock.json")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
