"""Losses, visits, rebuilding, summaries, start-up files and a full disk, on the real page."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from py_core.memory.exchange import export_lines
from py_core.serving.static_server import RunningServer
from py_core.store.heads import Standing
from tests.browser.chat_page import ChatPage
from tests.browser.memory_page import MemoryPage, run_in_page
from tests.py_core.memory.heads import make_said, make_snapshot, make_summary
from tests.py_core.memory.test_startup import write_package

pytestmark = pytest.mark.browser

LOCAL = {"tenant_binding": "local"}
LOST = "The memory is gone"
DROP_DATABASE = """() => new Promise((resolve) => {
  const request = indexedDB.deleteDatabase('tinyloom');
  request.onsuccess = resolve;
})"""
ROOM_IS_KNOWN_MS = 31_000
"""Chromium asks its quota again only when it has not done so for half a minute."""

# The browser compresses what it stores, so only a text without any pattern is large.
COMMIT_LARGE = """async (port, blocks) => {
  const bytes = () => crypto.getRandomValues(new Uint8Array(65_536));
  const text = Array.from({ length: blocks }, () => String.fromCharCode(...bytes())).join('');
  const { revision } = JSON.parse(await port.ledger_changes('heads', 0));
  const rows = ['heads', 'records'].map((area) => [area, 'large', text]);
  const answer = JSON.parse(await port.ledger_commit(revision, JSON.stringify(rows)));
  const after = JSON.parse(await port.ledger_changes('heads', 0));
  return { answer, before: revision, after: after.revision, keys: after.rows.map(([key]) => key) };
}"""


@pytest.fixture
def memory(chat: ChatPage) -> MemoryPage:
    """Open the memory of a fresh page."""
    return MemoryPage(chat.page)


def write_export(path: Path, *, withdrawn: bool = False) -> Path:
    """Write an export of two notes and a summary of both."""
    snapshot = make_snapshot(
        make_said("mem-a", "We keep bees behind the shed.", **LOCAL),
        make_said("mem-b", "The south bed has basil.", **LOCAL),
        make_summary("sum-a", "The south bed has basil and figs.", ["mem-b", "gone"], **LOCAL),
    )
    if withdrawn:
        head = snapshot.heads["sum-a"]
        snapshot.heads.put(head.stand(Standing.WITHDRAWN, ("gone",)))
    path.write_text(export_lines(snapshot.heads, snapshot.records), encoding="utf-8")
    return path


def open_bare(context: BrowserContext, server: RunningServer) -> Page:
    """Open a page of the site's origin on which nothing runs."""
    page = context.new_page()
    page.goto(f"{server.address}assets.json")
    return page


def test_a_store_lost_while_nobody_looked_is_said_and_can_be_refilled(
    context: BrowserContext,
    chat: ChatPage,
    memory: MemoryPage,
    server: RunningServer,
    tmp_path: Path,
):
    """The warning covers the page, names the way out, and does not come again once answered."""
    memory.remember("I live in Lisbon")
    chat.page.close()
    bare = open_bare(context, server)
    bare.evaluate(DROP_DATABASE)
    bare.close()

    again = ChatPage.open(context, server.address)
    warning = again.page.get_by_role("alertdialog", name=LOST)
    expect(warning).to_contain_text("no longer holds the memory")
    warning.get_by_label("Import an export").set_input_files(write_export(tmp_path / "m.jsonl"))
    expect(warning).to_be_hidden()
    expect(again.page.locator("ul[data-part=rows]")).to_contain_text("The south bed has basil.")
    again.reload()
    expect(MemoryPage(again.page).row("bees")).to_be_visible()
    expect(warning).to_be_hidden()


def test_a_store_that_the_browser_clears_is_noticed_without_a_click(
    context: BrowserContext, chat: ChatPage, memory: MemoryPage, server: RunningServer
):
    """The database is closed under the page; going on begins a new memory."""
    memory.remember("I live in Lisbon")
    memory.button("Close").click()
    session = context.new_cdp_session(chat.page)
    origin = {"origin": server.address.rstrip("/"), "storageTypes": "indexeddb"}
    session.send("Storage.clearDataForOrigin", origin)

    warning = chat.page.get_by_role("alertdialog", name=LOST)
    expect(warning).to_contain_text("emptied from outside")
    warning.get_by_role("button", name="Go on without it").click()
    again = MemoryPage(chat.page)
    again.remember("I like figs")
    expect(warning).to_be_hidden()


def test_what_is_kept_for_a_visit_ends_with_the_last_tab(
    context: BrowserContext, chat: ChatPage, memory: MemoryPage, server: RunningServer
):
    """A second tab is the same visit; the next visit finds only what was kept for good."""
    memory.root.get_by_role("combobox", name="Keep it").select_option("session")
    memory.remember("I like grapes")
    memory.root.get_by_role("combobox", name="Keep it").select_option("forever")
    memory.remember("I like plums")
    second = ChatPage.open(context, server.address)
    expect(MemoryPage(second.page).row("grapes")).to_contain_text("this visit only")
    chat.page.close()
    second.page.close()

    third = MemoryPage(ChatPage.open(context, server.address).page)
    expect(third.row("plums")).to_be_visible()
    expect(third.row("Deleted; the text is gone")).to_be_visible()
    assert "grapes" not in third.read_database()


