"""Rows of a system text outlive a visit, and a pair can be sent anew, as the page sees it."""

import asyncio
import json

import pytest

from py_core.bridge.worker_entry import start
from tests.py_core.bridge.conversation import CHAT, converse
from tests.py_core.bridge.memory_talk import Talk, hold
from tests.py_core.fake_host import FakeHost, FakePage
from tests.py_core.model_files import make_model

SETTINGS = {"max_tokens": 12}
ASK = {"text": "hello", "system": "Answer as a weaver would.", "settings": SETTINGS}
OTHER_SYSTEM = ASK | {"system": "Answer as a sailor would."}


def visit(host, *asks, model=CHAT):
    """Open the page anew on what an earlier visit left, and send messages."""

    async def run():
        host.posted.clear()
        page = FakePage(host, start(host))
        host.files["chat"] = model
        await page.load("chat")
        return [await page.ask("chat.send", ask) for ask in asks]

    return asyncio.run(run())


def header_of(data):
    """Read the header of saved bytes."""
    size = int.from_bytes(data[8:12], "little")
    return json.loads(data[12 : 12 + size])


def test_a_second_visit_restores_the_system_text_and_answers_the_same():
    """The tokens come back instead of being read; the answer is that of a first visit."""
    host = FakeHost()
    first, again = visit(host, ASK, ASK)
    (second,) = visit(host, ASK | {"text": "other"})
    (expected,) = visit(FakeHost(), ASK | {"text": "other"})
    assert first["reuse"]["restored_tokens"] == again["reuse"]["restored_tokens"] == 0
    restored = second["reuse"]["restored_tokens"]
    assert restored == second["reused_tokens"] == len(header_of(*host.prefixes.values())["ids"])
    assert restored > len(ASK["system"])
    assert second["output_ids"] == expected["output_ids"]


def test_only_the_first_turn_of_a_visit_restores():
    """Later turns find the rows in the cache, and a reset reads them again."""
    host = FakeHost()
    visit(host, ASK)

    async def script():
        host.posted.clear()
        page = FakePage(host, start(host))
        host.files["chat"] = CHAT
        await page.load("chat")
        turns = [await page.ask("chat.send", ASK), await page.ask("chat.send", ASK)]
        await page.ask("chat.reset")
        return [*turns, await page.ask("chat.send", ASK)]

    restored = [turn["reuse"]["restored_tokens"] for turn in asyncio.run(script())]
    assert restored[0] > 0
    assert restored[1:] == [0, 0]


def test_what_a_user_says_is_not_saved():
    """Two conversations under one system text leave equal bytes, with the system's ids only."""
    hosts = [FakeHost(), FakeHost()]
    visit(hosts[0], ASK | {"text": "my secret is 1234"})
    visit(hosts[1], ASK | {"text": "nothing"}, ASK)
    assert list(hosts[0].prefixes.items()) == list(hosts[1].prefixes.items())
    (data,) = hosts[0].prefixes.values()
    text = bytes(token for token in header_of(data)["ids"] if token < 256).decode()
    assert text == f"system\n{ASK['system']}\n"


def test_each_system_text_is_saved_under_its_own_key_and_belongs_to_the_model():
    """Another text never finds these rows; removing the model finds them all."""
    host = FakeHost()
    visit(host, ASK)
    visit(host, OTHER_SYSTEM)
    assert len(host.prefixes) == 2
    assert len(set(host.prefix_owners.values())) == 1
    (other,) = visit(host, ASK, model=make_model(seed=6))
    assert other["reuse"]["restored_tokens"] == 0
    assert len(host.prefixes) == 3


