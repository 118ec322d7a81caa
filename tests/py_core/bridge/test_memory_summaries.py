"""A conversation is summed up on demand, by rule or by the model, and shown before it is kept."""

from tests.py_core.bridge.memory_talk import Talk, hold


async def talk_of_otters(talk: Talk):
    """Say two things."""
    await talk.say("The staging server is called otter and stands in the blue room.")
    await talk.say("We water the north bed on Mondays.")


def test_a_rule_picks_sentences_of_the_conversation():
    """The draft names its turns; nothing is in the store before the user agrees."""

    async def script(talk: Talk):
        await talk_of_otters(talk)
        draft = await talk.page.ask("memory.summarise", {"mode": "rule"})
        before = await talk.page.ask("memory.list", {})
        await talk.change("keep_summary", draft_id=draft["draft_id"])
        shown = await talk.page.ask("memory.show", {"record_id": draft["draft_id"]})
        return draft, before, shown

    draft, before, shown = hold(script)
    lineage = draft["report"]["lineage"]
    assert "otter" in draft["report"]["kept"][0]["text"]
    assert lineage["summariser"] == "extractive"
    assert lineage["sources"][0].startswith("turn-1-user@")
    assert before["total"] == 0
    assert shown["nodes"][-1]["tier"] == 9
    assert shown["raw_turns"][-1]["text"] or shown["raw_turns"]
    texts = [turn["text"] for turn in shown["raw_turns"]]
    assert "We water the north bed on Mondays." in texts


def test_the_model_writes_one_when_asked_and_the_conversation_goes_on():
    """The lineage names the model; asking is no turn of the conversation."""

    async def script(talk: Talk):
        await talk_of_otters(talk)
        draft = await talk.page.ask("memory.summarise", {"mode": "model"})
        await talk.say("And now?")
        return draft, talk.plan

    draft, plan = hold(script)
    lineage = draft["report"]["lineage"]
    assert draft["report"]["kept"][0]["tier"] == 9
    assert "@" in lineage["summariser"]
    assert lineage["omissions"][0] == "a model chose what to leave out"
    assert 0 < lineage["confidence_ppm"] < 800_000
    assert plan["nodes"][-1]["record_id"].startswith("turn-3-user")


def test_a_reviewed_summary_rises_to_tier_8():
    """Confirming is reviewing."""

    async def script(talk: Talk):
        await talk_of_otters(talk)
        draft = await talk.page.ask("memory.summarise", {"mode": "rule"})
        await talk.change("keep_summary", draft_id=draft["draft_id"])
        return await talk.change("confirm", record_id=draft["draft_id"])

    assert hold(script)["kept"][0]["tier"] == 8


def test_what_was_taken_back_is_not_summed_up():
    """A retracted turn is read by no summariser."""

    async def script(talk: Talk):
        await talk_of_otters(talk)
        await talk.change("retract", target_id=talk.message_id(1))
        return await talk.page.ask("memory.summarise", {"mode": "rule"})

    text = hold(script)["report"]["kept"][0]["text"]
    assert "otter" not in text
    assert "Mondays" in text


def test_an_empty_conversation_is_not_summed_up():
    """Neither way."""

    async def script(talk: Talk):
        return [
            await talk.page.ask_in_vain("memory.summarise", {"mode": mode})
            for mode in ("rule", "model")
        ]

    assert [error["code"] for error in hold(script)] == ["change_refused"] * 2


def test_the_status_names_the_store_and_tells_a_loss():
    """The sentence says what to do; an accepted loss is told no more."""

    async def script(talk: Talk):
        await talk.remember("The staging server is called otter.")
        status = await talk.page.ask("memory.status", {})
        lost = await talk.page.ask(
            "memory.status", {"known_id": "0123456789abcdef", "known_revision": 1}
        )
        accepted = await talk.page.ask("memory.status", {"known_id": "x", "is_accepted": True})
        return status, lost, accepted

    status, lost, accepted = hold(script)
    assert (status["loss"], accepted["loss"]) == ("", "")
    assert status["ledger_id"] == accepted["ledger_id"] != ""
    assert lost["loss"] == "replaced"
    assert "Import an export" in lost["warning"]