def test_how_long_a_record_is_kept_can_be_changed(memory: MemoryPage):
    """The newest version says so; the older one is history."""
    memory.remember("I like plums")
    memory.row("plums").get_by_role("button", name="Show", exact=True).click()
    form = memory.root.get_by_role("form", name="How long it is kept")
    form.get_by_role("combobox", name="Keep this record").select_option("session")
    form.get_by_role("button", name="Change").click()
    memory.proposal()
    memory.agree()
    row = memory.row("plums").filter(has_text="· active ·")
    expect(row).to_contain_text("this visit only")


def test_a_withdrawn_record_is_rebuilt_when_the_user_wants_it(memory: MemoryPage, tmp_path: Path):
    """What it would be made of, its worth and its cost are shown first."""
    memory.import_file(write_export(tmp_path / "m.jsonl", withdrawn=True))
    row = memory.row("Summary").filter(has_text="withdrawn")
    row.get_by_role("button", name="Rebuild", exact=True).click()
    proposal = memory.proposal()
    expect(proposal).to_contain_text("will be made again from what is left (one source left, worth")
    expect(proposal).to_contain_text("1 of 1 made again")
    memory.agree()
    rebuilt = memory.row("Summary").filter(has_text="· active ·")
    expect(rebuilt).to_contain_text("The south bed has basil.")
    assert "figs." not in rebuilt.inner_text()


def test_a_conversation_is_summed_up_and_reviewed(chat: ChatPage):
    """Shown with its lineage, kept as tier 9, reviewed as tier 8; too small a model says so."""
    chat.load_model("Grouped f32")
    chat.set_number("Max tokens", 4)
    chat.send("The staging server is called otter and stands in the blue room.")
    memory = MemoryPage(chat.page)
    memory.button("Let the model summarise it").click()
    expect(memory.root.get_by_role("alert").first).to_contain_text("fit into the model's context")

    memory.button("Summarise this conversation").click()
    proposal = memory.proposal()
    expect(proposal).to_contain_text("called otter")
    expect(proposal).to_contain_text("extractive, version 1")
    assert "otter" not in memory.read_database()
    memory.agree()
    row = memory.row("called otter").filter(has_text="Summary")
    expect(row).to_contain_text("tier 9")
    row.get_by_role("button", name="Show", exact=True).click()
    detail = memory.root.get_by_role("region", name="Record", exact=True)
    expect(detail).to_contain_text("Said here")
    row.get_by_role("button", name="Confirm", exact=True).click()
    memory.proposal()
    memory.agree()
    expect(memory.row("called otter").filter(has_text="· active ·")).to_contain_text("tier 8")
    assert chat.errors == []


def test_start_up_files_are_opened_checked_and_put_in_order(memory: MemoryPage, tmp_path: Path):
    """A broken one names its label and changes nothing; whole ones make the boot package."""
    files = []
    for path, text in write_package().items():
        file = tmp_path / path.removeprefix(".uai/")
        file.write_text(text, encoding="utf-8")
        files.append(file)
    memory.root.locator("[data-part=files] > summary").click()
    chooser = memory.root.get_by_label("Open .uai files")
    chooser.set_input_files(files)
    boot = memory.root.locator("[data-part=boot]")
    expect(boot).to_contain_text("A session begins with, in this order: identity 3, status 9")

    (tmp_path / "progress.uai").write_text("Progress\n\nPurpose: since 2024-01-01\n", "utf-8")
    chooser.set_input_files([tmp_path / "progress.uai"])
    expect(memory.root.get_by_role("alert").first).to_contain_text(".uai/progress.uai, date")
    expect(boot).to_contain_text("status 9")


def test_a_damaged_export_changes_nothing(memory: MemoryPage, tmp_path: Path):
    """The line is named; what was there stays."""
    memory.remember("I like plums")
    file = write_export(tmp_path / "m.jsonl")
    file.write_text(file.read_text("utf-8").replace("basil", "b4sil", 1), encoding="utf-8")
    memory.root.locator("[data-part=files] > summary").click()
    memory.root.get_by_label("Import memory", exact=True).set_input_files(file)
    expect(memory.root.get_by_role("alert").first).to_contain_text("nothing was taken over")
    assert "b4sil" not in memory.read_database()
    expect(memory.row("plums")).to_be_visible()


def test_a_full_disk_keeps_what_was_there_and_says_so(
    context: BrowserContext, chat: ChatPage, memory: MemoryPage, server: RunningServer
):
    """The browser's own quota, set below what a commit needs: nothing of it is written."""
    memory.remember("I like plums")
    origin = server.address.rstrip("/")
    session = context.new_cdp_session(chat.page)
    bare = open_bare(context, server)
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": 1})
    chat.page.wait_for_timeout(ROOM_IS_KNOWN_MS)
    found = run_in_page(bare, COMMIT_LARGE, 64)
    assert found["answer"]["error"] == "QuotaExceededError"
    assert found["before"] == found["after"]
    assert "large" not in found["keys"]

    memory.propose("I like figs")
    memory.button("Do it").click()
    expect(memory.root.get_by_role("alert").first).to_contain_text("There is no room to keep this")
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin})
    memory.button("Do it").click()
    expect(memory.row("figs")).to_be_visible()
