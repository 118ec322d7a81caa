"""Run one conversation of a page with a fresh worker over a real tiny model."""

import asyncio
from typing import Any

from py_core.bridge.worker_entry import start
from tests.py_core.fake_host import FakeHost, FakePage
from tests.py_core.model_files import make_model

CHAT = make_model()
GREEDY = {"max_tokens": 12}


def converse(script, *, files=None, tick_ms=1.0, database=None) -> Any:
    """Give the page to the script; `chat` and `second` are open files."""

    async def run():
        opened = {"chat": CHAT, "second": CHAT} | (files or {})
        host = FakeHost(opened, tick_ms=tick_ms, database=database)
        return await script(FakePage(host, start(host)))

    return asyncio.run(run())


def list_messages(plan) -> list[str]:
    """Give the names of the nodes of a plan, without the mark of the session."""
    return [node["record_id"].partition("@")[0] for node in plan["nodes"]]


def find_named(rows, name: str) -> Any:
    """Give the row of a message or an attachment, by its name without the mark of the session."""
    return next(row for row in rows if row["record_id"].partition("@")[0] == name)
