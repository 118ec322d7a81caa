"""What the page says about memory in a turn: before sending beside the message, after in the plan.

Takes an open page; gives actions and readings. Does not assert anything.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Locator, expect

from py_core.memory.exchange import export_lines
from py_core.records.kinds import Record
from tests.browser.chat_page import ChatPage
from tests.browser.memory_page import MemoryPage
from tests.browser.plan_page import PlanPage
from tests.py_core.memory.heads import make_snapshot
from tests.py_core.model_files import make_model

CONTEXT_TOKENS = 4096


def load_wide_model(chat: ChatPage, folder: Path) -> None:
    """Load a small model with room for memory."""
    content = make_model(context_tokens=CONTEXT_TOKENS)
    path = folder / "wide.slm"
    path.write_bytes(content)
    chat.open_file(path)
    chat.wait_for_model(hashlib.sha256(content).hexdigest())
    chat.set_number("Max tokens", 4)


def import_memories(chat: ChatPage, folder: Path, *records: Record) -> None:
    """Take records over through the page's own import."""
    snapshot = make_snapshot(*records)
    file = folder / "memory.jsonl"
    file.write_text(export_lines(snapshot.heads, snapshot.records), encoding="utf-8")
    memory = MemoryPage(chat.page)
    memory.import_file(file)
    memory.button("Close").click()


class Disclosure:
    """What will be looked for, beside the message."""

    def __init__(self, chat: ChatPage) -> None:
        """Open it."""
        self.page = chat.page
        self.root = chat.page.locator("[data-view=recall]")
        self.root.locator("summary").click()

    def gist(self) -> Locator:
        """The sentence that says whether memory is asked."""
        return self.root.get_by_role("status")

    def fact(self, name: str) -> Locator:
        """One view of the question."""
        term = self.page.locator("dt").filter(has_text=name)
        return self.root.locator("dl > div").filter(has=term).locator("dd")

    def fill(self, fields: Mapping[str, str]) -> None:
        """Write into fields; each is left with Enter, which must not send the message."""
        for name, text in fields.items():
            field = self.root.get_by_role("textbox", name=name, exact=True)
            field.fill(text)
            field.press("Enter")


def candidate_row(plan: PlanPage, text: str) -> Locator:
    """The row of a candidate in an open plan."""
    section = plan.dialog.get_by_role("region", name="Looked for in memory", exact=True)
    expect(section).to_be_visible()
    return section.get_by_role("row").filter(has_text=text)
