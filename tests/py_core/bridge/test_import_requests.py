"""A file of another format is written anew through the host, stored there, and loaded."""

import asyncio
import hashlib

import pytest

from tests.py_core.bridge.conversation import CHAT, GREEDY, converse


def test_a_converted_file_is_stored_and_loaded_under_its_own_hash():
    """The facts are those of the new file, and both files are closed."""

    async def script(page):
        load = page.send("model.load", page.load_payload("chat", format="gguf"))
        reply = await page.reply_to(load)
        steps = [data["step"] for data in page.events_of(load, "progress")]
        answer = await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        return reply["value"], steps, answer, page.host

    facts, steps, answer, host = converse(script)

    assert facts["dtype"] == "q8_0"
    assert facts["sha256"] != hashlib.sha256(CHAT).hexdigest()
    assert steps == sorted(steps)
    assert set(steps) == {"convert", "load"}
    assert answer["generated_tokens"] > 0
    assert sorted(host.closed) == ["chat", "chat-converted"]
    assert not host.written


@pytest.mark.parametrize("content", [b"", b"GGUF", b"GGUF\x03\0\0\0" + b"\xff" * 64, b"no model"])
def test_a_file_that_is_no_model_is_refused_as_a_file(content):
    """The page shows the reader's sentence; nothing was stored."""

    async def script(page):
        error = await page.ask_in_vain("model.load", page.load_payload("bad", format="gguf"))
        return error, page.host

    error, host = converse(script, files={"bad": content})

    assert error["code"] == "model_file"
    assert error["details"]["reason"]
    assert host.closed == ["bad"]


def test_a_stopped_conversion_is_cancelled():
    """Nothing is stored and the old model stays."""

    async def script(page):
        await page.load("second")
        load = page.send("model.load", page.load_payload("chat", format="gguf"))
        await asyncio.sleep(0)
        page.send("cancel", {"target": load})
        reply = await page.reply_to(load)
        facts = await page.ask("runtime.facts")
        return reply, facts, page.host

    reply, facts, host = converse(script, tick_ms=20.0)

    assert reply["error"]["code"] == "cancelled"
    assert facts["model"]["name"] == "random"
    assert "chat-converted" not in host.files
