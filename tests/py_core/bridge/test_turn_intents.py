"""What a message says about memory, and what the rules make of it."""

from tests.py_core.bridge.memory_talk import Talk, hold

TODAY = "2026-07-10T12:00:00.000Z"


def test_no_memory_for_one_turn():
    """No lane is asked, the command itself is not shown to the model."""

    async def script(talk: Talk):
        await talk.remember("The staging server is called otter.")
        await talk.say("/no-memory What is the staging server called?")
        return talk

    talk = hold(script)
    assert talk.plan["memory_status"] == "off"
    assert talk.lane("local")["status"] == "off"
    assert "otter" not in talk.prompt
    assert "/no-memory" not in talk.prompt
    assert talk.retrieval["intent"]["reason"] == "user_command"


def test_arithmetic_asks_no_lane():
    """A task that brings all it needs."""

    async def script(talk: Talk):
        await talk.remember("12 people came to the party.")
        await talk.say("What is 12 * 12?")
        return talk

    talk = hold(script)
    assert talk.plan["memory_status"] == "not_needed"
    assert talk.lane("local")["status"] == "not_needed"


def test_a_pinned_record_goes_first_whatever_it_says():
    """By command, with its id."""

    async def script(talk: Talk):
        rule = await talk.remember("Always sign with the full company address.")
        await talk.remember("The customer is greeted with a joke.")
        await talk.say(f"/pin {rule} How shall I greet the customer?")
        return talk, rule

    talk, rule = hold(script)
    assert talk.retrieval["candidates"][0]["record_id"] == rule
    assert talk.node(rule) is not None
    assert talk.retrieval["intent"]["pins"] == [rule]


def test_running_state_only():
    """Durable facts lie on the other shelf."""

    async def script(talk: Talk):
        kept = await talk.remember("The staging server is called otter.")
        await talk.say("/status-only What is the staging server called?")
        return talk, kept

    talk, kept = hold(script)
    assert talk.lane("handoff")["status"] == "off"
    assert talk.candidate(kept) is None
    assert "otter" not in talk.prompt


def test_a_corrected_intent_counts_for_its_turn_alone():
    """The user's words beat the rules; the next turn is understood anew."""

    async def script(talk: Talk):
        kept = await talk.remember("The staging server is called otter.")
        text = "Which name has the machine?"
        await talk.say(text)
        without = talk.node(kept)
        await talk.say(text, intent={"add_terms": ["staging server"], "remove_terms": ["machine"]})
        terms = talk.retrieval["intent"]["terms"]
        with_words = talk.node(kept)
        await talk.say("And the staging server?", intent={"need": "off"})
        return without, with_words, terms, talk.plan["memory_status"], talk.retrieval["intent"]

    without, with_words, terms, status, intent = hold(script)
    assert without is None
    assert with_words is not None
    assert "machin" not in terms
    assert {"stage", "server"} <= set(terms)
    assert status == "off"
    assert intent["reason"] == "user_correction"


def test_a_preview_says_what_the_message_will_look_for():
    """The same rules, nothing sent; a correction is previewed too."""

    async def script(talk: Talk):
        await talk.say("We talk about Project Atlas.")
        text = "What did we decide before the release of it?"
        ask = {"text": text, "system": "", "intent": None}
        preview = await talk.page.ask("intent.preview", ask)
        corrected = await talk.page.ask(
            "intent.preview", {**ask, "intent": {"task": "code", "project": "atlas"}}
        )
        await talk.say(text)
        return preview, corrected, talk.retrieval["intent"]

    preview, corrected, intent = hold(script)
    assert preview == intent
    assert preview["resolutions"] == [{"expression": "it", "meaning": "Project Atlas"}]
    assert (corrected["task"], corrected["project"]) == ("code", "atlas")


def test_an_event_that_a_record_dates_bounds_the_time():
    """A question about what was before the release looks up when that was."""

    async def script(talk: Talk):
        talk.host.time_of_day = "2026-05-02T09:00:00.000Z"
        early = await talk.remember("The customer said that exports are slow.")
        talk.host.time_of_day = "2026-06-20T09:00:00.000Z"
        late = await talk.remember("The customer said that imports are slow.")
        await talk.remember("The release was on 12 May 2026.")
        talk.host.time_of_day = TODAY
        await talk.say("What did the customer say before the release?")
        return talk, early, late

    talk, early, late = hold(script)
    meanings = [found["meaning"] for found in talk.retrieval["intent"]["resolutions"]]
    assert meanings[0].startswith("before 2026-05-12 (")
    assert talk.candidate(early)["relevance"]["time_ppm"] > 0
    assert talk.candidate(late)["relevance"]["time_ppm"] == 0
    order = [row["record_id"] for row in talk.retrieval["candidates"]]
    assert order.index(early) < order.index(late)


def test_a_statement_overrides_the_profile_for_the_turn_and_offers_the_update():
    """The page is told which memory to correct, and by which words."""

    async def script(talk: Talk):
        old = await talk.remember("My favourite colour is blue.")
        await talk.say("My favourite colour is green. Which paint shall I buy?")
        reason, offers = talk.reason(old), talk.events("memory")
        offer = next(data for data in offers if data["command"] == "correct")
        await talk.change("correct", record_id=offer["record_id"], text=offer["text"])
        await talk.page.ask("chat.reset")
        await talk.say("What is my favourite colour?")
        return talk, old, reason, offer

    talk, old, reason, offer = hold(script)
    assert reason == "overridden_by_instruction"
    assert offer["record_id"] == old
    assert offer["text"] == "My favourite colour is green."
    assert "green" in talk.prompt
    assert "blue" not in talk.prompt


def test_a_remark_about_a_thing_does_not_hide_what_is_known_of_it():
    """Only traits of the user stand against a memory."""

    async def script(talk: Talk):
        kept = await talk.remember("My dog is called Pixel.")
        await talk.say("My dog is ill. What is my dog called?")
        return talk.node(kept)

    assert hold(script) is not None
