"""The Plan view as a person meets it: controls by role and name.

Takes an open page; gives actions and readings. Does not assert anything about plans.
"""

import re
from pathlib import Path

from playwright.sync_api import Locator, expect

from tests.browser.chat_page import ChatPage

HASH = re.compile(r"[0-9a-f]{64}")


def name_of(record_id: str) -> re.Pattern[str]:
    """Match a record's name with and without the mark of the session."""
    return re.compile(rf"^{re.escape(record_id)}(@|$)")


class PlanPage:
    """The Plan view over the page."""

    def __init__(self, chat: ChatPage) -> None:
        """Look at the page of a chat."""
        self.chat = chat
        self.dialog = chat.page.get_by_role("dialog", name="Plan", exact=True)

    def open(self) -> None:
        """Open the plan of the last answer."""
        self.chat.button("Plan").click()
        expect(self.dialog).to_be_visible()

    def open_of_answer(self, index: int) -> None:
        """Open the plan of one answer from its place in the transcript."""
        answer = self.chat.answers().nth(index)
        answer.get_by_role("button", name="Plan of this answer").click()
        expect(self.dialog).to_be_visible()

    def close(self) -> None:
        """Go back to the conversation."""
        self.dialog.get_by_role("button", name="Close plan").click()
        expect(self.dialog).to_be_hidden()

    def plan_hash(self) -> str:
        """Read the hash of the plan that is shown."""
        proof = self.dialog.get_by_role("region", name="Proof").text_content() or ""
        found = HASH.search(proof)
        assert found is not None
        return found[0]

    def rows(self) -> Locator:
        """The rows that the filter shows, without the head."""
        rows = self.rows_region().get_by_role("row")
        return rows.filter(has=self.chat.page.get_by_role("button")).filter(visible=True)

    def rows_region(self) -> Locator:
        """The table of records kept and left out."""
        return self.dialog.get_by_role("region", name="Rows kept and left out")

    def row(self, record_id: str) -> Locator:
        """The row of one record."""
        button = self.chat.page.get_by_role("button", name=name_of(record_id))
        return self.rows().filter(has=button)

    def record_button(self, record_id: str) -> Locator:
        """What opens a record, the mark of the session behind its name left out."""
        return self.rows_region().get_by_role("button", name=name_of(record_id))

    def record(self, record_id: str) -> Locator:
        """The record that is open beside the rows."""
        return self.dialog.get_by_role("complementary", name=name_of(record_id))

    def legend(self) -> dict[str, int]:
        """Read the segments of the budget: name to tokens."""
        items = self.dialog.get_by_role("list", name="Segments of the budget").get_by_role(
            "listitem"
        )
        parts = (text.split() for text in items.all_text_contents())
        return {" ".join(words[:-1]): int(words[-1].replace(",", "")) for words in parts}

    def save(self, document: str, folder: Path) -> Path:
        """Save one of the files of the plan."""
        with self.chat.page.expect_download() as download:
            self.dialog.get_by_role("button", name=f"Save {document}", exact=True).click()
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        return path


def attach(chat: ChatPage, name: str, text: str) -> None:
    """Attach a foreign text to the next message."""
    chat.button("Attach text").click()
    dialog = chat.page.get_by_role("dialog", name="Attach text")
    dialog.get_by_role("textbox", name="Name", exact=True).fill(name)
    dialog.get_by_role("textbox", name="Untrusted text", exact=True).fill(text)
    dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(dialog).to_be_hidden()