@pytest.mark.parametrize("damage", ["damaged", "foreign", "unreadable"])
def test_stored_bytes_that_do_not_fit_are_thrown_away_and_made_anew(damage):
    """The turn goes on as if there were none, says why, and leaves good bytes behind."""
    host = FakeHost()
    (first,) = visit(host, ASK)
    ((key, good),) = host.prefixes.items()
    visit(host, OTHER_SYSTEM)
    foreign = next(data for name, data in host.prefixes.items() if name != key)
    broken = bytearray(good)
    broken[len(good) // 2] ^= 1
    host.prefixes[key] = {
        "damaged": bytes(broken),
        "foreign": foreign,
        "unreadable": b"",
    }[damage]
    (second,) = visit(host, ASK)
    assert second["reuse"]["prefix_discarded"] == damage
    assert second["reuse"]["restored_tokens"] == second["reused_tokens"] == 0
    assert second["output_ids"] == first["output_ids"]
    assert host.prefixes[key] == good
    (third,) = visit(host, ASK)
    assert third["reuse"]["restored_tokens"] > 0


def test_a_browser_that_keeps_nothing_costs_time_and_nothing_else():
    """Refused storage is no error of a turn."""
    host = FakeHost()
    host.refuses_prefixes = True
    for _ in range(2):
        (turn,) = visit(host, ASK)
        assert turn["reuse"]["restored_tokens"] == 0
        assert turn["reuse"]["prefix_discarded"] == ""


def test_a_pair_that_is_sent_again_processes_one_token_and_counts_once():
    """Regenerate: the same prompt, the same answer, no second pair in the conversation."""

    async def script(page):
        await page.load("chat")
        first = await page.ask("chat.send", ASK)
        again = await page.ask("chat.send", ASK | {"replaces_last": True})
        reset = await page.ask("chat.reset")
        return first, again, reset

    first, again, reset = converse(script)
    assert again["prompt_tokens"] - again["reused_tokens"] == 1
    assert again["prompt_tokens"] == first["prompt_tokens"]
    assert again["output_ids"] == first["output_ids"]
    assert reset["turns_dropped"] == 1


def test_a_pair_that_is_sent_again_is_given_the_same_memory():
    """What was shown for the pair that goes does not count as shown, however often it is redone."""

    async def script(talk: Talk):
        kept, seen = await talk.remember("The staging server is called otter."), []
        for is_again in (False, True, True):
            value = await talk.say("Which staging server did I mention?", replaces_last=is_again)
            processed = value["prompt_tokens"] - value["reused_tokens"]
            seen.append((processed, talk.prompt, talk.candidate(kept)["score"]))
        return seen

    first, *others = hold(script)
    assert "otter" in first[1]
    assert others == [(1, *first[1:])] * 2


def test_an_edited_message_takes_the_place_of_the_last_pair():
    """Everything before the edit is reused; the old wording is gone from the prompt."""

    async def script(page):
        await page.load("chat")
        await page.ask("chat.send", ASK)
        edited = ASK | {"text": "help me", "replaces_last": True}
        value = await page.ask("chat.send", edited)
        return value, page.events_of(page.last_id, "plan")[0]["plan"]

    value, plan = converse(script)
    assert [node["text"] for node in plan["nodes"]][-1] == "help me"
    assert len(plan["nodes"]) == 2
    # "help me" begins as "hello" does: only what differs is processed.
    assert value["prompt_tokens"] - value["reused_tokens"] < len("help me<end>\n<start>assistant\n")


def test_a_replacement_that_fails_leaves_the_pair_where_it_was():
    """An edit that does not fit changes nothing."""

    async def script(page):
        await page.load("chat")
        await page.ask("chat.send", ASK)
        too_long = ASK | {"text": "x" * 5_000, "replaces_last": True}
        error = await page.ask_in_vain("chat.send", too_long)
        return error, await page.ask("chat.reset")

    error, reset = converse(script)
    assert error["code"] == "context_overflow"
    assert reset["turns_dropped"] == 1


def test_the_wish_for_moved_rows_and_its_drift_cross_the_border():
    """A conversation that outgrows its context reports moved tokens and the drift."""
    wish = {"kv_reuse": "splice_approximate", "kv_check": True}
    texts = [f"question {number} on looms and threads" for number in range(1, 8)]

    async def script(page):
        await page.load("chat")
        return [
            await page.ask("chat.send", {"text": text, "settings": {"max_tokens": 1}} | wish)
            for text in texts
        ]

    turns = [turn["reuse"] for turn in converse(script)]
    moved = [turn for turn in turns if turn["spliced_tokens"]]
    assert moved
    assert all(turn["drift"]["logit_difference"] > 0 for turn in moved)
    assert all(turn["drift"] is None for turn in turns if not turn["spliced_tokens"])
