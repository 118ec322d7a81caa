"""The page as a person meets it: controls by role and name, waits for what it shows.

Takes a browser context and an address; gives actions and readings. Does not assert anything
about answers.
"""

import base64
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, expect

WAIT_S = 60.0
POLL_MS = 100

SMOLLM2 = "SmolLM2"
FIXTURE = "Grouped f32"
FIXTURE_FILE = Path(__file__).parents[2] / "fixtures" / "models" / "grouped_f32.slm"
ASK_WORKER = (Path(__file__).parent / "ask_worker.js").read_text(encoding="utf-8")
GREEDY = {"temperature": 0, "top_k": 40, "top_p": 1, "max_tokens": 8, "seed": 1}


@dataclass(frozen=True, slots=True)
class Answer:
    """One finished answer: its text, and the line of figures below it."""

    text: str
    outcome: str


class ChatPage:
    """One open page."""

    def __init__(self, page: Page) -> None:
        """Watch the page's errors from the start."""
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._keep_console_error)

    @classmethod
    def open(cls, context: BrowserContext, address: str) -> "ChatPage":
        """Open a tab and wait until Python is up."""
        chat = cls(context.new_page())
        chat.page.goto(address)
        chat.wait_until_ready()
        return chat

    def wait_until_ready(self) -> None:
        """Wait for the ready signal; a failed start fails at once with what the page says."""
        root = self.page.locator("html[data-boot=ready], html[data-boot=failed]")
        root.wait_for(state="attached")
        status = self.page.get_by_role("banner").get_by_role("status")
        expect(status).to_contain_text("Ready")

    def reload(self) -> None:
        """Load the page again and wait until it is ready."""
        self.page.reload()
        self.wait_until_ready()

    def button(self, name: str) -> Locator:
        """Find a button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def set_number(self, name: str, value: float) -> None:
        """Fill one of the settings."""
        self.page.get_by_role("spinbutton", name=name, exact=True).fill(f"{value:g}")

    def choose_model(self, label: str) -> str:
        """Select the model whose label begins so, and return its sha256."""
        choice = self.page.get_by_role("combobox", name="Model", exact=True)
        option = choice.get_by_role("option").filter(has_text=label).first
        option.wait_for(state="attached")
        sha256 = option.get_attribute("value") or ""
        choice.select_option(value=sha256)
        return sha256

    def load_model(self, label: str) -> None:
        """Load a listed model and wait until its facts are shown."""
        sha256 = self.choose_model(label)
        self.button("Load model").click()
        self.wait_for_model(sha256)

    def wait_for_model(self, sha256: str) -> None:
        """Wait until the facts shown are of the file with this hash."""
        shown = self._facts().get_by_title(sha256, exact=True)
        shown.wait_for(state="attached")

    def open_file(self, path: Path) -> None:
        """Choose a model file from the disk."""
        self.page.get_by_label("Model file", exact=True).set_input_files(path)

    def drop_file(self, path: Path) -> None:
        """Drop a file on the page, as a person drags it there."""
        content = base64.b64encode(path.read_bytes()).decode()
        transfer = self.page.evaluate_handle(
            """({ name, content }) => {
                const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
                const transfer = new DataTransfer();
                transfer.items.add(new File([bytes], name));
                return transfer;
            }""",
            {"name": path.name, "content": content},
        )
        for kind in ("dragover", "drop"):
            self.page.dispatch_event("body", kind, {"dataTransfer": transfer})

    def write(self, text: str) -> None:
        """Write into the message box and send."""
        self.page.get_by_role("textbox", name="Message", exact=True).fill(text)
        self.button("Send").click()

    def send(self, text: str) -> Answer:
        """Send a message and wait for the whole answer."""
        count = self.answers().count()
        self.write(text)
        return self.wait_for_answer(count)

    def answers(self) -> Locator:
        """All answers, oldest first; the last may be under way."""
        return self.messages().and_(self.page.locator("[data-role=assistant]"))

    def messages(self) -> Locator:
        """All messages of the transcript."""
        return self.page.get_by_role("log", name="Conversation").get_by_role("article")

    def wait_until(self, question: str) -> None:
        """Ask the page, which may answer with a promise, until it says yes.

        `wait_for_function` takes a promise for a yes.
        """
        end = time.monotonic() + WAIT_S
        while not self.page.evaluate(question):
            assert time.monotonic() < end, question
            self.page.wait_for_timeout(POLL_MS)

    def wait_for_answer(self, index: int) -> Answer:
        """Wait until the answer at `index` is finished and return it."""
        answer = self.answers().nth(index)
        outcome = answer.locator("[data-part=outcome]")
        expect(outcome).not_to_be_empty()
        text = answer.locator("[data-part=text]").text_content() or ""
        return Answer(text, outcome.text_content() or "")

    def fact(self, name: str) -> str:
        """Read one fact of the model or of the last turn."""
        term = self.page.get_by_text(name, exact=True).and_(self.page.locator("dt"))
        row = self._facts().locator("dl > div").filter(has=term)
        return row.locator("dd").text_content() or ""

    def alert(self) -> Locator:
        """The sentences that say what went wrong."""
        return self.page.get_by_role("alert")

    def ask_worker(
        self, label: str, *turns: dict[str, Any], op_set: str = "auto"
    ) -> dict[str, Any]:
        """Hold a conversation with a second worker and return facts and results."""
        order = json.dumps({"label": label, "turns": turns, "op_set": op_set})
        answer: dict[str, Any] = self.page.evaluate(f"({ASK_WORKER})({order})")
        return answer

    def _facts(self) -> Locator:
        return self.page.locator("[data-view=facts]")

    def _keep_console_error(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)
