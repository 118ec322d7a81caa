"""The start-up files of a complete package are session state, found like memory."""

import asyncio

from py_core.store.edits import WORD_INDEX
from py_core.store.ports import Area
from tests.py_core.bridge.memory_talk import Talk, hold, visit
from tests.py_core.fake_host import FakeHost
from tests.py_core.memory.test_startup import write_package


async def write_files(talk: Talk, *, leave_out: int = 0) -> None:
    """Write the package through the page's own request."""
    for path, text in list(write_package().items())[leave_out:]:
        await talk.page.ask("memory.startup", {"write": {"path": path, "text": text}})


def test_a_complete_package_is_asked_and_its_files_are_session_state():
    """Tier 5, by their own lane, with the file as their source."""

    async def script(talk: Talk):
        await write_files(talk)
        await talk.say("What does progress say about the active blockers?")
        return talk

    talk = hold(script)
    assert talk.lane("session") == {
        **talk.lane("session"),
        "status": "answered",
        "candidates": 12,
    }
    found = [row for row in talk.retrieval["candidates"] if row["kind"] == "SessionFact"]
    assert found
    assert found[0]["lane"] == "status"
    inside = [node for node in talk.plan["nodes"] if node["kind"] == "SessionFact"]
    assert inside
    assert {node["tier"] for node in inside} == {5}


def test_a_package_with_a_hole_is_shown_elsewhere_and_not_used():
    """Partial start-up memory is no memory."""

    async def script(talk: Talk):
        await write_files(talk, leave_out=1)
        await talk.say("What does progress say about the active blockers?")
        return talk

    talk = hold(script)
    assert talk.lane("session")["status"] == "empty"
    assert talk.plan["memory_status"] == "empty"


def test_files_leave_the_index_with_the_turn():
    """Only what the ledger keeps is written into the index of words."""

    async def script():
        host = FakeHost()
        talk = await visit(host)
        await write_files(talk)
        for number in range(40):
            await talk.remember(f"Ticket {number} is about the colour of door {number}.")
        await talk.say("What does progress say about the active blockers?")
        await talk.settle()
        kept = (await host.database.read(Area.SEARCH, [WORD_INDEX]))[WORD_INDEX]
        return kept, talk

    kept, talk = asyncio.run(script())
    assert "door" in kept
    assert "blocker" not in kept
    assert talk.retrieval["indexed"] == 40
