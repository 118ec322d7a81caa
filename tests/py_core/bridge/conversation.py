"""Run one conversation of a page with a fresh worker over a real tiny model."""

import asyncio
from typing import Any

from py_core.bridge.worker_entry import start
from tests.py_core.fake_host import FakeHost, FakePage
from tests.py_core.model_files import make_model

CHAT = make_model()
GREEDY = {"max_tokens": 12}


def converse(script, *, files=None, tick_ms=1.0) -> Any:
    """Give the page to the script; `chat` and `second` are open files."""

    async def run():
        host = FakeHost({"chat": CHAT, "second": CHAT} | (files or {}), tick_ms=tick_ms)
        return await script(FakePage(host, start(host)))

    return asyncio.run(run())
