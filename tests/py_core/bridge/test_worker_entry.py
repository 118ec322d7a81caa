"""The border as the page sees it: JSON text in, events and one reply out, on a real tiny model."""

import asyncio
import json

import pytest

from kernels.byte_source import BytesSource
from kernels.slm_file import open_model
from py_core.bridge.messages import REQUEST_KINDS
from py_core.bridge.worker_entry import start
from tests.py_core.fake_host import FakeHost, FakePage
from tests.py_core.model_files import FIXTURE_16, make_chat_model

CHAT = make_chat_model()
GREEDY = {"max_tokens": 12}


def converse(script, *, files=None, tick_ms=1.0):
    """Run one conversation of a page with a fresh worker."""

    async def run():
        host = FakeHost({"chat": CHAT, "second": CHAT} | (files or {}), tick_ms=tick_ms)
        return await script(FakePage(host, start(host)))

    return asyncio.run(run())


def test_the_facts_of_a_model_are_those_of_its_header():
    """Context, limits and key/value bytes come from the file, never from a guess."""

    async def script(page):
        return await page.load("chat")

    facts = converse(script)

    file = open_model(BytesSource(CHAT))
    assert facts["context_tokens"] == file.config.max_context
    assert facts["prompt_limit_tokens"] == file.config.max_context - 1
    assert facts["kv_bytes_total"] == file.config.max_context * file.config.kv_bytes_per_token
    assert facts["kv_bytes_used"] == 0
    assert facts["parameters"] == file.parameters
    assert facts["file_bytes"] == len(CHAT)
    assert facts["checksum"] == file.checksum
    assert facts["op_set"] == "numpy"


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

    assert [node["node_id"] for node in plan["nodes"]].count("turn-1-user") == 1
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
    assert "turn-1-assistant" in [node["node_id"] for node in plan["nodes"]]


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
    assert "turn-1-user" not in [node["node_id"] for node in plan["nodes"]]


def test_cancelling_what_does_not_run_is_a_value():
    """Unknown or finished targets are no errors."""

    async def script(page):
        return await page.ask("cancel", {"target": 99})

    assert converse(script) == {"target": 99, "outcome": "not_running"}


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


def test_sending_without_a_model_says_so():
    """The sentence says what to do."""

    async def script(page):
        return await page.ask_in_vain("chat.send", {"text": "hello"})

    error = converse(script)

    assert error["code"] == "model_not_loaded"
    assert "load a model" in error["message"]


def test_sending_while_the_first_model_loads_says_to_wait():
    """The load goes on."""

    async def script(page):
        load = page.send("model.load", page.load_payload("chat"))
        error = await page.ask_in_vain("chat.send", {"text": "hello"})
        return error, await page.reply_to(load)

    error, load = converse(script, tick_ms=20.0)

    assert error["code"] == "model_not_loaded"
    assert error["details"]["state"] == "still_loading"
    assert load["ok"]


def test_a_bad_file_is_refused_by_field_and_offset_and_the_chat_goes_on():
    """A failed load keeps the old model and the conversation."""
    broken = b"GGUF" + CHAT[4:]

    async def script(page):
        await page.load("chat")
        await page.ask("chat.send", {"text": "hello", "settings": GREEDY})
        error = await page.ask_in_vain("model.load", page.load_payload("broken"))
        await page.ask("chat.send", {"text": "again", "settings": GREEDY})
        return error, page.events_of(page.last_id, "plan")[0]["plan"], page.host.closed

    error, plan, closed = converse(script, files={"broken": broken})

    assert error["code"] == "model_file"
    assert error["details"]["number"] == 4
    assert error["details"]["offset"] == 0
    assert "turn-1-user" in [node["node_id"] for node in plan["nodes"]]
    assert closed == ["chat", "broken"]


def test_a_stopped_load_leaves_the_old_model():
    """The reply is the error `cancelled`; facts still tell of the old model."""

    async def script(page):
        await page.load("chat")
        load = page.send("model.load", page.load_payload("second", name="second"))
        await asyncio.sleep(0)
        page.send("cancel", {"target": load})
        reply = await page.reply_to(load)
        facts = await page.ask("runtime.facts")
        return reply, facts, page.host.closed

    reply, facts, closed = converse(script, tick_ms=20.0)

    assert reply["error"]["code"] == "cancelled"
    assert facts["state"] == "ready"
    assert facts["model"] is not None
    assert closed == ["chat", "second"]


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
    assert [node["node_id"] for node in plan["nodes"]].count("turn-2-user") == 0


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


def test_an_engine_that_is_not_there_is_replaced_with_a_notice():
    """The user is told, and the model runs."""

    async def script(page):
        facts = await page.load("chat", op_set="simd")
        return facts, page.events_of(page.last_id, "notice")

    facts, notices = converse(script)

    assert facts["op_set"] == "numpy"
    assert notices[0]["code"] == "op_set_fallback"


def test_a_blank_message_is_refused():
    """There is nothing to answer."""

    async def script(page):
        await page.load("chat")
        return await page.ask_in_vain("chat.send", {"text": " \n"})

    assert converse(script)["code"] == "invalid_text"


def test_freeing_the_model_closes_it_and_a_second_time_is_a_value():
    """Free twice: the second finds nothing."""

    async def script(page):
        await page.load("chat")
        return await page.ask("model.free"), await page.ask("model.free")

    first, second = converse(script)

    assert first["was_loaded"]
    assert not second["was_loaded"]


def test_what_is_not_our_error_becomes_internal_without_its_text(capsys):
    """No text of a record leaves through an unexpected error, nor through the log."""

    class BrokenHost(FakeHost):
        def model_size(self, handle):
            raise RuntimeError(handle)

    async def run():
        host = BrokenHost({"chat": CHAT})
        page = FakePage(host, start(host))
        payload = page.load_payload("chat") | {"handle": "the user wrote: secret"}
        return await page.ask_in_vain("model.load", payload)

    error = asyncio.run(run())

    assert error["code"] == "internal"
    assert "secret" not in json.dumps(error)
    assert "secret" not in capsys.readouterr().err


def test_an_id_that_is_still_running_is_refused():
    """The page counts its ids up."""

    async def script(page):
        load = page.send("model.load", page.load_payload("chat"))
        page._last_id -= 1
        page.send("runtime.facts")
        return page.messages_of(load)[0]

    assert converse(script)["error"]["code"] == "bad_message"


@pytest.mark.parametrize("kind", sorted(REQUEST_KINDS))
def test_every_kind_is_answered_under_its_id(kind):
    """Silence is a bug, whatever the payload is."""

    async def script(page):
        return await page.reply_to(page.send(kind, {"nonsense": 1}))

    assert converse(script)["error"]["code"] == "bad_message"
