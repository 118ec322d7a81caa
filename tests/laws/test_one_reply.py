"""Law of the border: zero or more events, then exactly one reply, then nothing."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from py_core.bridge.worker_entry import start
from tests.py_core.fake_host import FakeHost, FakePage
from tests.py_core.model_files import FIXTURE_16

CHAT_PAYLOADS = st.fixed_dictionaries(
    {
        "text": st.text(max_size=14),
        "settings": st.fixed_dictionaries({"max_tokens": st.integers(0, 6)}),
    }
)
REQUESTS: st.SearchStrategy[Any] = st.one_of(
    st.tuples(st.just("chat.send"), CHAT_PAYLOADS),
    st.tuples(st.just("model.load"), st.sampled_from(["good", "bad"])),
    st.tuples(st.sampled_from(["model.free", "chat.reset", "runtime.facts"]), st.just({})),
    st.tuples(st.just("cancel"), st.fixed_dictionaries({"target": st.integers(0, 12)})),
    st.tuples(st.text(max_size=8), st.just({})),
)
SCRIPTS = st.lists(st.tuples(REQUESTS, st.integers(0, 6)), max_size=12)


async def play(script, tick_ms):
    """Send every request, letting the worker run for so many turns of the loop in between."""
    host = FakeHost(tick_ms=tick_ms)
    page = FakePage(host, start(host))
    for number, ((kind, payload), turns) in enumerate(script):
        handle = f"{payload}-{number}"
        host.files[handle] = FIXTURE_16 if payload == "good" else FIXTURE_16[:200]
        if kind == "model.load":
            page.send(kind, page.load_payload(handle))
        else:
            page.send(kind, payload)
        for _ in range(turns):
            await asyncio.sleep(0)
    for request_id in range(1, len(script) + 1):
        await page.reply_to(request_id)
    await asyncio.sleep(0)
    return page


@given(SCRIPTS, st.sampled_from([0.0, 1.0, 20.0]))
def test_each_request_gets_events_then_one_reply_then_nothing(script, tick_ms):
    """Whatever is sent in whatever order, and however often the worker rests."""
    page = asyncio.run(play(script, tick_ms))

    for request_id in range(1, len(script) + 1):
        kinds = ["ok" in message for message in page.messages_of(request_id)]
        assert kinds.count(True) == 1
        assert kinds[-1]
    assert {message["id"] for message in page.host.posted} == set(range(1, len(script) + 1))


@given(SCRIPTS)
def test_every_opened_file_is_closed_once_its_load_has_been_answered(script):
    """The shell's copy of the bytes is never left behind, also when the load was refused."""
    page = asyncio.run(play(script, 1.0))

    opened = {
        f"{payload}-{number}"
        for number, ((kind, payload), _) in enumerate(script)
        if kind == "model.load"
    }
    assert set(page.host.closed) == opened
