"""Memories and questions of unusual size, script and time: the turn stays a turn."""

import pytest

from py_core.records.fields import LARGEST_TEXT_CHARS
from tests.py_core.bridge.memory_talk import Talk, hold


def test_an_empty_memory_is_an_empty_block():
    """Nothing to find is no failure."""

    async def script(talk: Talk):
        await talk.say("Which staging server did I mention last week?")
        return talk

    talk = hold(script)
    assert talk.lane("local")["status"] == "empty"
    assert talk.plan["memory_status"] == "empty"
    assert talk.events("notice") == []


def test_a_memory_as_long_as_a_record_may_be_enters_cut():
    """Found by its beginning, shown within the limit of a row, and marked as cut."""

    async def script(talk: Talk):
        text = ("The harbour master keeps the log. " * 10_000)[:LARGEST_TEXT_CHARS]
        kept = await talk.remember(text)
        await talk.say("Who keeps the log of the harbour?")
        return talk, kept

    talk, kept = hold(script)
    node = talk.node(kept)
    assert node["level"] in ("summary", "fragment")
    assert node["token_cost"] < talk.plan["allowance"]["memory_budget_tokens"]


def test_a_text_of_a_megabyte_is_refused_by_the_border():
    """With the field and what it may be."""

    async def script(talk: Talk):
        change = {"action": "remember", "text": "x" * 1_000_000}
        return await talk.page.ask_in_vain("memory.apply", {"change": change})

    error = hold(script)
    assert error["code"] == "bad_message"
    assert error["details"]["field"].endswith("text")


HEBREW = "\u05d4\u05e9\u05e8\u05ea"
TOKYO_SERVER = "\u6771\u4eac\u306e\u30b5\u30fc\u30d0\u30fc\u306f"
TALKS = {
    "hebrew": (f"{HEBREW} \u05dc\u05d5\u05d8\u05e8\u05d4", f"\u05de\u05d4 {HEBREW}?"),
    "japanese": (f"{TOKYO_SERVER}\u30ab\u30ef\u30a6\u30bd", f"{TOKYO_SERVER}?"),
    "german": ("Der Prüfserver heißt Otter", "Wie heißt der Prüfserver?"),
}


@pytest.mark.parametrize(("memory", "question"), TALKS.values(), ids=TALKS)
def test_a_memory_in_any_script_is_found_by_a_question_in_it(memory, question):
    """Right to left, without spaces, with umlauts."""

    async def script(talk: Talk):
        kept = await talk.remember(memory)
        await talk.say(question)
        return talk, kept

    talk, kept = hold(script)
    assert memory in talk.node(kept)["text"]


def test_a_question_of_stop_words_only_finds_nothing():
    """And says so."""

    async def script(talk: Talk):
        await talk.remember("The staging server is called otter.")
        await talk.say("what is it and why?")
        return talk

    talk = hold(script)
    assert talk.retrieval["intent"]["terms"] == []
    assert talk.plan["memory_status"] == "empty"


def test_a_clock_before_the_records_hides_none_of_them():
    """A record from the future counts as new; no age is negative."""

    async def script(talk: Talk):
        kept = await talk.remember("The staging server is called otter.")
        talk.host.time_of_day = "2001-01-01T00:00:00.000Z"
        await talk.say("What is the staging server called?")
        return talk, kept

    talk, kept = hold(script)
    assert talk.node(kept) is not None
    recency = next(p for p in talk.candidate(kept)["parts"] if p["name"] == "recency")
    assert recency["value_ppm"] == 1_000_000


def test_equal_memories_are_shown_once():
    """One stands for all; the plan names them."""

    async def script(talk: Talk):
        for subject in ("a", "b", "c"):
            await talk.remember("The staging server is called otter.", subject=subject)
        await talk.say("What is the staging server called?")
        return talk

    talk = hold(script)
    shown = [node for node in talk.plan["nodes"] if node["tier"] == 7]
    assert len(shown) == 1
