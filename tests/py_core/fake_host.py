"""A host in memory: the shell's functions over plain Python, with a clock that tests control."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeAlias

from py_core.store.ports import Database
from tests.py_core.store.databases import FakeDatabaseHost

Json: TypeAlias = dict[str, Any]


class FakeHost(FakeDatabaseHost):
    """Keeps files by handle, collects what is posted, and counts pauses.

    Each read of the clock moves it on by `tick_ms`, so that rests come due without real time.
    """

    def __init__(
        self,
        files: dict[str, bytes] | None = None,
        *,
        tick_ms: float = 1.0,
        database: Database | None = None,
    ) -> None:
        super().__init__(database)
        self.files = dict(files or {})
        self.written: dict[str, bytearray] = {}
        self.closed: list[str] = []
        self.prefixes: dict[str, bytes] = {}
        self.prefix_owners: dict[str, str] = {}
        self.refuses_prefixes = False
        self.posted: list[Json] = []
        self.limit_bytes = 2**32
        self.is_first_tab = True
        self.time_of_day = "2026-07-10T12:00:00.000Z"
        self.pauses = 0
        self.on_pause: Callable[[], None] = lambda: None
        self._tick_ms = tick_ms
        self._now_ms = 0.0

    def post(self, message: str) -> None:
        """Collect a message."""
        self.posted.append(json.loads(message))

    def now_ms(self) -> float:
        """Read the clock, which moves it."""
        self._now_ms += self._tick_ms
        return self._now_ms

    def now_utc(self) -> str:
        """Give the time that a test has set; it does not pass."""
        return self.time_of_day

    async def begin_visit(self) -> bool:
        """Say what a test has set."""
        return self.is_first_tab

    async def pause(self) -> None:
        """Let other tasks run."""
        self.pauses += 1
        self.on_pause()
        await asyncio.sleep(0)

    def heap_bytes(self) -> int:
        """Give a number that nothing else gives."""
        return 12_345_678

    def heap_limit_bytes(self) -> int:
        """Give what a test allows."""
        return self.limit_bytes

    def kernel_on_python_memory(self, _module: bytes) -> None:
        """CPython lives in no WebAssembly memory."""

    def kernel_on_shared_memory(self, _module: bytes) -> None:
        """And has none to share."""

    def model_size(self, handle: str) -> int:
        """Size of an opened file."""
        return len(self.files[handle])

    def model_read(self, handle: str, offset: int, target: memoryview) -> None:
        """Copy from an opened file."""
        target[:] = self.files[handle][offset : offset + len(target)]

    def model_close(self, handle: str) -> None:
        """Note that a handle was let go; its bytes cannot be read any more."""
        self.closed.append(handle)
        self.files.pop(handle, None)
        self.written.pop(handle, None)

    def model_write(self, handle: str, data: memoryview) -> None:
        """Append a copy."""
        self.written.setdefault(handle, bytearray()).extend(data)

    async def model_commit(self, handle: str) -> str:
        """Open what was written under a new handle."""
        content = bytes(self.written.pop(handle))
        self.files[f"{handle}-converted"] = content
        return json.dumps(
            {
                "handle": f"{handle}-converted",
                "sha256": hashlib.sha256(content).hexdigest(),
                "file_bytes": len(content),
            }
        )

    async def prefix_open(self, key: str) -> str:
        """Open a saved beginning under a handle of its own."""
        data = self.prefixes.get(key)
        if data is None or self.refuses_prefixes:
            return json.dumps({"error": "Refused"} if self.refuses_prefixes else {"handle": None})
        self.files[f"prefix-{key}"] = data
        return json.dumps({"handle": f"prefix-{key}"})

    async def prefix_put(self, key: str, model: str, data: memoryview) -> str:
        """Keep a copy."""
        if self.refuses_prefixes:
            return json.dumps({"error": "QuotaExceededError"})
        self.prefixes[key], self.prefix_owners[key] = bytes(data), model
        return json.dumps({"is_kept": True})

    async def prefix_remove(self, key: str) -> str:
        """Remove it."""
        self.prefixes.pop(key, None)
        return json.dumps({})


class FakePage:
    """The page's side of the protocol: counts ids, waits for replies."""

    def __init__(self, host: FakeHost, receive: Callable[[str], None]) -> None:
        self.host, self._receive, self._last_id = host, receive, 0

    def send(self, kind: str, payload: Json | None = None) -> int:
        """Send a request and give its id."""
        self._last_id += 1
        message = {"v": 1, "id": self._last_id, "kind": kind, "payload": payload or {}}
        self._receive(json.dumps(message))
        return self._last_id

    async def reply_to(self, request_id: int) -> Json:
        """Wait for the reply of a request."""
        while True:
            for message in self.messages_of(request_id):
                if "ok" in message:
                    return message
            await asyncio.sleep(0)

    async def ask(self, kind: str, payload: Json | None = None) -> Json:
        """Send a request and give the value of its reply."""
        reply = await self.reply_to(self.send(kind, payload))
        assert reply["ok"], reply["error"]
        value: Json = reply["value"]
        return value

    async def ask_in_vain(self, kind: str, payload: Json | None = None) -> Json:
        """Send a request and give the error of its reply."""
        reply = await self.reply_to(self.send(kind, payload))
        assert not reply["ok"], reply["value"]
        error: Json = reply["error"]
        return error

    async def load(self, handle: str, **changes: object) -> Json:
        """Load an opened file."""
        return await self.ask("model.load", self.load_payload(handle, **changes))

    def load_payload(self, handle: str, **changes: object) -> Json:
        """Describe an opened file truly, but for the changes."""
        content = self.host.files[handle]
        truth = {
            "handle": handle,
            "name": handle,
            "file_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        return truth | changes

    def messages_of(self, request_id: int) -> list[Json]:
        """Give all messages with one id, in order."""
        return [message for message in self.host.posted if message["id"] == request_id]

    def events_of(self, request_id: int, name: str) -> list[Json]:
        """Give the data of all events of one name and id."""
        found = self.messages_of(request_id)
        return [message["data"] for message in found if message.get("event") == name]

    @property
    def last_id(self) -> int:
        """The id of the newest request."""
        return self._last_id
