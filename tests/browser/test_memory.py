"""Consent, deletion, repair and two tabs, on the real page with the real database."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from py_core.memory.exchange import export_lines
from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import ChatPage
from tests.browser.memory_page import MemoryPage
from tests.py_core.memory.heads import make_said, make_snapshot, make_summary

pytestmark = pytest.mark.browser

LOCAL = {"tenant_binding": "local"}


@pytest.fixture
def memory(chat: ChatPage) -> MemoryPage:
    """Open the memory of a fresh page."""
    return MemoryPage(chat.page)


def test_nothing_is_kept_before_the_user_agrees(chat: ChatPage, memory: MemoryPage):
    """The preview shows words and tier; declined it leaves no trace, agreed it stays."""
    proposal = memory.propose("I live in Lisbon")
    expect(proposal).to_contain_text("I live in Lisbon (tier 6)")
    assert "Lisbon" not in memory.read_database()
    memory.button("Leave it").click()
    assert "Lisbon" not in memory.read_database()

    memory.remember("I live in Lisbon")
    chat.reload()
    again = MemoryPage(chat.page)
    expect(again.row("I live in Lisbon")).to_contain_text("tier 6")
    assert chat.errors == []


def test_a_secret_is_taken_out_before_anything_is_stored(memory: MemoryPage):
    """The preview says what it was; the database never holds it."""
    proposal = memory.propose("the router password is swordfish99")
    expect(proposal).to_contain_text("a password")
    memory.agree()
    raw = memory.read_database()
    assert "swordfish99" not in raw
    assert "[removed: a password]" in raw


def test_a_deleted_text_is_gone_from_the_raw_database(memory: MemoryPage):
    """The mark stays, no byte of the text does; deleting everything leaves no row."""
    memory.remember("I keep bees behind the shed")
    memory.remember("The staging server is called otter")
    memory.row("bees").get_by_role("button", name="Delete", exact=True).click()
    expect(memory.proposal()).to_contain_text("1 record,")
    memory.agree()
    expect(memory.row("Deleted; the text is gone")).to_be_visible()

    raw = memory.read_database()
    assert "bees" not in raw
    assert "otter" in raw
    memory.root.locator("[data-part=files] > summary").click()
    memory.button("Delete everything").click()
    memory.button("Yes, delete everything").click()
    expect(memory.root.get_by_text("0 records", exact=True)).to_be_visible()
    assert re.sub(r'"ledger_state":\[[^]]*\]', "", memory.read_database()).count("{") == 1


def test_the_cone_is_shown_before_a_deletion_and_rebuilt_after_it(
    memory: MemoryPage, tmp_path: Path
):
    """The summary made of the deleted record is named; it comes back without those words."""
    snapshot = make_snapshot(
        make_said("mem-a", "We keep bees behind the shed.", **LOCAL),
        make_said("mem-b", "The south bed has basil.", **LOCAL),
        make_summary(
            "sum-a", "We keep bees behind the shed. The south bed has basil.",
            ["mem-a", "mem-b"], **LOCAL,
        ),
    )  # fmt: skip
    file = tmp_path / "memory.jsonl"
    file.write_text(export_lines(snapshot.heads, snapshot.records), encoding="utf-8")
    assert memory.import_file(file).startswith("3 taken over")

    row = memory.row("We keep bees").filter(has_text="Fact")
    row.get_by_role("button", name="Delete", exact=True).click()
    proposal = memory.proposal()
    expect(proposal).to_contain_text("is made of it; will be made again from what is left")
    memory.agree()
    summary = memory.row("Summary").filter(has_text="active")
    expect(summary).to_contain_text("The south bed has basil.")
    assert "bees" not in memory.read_database()


def test_two_tabs_agree_whoever_comes_first(
    context: BrowserContext, chat: ChatPage, memory: MemoryPage, server: RunningServer
):
    """A change shows in the other tab, and a change to what is gone is refused there."""
    memory.remember("I live in Lisbon")
    other = MemoryPage(ChatPage.open(context, server.address).page)
    row = other.row("I live in Lisbon")
    row.get_by_role("button", name="Correct", exact=True).click()
    row.get_by_role("textbox", name="New words").fill("I live in Porto")
    row.get_by_role("button", name="Preview the correction").click()
    other.proposal()

    memory.row("Lisbon").get_by_role("button", name="Delete", exact=True).click()
    memory.proposal()
    memory.agree()
    expect(other.row("Deleted; the text is gone")).to_be_visible()
    other.button("Do it").click()
    expect(other.root.get_by_role("alert")).to_contain_text("is not in the memory any more")
    raw = memory.read_database()
    assert "Lisbon" not in raw
    assert "Porto" not in raw
    assert chat.errors == []


def test_a_message_can_be_kept_and_a_wish_is_understood(chat: ChatPage):
    """The command opens the proposal; a remark about oneself waits as a suggestion."""
    chat.load_model("Grouped f32")
    chat.set_number("Max tokens", 4)
    chat.write("Remember that I prefer tea")
    proposal = chat.page.get_by_role("region", name="Proposed change")
    expect(proposal).to_contain_text("I prefer tea")
    chat.button("Do it").click()
    expect(chat.page.locator("[data-part=rows] > li")).to_contain_text("I prefer tea")
    chat.button("Close").click()
    chat.wait_for_answer(0)

    chat.send("By the way, I live in Lisbon.")
    expect(chat.page.get_by_text("One suggestion waits in the memory")).to_be_visible()
    memory = MemoryPage(chat.page)
    row = memory.row("home: Lisbon")
    expect(row).to_contain_text("in no tier")
    row.get_by_role("button", name="Confirm", exact=True).click()
    memory.proposal()
    memory.agree()
    expect(memory.row("home: Lisbon").filter(has_text="active")).to_contain_text("tier 6")


def test_a_store_that_was_emptied_from_outside_is_said_in_full_screen(memory: MemoryPage):
    """No silent loss: the page covers itself with a warning."""
    memory.remember("I live in Lisbon")
    memory.page.evaluate(
        """() => new Promise((resolve) => {
            const request = indexedDB.deleteDatabase('tinyloom');
            request.onsuccess = resolve;
        })"""
    )
    memory.root.get_by_role("searchbox", name="Search memory").fill("Lisbon")
    warning = memory.page.get_by_role("alertdialog", name="The memory is gone")
    expect(warning).to_contain_text("emptied from outside")
