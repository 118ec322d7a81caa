"""Engines that a test demands, and fresh profiles of Chromium.

Takes an engine or the running browser; gives its program or a context. Does not know the
page.
"""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.engines import Engine, explain_missing, is_required

# Ends a hang only: a test waits for what the page shows, on slow machines as long as it takes.
DEADLINE_MS = 120_000


def demand_engine(engine: Engine) -> Path:
    """Return the engine's program; skip the test without it, or fail where it is required."""
    path = engine.find()
    if path is None and is_required(engine.name):
        pytest.fail(explain_missing(engine))
    if path is None:
        pytest.skip(explain_missing(engine))
    return path


def open_context(chromium: Browser, **options: Any) -> BrowserContext:
    """Open a fresh profile: no cookies, no storage, no service worker of another test."""
    context = chromium.new_context(**options)
    context.set_default_timeout(DEADLINE_MS)
    return context
