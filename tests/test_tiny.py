"""The whole chain on the smallest model in seconds; runs before everything else."""

from pathlib import Path

from tests.py_core.bridge.conversation import converse

TINY = (Path(__file__).parents[1] / "fixtures" / "models" / "tiny_tied_f32.slm").read_bytes()
SETTINGS = {"temperature": 0.0, "max_tokens": 5}


def test_message_becomes_a_plan_then_tokens_then_one_reply():
    """A file is read, a message compiled, ids generated, and all of them counted alike."""

    async def script(page):
        facts = await page.load("tiny")
        turn = await page.ask("chat.send", {"text": "the", "settings": SETTINGS})
        return facts, turn, page.messages_of(page.last_id)

    facts, turn, messages = converse(script, files={"tiny": TINY})

    assert (facts["parameters"], facts["context_tokens"]) == (2_744, 16)
    assert (facts["prompt_limit_tokens"], facts["checksum"]) == (15, "verified")
    events = [message.get("event", "reply") for message in messages]
    assert (events[0], events[-1], events.count("reply")) == ("plan", "reply", 1)
    plan = messages[0]["data"]["plan"]
    assert len(plan["prompt_ids"]) == plan["allowance"]["prompt_tokens"]
    assert turn["prompt_tokens"] == len(plan["prompt_ids"])
    assert 0 < turn["generated_tokens"] == len(turn["output_ids"]) <= SETTINGS["max_tokens"]
    assert all(0 <= token < facts["tokenizer"]["vocab_size"] for token in turn["output_ids"])


def test_same_message_after_a_reset_gives_the_same_ids():
    """Nothing of the first run is left behind."""

    async def script(page):
        await page.load("tiny")
        first = await page.ask("chat.send", {"text": "the", "settings": SETTINGS})
        await page.ask("chat.reset")
        second = await page.ask("chat.send", {"text": "the", "settings": SETTINGS})
        return first, second

    first, second = converse(script, files={"tiny": TINY})

    assert first["output_ids"] == second["output_ids"]
    assert second["reused_tokens"] == 0
