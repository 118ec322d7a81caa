"""Requests about the embedder, and its work between requests."""

import asyncio
import hashlib
from pathlib import Path
from typing import Any

from tests.py_core.bridge.conversation import GREEDY, converse

FILE = (Path(__file__).parents[3] / "fixtures" / "embedders" / "small_encoder.slm").read_bytes()


def payload_of(data: bytes = FILE) -> dict[str, Any]:
    """Describe the opened file."""
    return {
        "handle": "embedder",
        "name": "Small encoder",
        "file_bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


async def remember(page, text: str) -> dict[str, Any]:
    """Keep a text."""
    applied: dict[str, Any] = await page.ask(
        "memory.apply", {"change": {"action": "remember", "text": text, "sources": []}}
    )
    return applied


async def wait_for_vectors(page, count: int) -> dict[str, Any]:
    """Ask until all records have a vector."""
    while True:
        facts: dict[str, Any] = await page.ask("embedder.facts")
        if facts["vectors"] == count and facts["missing"] == 0:
            return facts
        await asyncio.sleep(0.001)


def test_records_get_their_vectors_between_requests():
    """What is remembered before and after the load is embedded without being asked for."""

    async def script(page):
        await remember(page, "My cat is called Miso.")
        facts = await page.ask("embedder.load", payload_of())
        assert (facts["stage"], facts["op_set"]) == ("ready", "numpy")
        assert facts["weight_bytes"] > 0
        await wait_for_vectors(page, 1)
        await remember(page, "The release moved to May.")
        await wait_for_vectors(page, 2)
        assert page.host.closed == ["embedder"]

    converse(script, files={"embedder": FILE})


def test_a_chat_is_never_busy_with_the_embedder():
    """Idle work stands aside for a message and goes on after it."""

    async def script(page):
        await page.load("chat")
        await page.ask("embedder.load", payload_of())
        for number in range(6):
            await remember(page, f"Note {number} about tea.")
        result = await page.ask("chat.send", {"text": "hi", "system": "", "settings": GREEDY})
        assert result["generated_tokens"] > 0
        await wait_for_vectors(page, 6)

    converse(script, files={"embedder": FILE})


def test_freeing_gives_off_and_a_second_load_finds_the_kept_vectors():
    """The rows of the first load are read, not made again."""

    async def script(page):
        await page.ask("embedder.load", payload_of())
        await remember(page, "My cat is called Miso.")
        await wait_for_vectors(page, 1)
        facts = await page.ask("embedder.free")
        assert (facts["stage"], facts["vectors"], facts["weight_bytes"]) == ("off", 0, 0)
        page.host.files["embedder"] = FILE
        await page.ask("embedder.load", payload_of())
        await wait_for_vectors(page, 1)

    converse(script, files={"embedder": FILE})


def test_a_refused_file_is_a_state_and_no_error():
    """The page says it and goes on with words; the memory goes on working."""

    async def script(page):
        broken = FILE[:-5] + bytes([FILE[-5] ^ 1]) + FILE[-4:]
        page.host.files["embedder"] = broken
        facts = await page.ask("embedder.load", payload_of(broken))
        assert (facts["stage"], facts["reason"]) == ("failed", "file_refused")
        await remember(page, "My cat is called Miso.")
        assert (await page.ask("embedder.facts"))["stage"] == "failed"
        assert page.host.closed == ["embedder"]

    converse(script)


def test_the_plan_of_a_model_counts_the_embedder():
    """What is in use beside the model is stated as such."""

    async def script(page):
        before = await page.ask("model.plan", page.load_payload("chat"))
        facts = await page.ask("embedder.load", payload_of())
        after = await page.ask("model.plan", page.load_payload("chat"))
        assert before["embedder_bytes"] == 0
        assert after["embedder_bytes"] == facts["weight_bytes"]

    converse(script, files={"embedder": FILE})
