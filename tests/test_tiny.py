"""The whole chain on the smallest model, in seconds: file, prompt, plan, tokens, reply."""

import asyncio

from py_core.bridge.worker_entry import start
from py_core.identity import content_hash
from tests.py_core.fake_host import FakeHost, FakePage
from tests.py_core.model_files import make_model


def test_a_loaded_model_answers_and_its_plan_accounts_for_every_token():
    """Load, send, stream, account, again: the main job without a browser."""

    async def hold_conversation():
        host = FakeHost({"tiny": make_model()})
        page = FakePage(host, start(host))
        facts = await page.load("tiny")
        turns = []
        for text in ("hello", "and now?"):
            result = await page.ask("chat.send", {"text": text, "settings": {"max_tokens": 8}})
            plan = page.events_of(page.last_id, "plan")[0]["plan"]
            streamed = page.events_of(page.last_id, "token")
            turns.append((result, plan, streamed))
        return facts, turns

    facts, turns = asyncio.run(hold_conversation())

    for result, plan, streamed in turns:
        costs = [node["cost_tokens"] for node in plan["nodes"]]
        assert sum(costs) == len(plan["prompt_ids"]) == result["prompt_tokens"]
        assert "".join(part["text"] for part in streamed) == result["text"]
        assert result["prompt_tokens"] <= facts["prompt_limit_tokens"]
        assert plan["plan_hash"] == content_hash(plan | {"plan_hash": ""})
        assert plan["model_identity"] == facts["sha256"]
    assert turns[1][0]["reused_tokens"] > 0
