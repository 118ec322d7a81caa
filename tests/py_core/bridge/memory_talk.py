"""A page that talks to a model with room for memory, and looks at what the prompt got.

Takes a script over a `Talk`; gives what the script gives. Each visit is a new worker over the same
store, as after a reload of the page.
"""

import asyncio
from typing import Any

from py_core.bridge.worker_entry import start
from tests.py_core.fake_host import FakeHost, FakePage, Json
from tests.py_core.model_files import make_model

WIDE = make_model(context_tokens=4096)
SMALL = make_model(context_tokens=2048)
IDLE_TURNS = 400
SHORT_ANSWER = {"max_tokens": 4}


class Talk:
    """One visit."""

    def __init__(self, host: FakeHost, page: FakePage) -> None:
        self.host, self.page = host, page
        self.plan: Json = {}
        self.retrieval: Json = {}

    async def say(self, text: str, **payload: Any) -> Json:
        """Send a message; the plan and the account of retrieval are kept."""
        settings = {"settings": SHORT_ANSWER, **payload}
        value = await self.page.ask("chat.send", {"text": text, **settings})
        data = self.page.events_of(self.page.last_id, "plan")[0]
        self.plan, self.retrieval = data["plan"], data["retrieval"]
        return value

    async def settle(self) -> None:
        """Ask nothing for a while, so that what waits for idle time is done."""
        for _ in range(IDLE_TURNS):
            await asyncio.sleep(0)

    async def remember(self, text: str, **more: Any) -> str:
        """Keep a text; give its id."""
        change = {"action": "remember", "text": text, **more}
        report = await self.page.ask("memory.apply", {"change": change})
        record_id: str = report["kept"][0]["record_id"]
        return record_id

    async def change(self, action: str, **fields: Any) -> Json:
        """Make a change of the memory."""
        change = {"action": action, **fields}
        return await self.page.ask("memory.apply", {"change": change})

    def events(self, name: str) -> list[Json]:
        """Give the data of the last message's events."""
        return self.page.events_of(self.page.last_id, name)

    def message_id(self, number: int, role: str = "user") -> str:
        """Give the id of a message of this visit."""
        session = self.ids_of_nodes()[-1].partition("@")[2]
        return f"turn-{number}-{role}@{session}"

    def ids_of_nodes(self) -> list[str]:
        """Give the ids of what is in the prompt."""
        return [node["record_id"] for node in self.plan["nodes"]]

    def node(self, record_id: str) -> Any:
        """Give the node of a record; None when it is not in the prompt."""
        return next((n for n in self.plan["nodes"] if n["record_id"] == record_id), None)

    def reason(self, record_id: str) -> str | None:
        """Give the reason for which a record stayed out."""
        rows = self.plan["exclusions"]
        return next((row["reason"] for row in rows if row["record_id"] == record_id), None)

    def candidate(self, record_id: str) -> Any:
        """Give the account of a candidate; None when it is none."""
        rows = self.retrieval["candidates"]
        return next((row for row in rows if row["record_id"] == record_id), None)

    def lane(self, name: str) -> Json:
        """Give how asking a lane ended."""
        found: Json = next(lane for lane in self.retrieval["lanes"] if lane["lane"] == name)
        return found

    @property
    def prompt(self) -> str:
        """The texts of the prompt in their order."""
        parts = sorted(
            [*self.plan["nodes"], *self.plan["frames"]], key=lambda part: part["position"]
        )
        return "".join(part["text"] for part in parts)


async def visit(host: FakeHost, *, model: bytes = WIDE) -> Talk:
    """Open the page anew, with a model loaded and the memory warm."""
    talk = Talk(host, FakePage(host, start(host)))
    host.posted.clear()
    host.files["model"] = model
    await talk.page.load("model")
    await asyncio.sleep(0)
    return talk


def hold(script: Any, *, database: Any = None, model: bytes = WIDE) -> Any:
    """Run a script over one visit."""

    async def run() -> Any:
        return await script(await visit(FakeHost(database=database), model=model))

    return asyncio.run(run())
