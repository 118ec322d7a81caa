"""Loading and freeing as the page sees it, on a real tiny model."""

import asyncio

from kernels.byte_source import BytesSource
from kernels.slm_file import open_model
from tests.py_core.bridge.conversation import CHAT, GREEDY, converse, list_messages


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
    assert "turn-1-user" in list_messages(plan)
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

    reply, facts, closed = converse(script, tick_ms=50.0)

    assert reply["error"]["code"] == "cancelled"
    assert facts["state"] == "ready"
    assert facts["model"] is not None
    assert closed == ["chat", "second"]


def test_an_engine_that_is_not_there_is_replaced_with_a_notice():
    """The user is told, and the model runs."""

    async def script(page):
        facts = await page.load("chat", op_set="simd")
        return facts, page.events_of(page.last_id, "notice")

    facts, notices = converse(script)

    assert facts["op_set"] == "numpy"
    assert notices[0]["code"] == "op_set_fallback"


def test_freeing_the_model_closes_it_and_a_second_time_is_a_value():
    """Free twice: the second finds nothing."""

    async def script(page):
        await page.load("chat")
        return await page.ask("model.free"), await page.ask("model.free")

    first, second = converse(script)

    assert first["was_loaded"]
    assert not second["was_loaded"]


def test_a_plan_comes_before_the_load_and_leaves_the_file_open():
    """Parts in bytes, the heap before and after; the same handle can then be loaded."""

    async def script(page):
        plan = await page.ask("model.plan", page.load_payload("chat", kv_cache="int8"))
        return plan, page.host.closed[:], await page.load("chat")

    plan, closed, facts = converse(script)

    assert closed == []
    assert plan["op_set"] == facts["op_set"] == "numpy"
    assert plan["kv_cache"] == facts["kv_cache"] == "f32"
    assert plan["weight_bytes"] == 4 * facts["parameters"]
    assert plan["kv_bytes_total"] == facts["kv_bytes_total"]
    assert plan["heap_bytes"] < plan["heap_bytes_after"] <= plan["heap_bytes_full"]
    assert plan["fits"]


def test_a_model_over_the_limit_is_planned_as_unfit_and_refused_with_numbers():
    """The page can show by how much; the load takes nothing."""

    async def script(page):
        page.host.limit_bytes = page.host.heap_bytes() + 1_000
        plan = await page.ask("model.plan", page.load_payload("chat"))
        return plan, await page.ask_in_vain("model.load", page.load_payload("chat"))

    plan, error = converse(script)

    assert not plan["fits"]
    assert error["code"] == "model_too_large"
    assert error["details"]["allowed_bytes"] == 1_000 < error["details"]["needed_bytes"]


def test_loading_while_an_answer_is_under_way_is_busy_and_changes_nothing():
    """The answer is the one that comes without the request, and the old model stays."""

    async def undisturbed(page):
        await page.load("chat")
        return await page.ask("chat.send", {"text": "hello", "settings": GREEDY})

    async def disturbed(page):
        facts = await page.load("chat")
        turn = page.send("chat.send", {"text": "hello", "settings": GREEDY})
        error = await page.ask_in_vain("model.load", page.load_payload("other"))
        reply = await page.reply_to(turn)
        return error, reply["value"], facts, await page.ask("runtime.facts")

    expected = converse(undisturbed)
    error, found, facts, after = converse(disturbed, files={"other": CHAT}, tick_ms=20.0)

    assert error["code"] == "busy"
    assert found["output_ids"] == expected["output_ids"]
    assert after["model"]["sha256"] == facts["sha256"]
