"""The memory as a person meets it, and the database as nobody on the page can fake it.

Takes an open page; gives actions by role and name, and every text that lies in the raw database.
Does not assert anything.
"""

from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

READ_RAW_DATABASE = """async () => {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('tinyloom');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const found = {};
  for (const name of database.objectStoreNames) {
    found[name] = await new Promise((resolve) => {
      const request = database.transaction(name).objectStore(name).getAll();
      request.onsuccess = () => resolve(request.result);
    });
  }
  database.close();
  return JSON.stringify(found);
}"""


class MemoryPage:
    """The memory of one open page."""

    def __init__(self, page: Page) -> None:
        """Open the view and wait until it has listed something."""
        self.page = page
        page.get_by_role("button", name="Memory", exact=True).click()
        self.root = page.get_by_role("dialog", name="Memory", exact=True)
        expect(self.root.locator("[data-part=count]")).not_to_be_empty()

    def button(self, name: str) -> Locator:
        """Find a button of the view."""
        return self.root.get_by_role("button", name=name, exact=True)

    def propose(self, text: str) -> Locator:
        """Type a memory and ask for the preview."""
        self.root.get_by_role("textbox", name="New memory").fill(text)
        self.button("Preview").click()
        return self.proposal()

    def proposal(self) -> Locator:
        """Wait for the proposal."""
        found = self.root.get_by_role("region", name="Proposed change")
        found.wait_for(state="visible")
        return found

    def agree(self) -> None:
        """Make the proposed change and wait until the view has settled."""
        self.button("Do it").click()
        self.root.locator("[data-part=proposal]").wait_for(state="hidden")

    def remember(self, text: str) -> None:
        """Keep a text."""
        self.propose(text)
        self.agree()
        self.row(text).wait_for(state="visible")

    def row(self, text: str) -> Locator:
        """Find the row with a text."""
        return self.root.locator("[data-part=rows] > li").filter(has_text=text)

    def import_file(self, path: Path) -> str:
        """Take over a file and give the account of it."""
        self.root.locator("[data-part=files] > summary").click()
        self.root.get_by_label("Import memory", exact=True).set_input_files(path)
        account = self.root.locator("[data-part=imported]")
        expect(account).not_to_be_empty()
        return account.text_content() or ""

    def read_database(self) -> str:
        """Give everything that lies in the database, as one text."""
        raw: str = self.page.evaluate(READ_RAW_DATABASE)
        return raw


def run_in_page(page: Page, function: str, argument: Any = None) -> Any:
    """Run a function over the site's own storage port, without Python."""
    loaded = "const { LEDGER_FUNCTIONS: port } = await import('/worker/ledger_database.js');"
    return page.evaluate(
        f"async (argument) => {{ {loaded} return ({function})(port, argument); }}", argument
    )
