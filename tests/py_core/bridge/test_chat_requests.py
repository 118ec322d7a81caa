"""Chatting as the page sees it: a plan, tokens, one reply, on a real tiny model."""

import asyncio

from tests.py_core.bridge.conversation import GREEDY, converse, list_messages
from tests.py_core.model_files import FIXTURE_16


def test_the_plan_comes_before_the_first_token_and_the_reply_last():
    """Order of a turn: plan, then tokens, then exactly one reply."""

    async def script(page):
        await page.load("chat")
        await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        return page.messages_of(page.last_id)

    messages = converse(script)

    names = [message.get("event", "reply") for message in messages]
    assert names.index("plan") < names.index("token")
    assert names.count("plan") == 1
    assert names.count("reply") == 1
    assert names[-1] == "reply"


def test_the_streamed_text_and_ids_are_those_of_the_reply():
    """Nothing is lost between the stream and the result."""

    async def script(page):
        await page.load("chat")
        value = await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        return value, page.events_of(page.last_id, "token")

    value, tokens = converse(script)

    assert "".join(token["text"] for token in tokens) == value["text"]
    assert [token for event in tokens for token in event["ids"]] == value["output_ids"]
    assert value["generated_tokens"] == len(value["output_ids"]) > 0


def test_the_prompt_counts_of_plan_and_result_agree():
    """The meter equals the tokens that were really processed."""

    async def script(page):
        await page.load("chat")
        value = await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        return value, page.events_of(page.last_id, "plan")[0]["plan"]

    value, plan = converse(script)

    assert value["prompt_tokens"] == len(plan["prompt_ids"])
    assert plan["allowance"]["prompt_tokens"] == len(plan["prompt_ids"])


def test_a_second_turn_reuses_the_prefix_and_carries_the_first():
    """No reload between turns, and what is cached is not computed again."""

    async def script(page):
        await page.load("chat")
        await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        second = await page.ask("chat.send", {"text": "again", "settings": GREEDY})
        return second, page.events_of(page.last_id, "plan")[0]["plan"]

    second, plan = converse(script)

    assert list_messages(plan).count("turn-1-user") == 1
    assert second["reused_tokens"] >= len("hello")


def test_a_cancelled_turn_ends_as_stopped_and_keeps_its_text():
    """The target's reply is a result; the cancel's own reply is a value."""

    async def script(page):
        await page.load("chat")
        turn = page.send("chat.send", {"text": "hello", "settings": {"max_tokens": 100}})
        page.host.on_pause = lambda: page.events_of(turn, "token") and cancel_once(page, turn)
        reply = await page.reply_to(turn)
        cancel = await page.reply_to(page.last_id)
        follow_up = await page.ask("chat.send", {"text": "go on", "settings": GREEDY})
        return reply, cancel, follow_up, page.events_of(page.last_id, "plan")[0]["plan"]

    def cancel_once(page, turn):
        page.host.on_pause = lambda: None
        page.send("cancel", {"target": turn})

    reply, cancel, follow_up, plan = converse(script)

    assert reply["value"]["finish_reason"] == "stopped"
    assert 0 < reply["value"]["generated_tokens"] < 100
    assert cancel["value"]["outcome"] == "stopping"
    assert follow_up["reused_tokens"] > 0
    assert "turn-1-assistant" in list_messages(plan)


def test_a_turn_stopped_before_its_first_token_leaves_no_trace():
    """An empty answer is no turn of the conversation."""

    async def script(page):
        await page.load("chat")
        turn = page.send("chat.send", {"text": "hello", "settings": GREEDY})
        await asyncio.sleep(0)
        page.send("cancel", {"target": turn})
        reply = await page.reply_to(turn)
        await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        return reply, page.events_of(page.last_id, "plan")[0]["plan"]

    reply, plan = converse(script, tick_ms=20.0)

    assert reply["value"]["finish_reason"] == "stopped"
    assert reply["value"]["text"] == ""
    assert list_messages(plan) == ["turn-1-user"]


def test_a_second_send_while_one_runs_is_busy():
    """One generation at a time; the running one is not disturbed."""

    async def script(page):
        await page.load("chat")
        first = page.send("chat.send", {"text": "hello", "settings": GREEDY})
        error = await page.ask_in_vain("chat.send", {"text": "me too"})
        return error, await page.reply_to(first), first

    error, reply, first = converse(script)

    assert error["code"] == "busy"
    assert error["details"]["running_id"] == first
    assert reply["ok"]


def test_a_reset_forgets_turns_and_cache():
    """The next prompt holds the message alone, and nothing is reused."""

    async def script(page):
        await page.load("chat")
        first = await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        reset = await page.ask("chat.reset")
        second = await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        return first, reset, second

    first, reset, second = converse(script)

    assert reset["turns_dropped"] == 1
    assert reset["cached_tokens_dropped"] >= first["prompt_tokens"]
    assert second["reused_tokens"] == 0
    assert second["output_ids"] == first["output_ids"]


def test_a_message_that_does_not_fit_changes_nothing():
    """Context overflow has numbers, and the conversation is as before."""

    async def script(page):
        await page.load("chat")
        await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        error = await page.ask_in_vain("chat.send", {"text": "word " * 200_000})
        await page.ask("chat.send", {"text": "again", "settings": GREEDY})
        return error, page.events_of(page.last_id, "plan")[0]["plan"]

    error, plan = converse(script)

    assert error["code"] == "context_overflow"
    assert error["details"]["needed"] > error["details"]["allowed"] > 0
    assert error["details"]["tier"] == 2
    ids = list_messages(plan)
    assert ids == ["turn-1-user", "turn-1-assistant", "turn-2-user"]


def test_the_16_token_fixture_answers_and_ends_at_its_context():
    """The smallest model: a short message, then as many tokens as there is room for."""

    async def script(page):
        await page.load("small")
        return await page.ask("chat.send", {"text": "abc", "settings": {"max_tokens": 64}})

    value = converse(script, files={"small": FIXTURE_16})

    assert value["finish_reason"] in {"end", "context"}
    assert value["prompt_tokens"] + value["generated_tokens"] <= 16


def test_the_same_seed_gives_the_same_ids_and_another_seed_others():
    """PCG64: sampling is reproducible."""
    settings = {"temperature": 2.0, "top_k": 200, "max_tokens": 16}

    async def script(page):
        await page.load("chat")
        ids = []
        for seed in (7, 7, 8):
            await page.ask("chat.reset")
            value = await page.ask(
                "chat.send", {"text": "hello", "settings": settings | {"seed": seed}}
            )
            ids.append(value["output_ids"])
        return ids

    first, again, other = converse(script)

    assert first == again != other


def test_a_blank_message_is_refused():
    """There is nothing to answer."""

    async def script(page):
        await page.load("chat")
        return await page.ask_in_vain("chat.send", {"text": " \n"})

    assert converse(script)["code"] == "invalid_text"
