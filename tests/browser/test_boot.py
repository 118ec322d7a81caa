"""The page starts on its own files only, isolated, and says what it is doing."""

import json

from playwright.sync_api import Browser, Page, expect

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import FIXTURE, ChatPage
from tests.browser.profiles import open_context


def test_whole_first_visit_breaks_no_rule_of_the_security_policy(chat: ChatPage):
    """Boot, load, one turn: nothing is refused, nothing is missing, nothing throws."""
    chat.load_model(FIXTURE)
    chat.send("the")
    assert chat.errors == []


def test_inline_script_is_refused(chat: ChatPage):
    """The policy is in force, so the test above means something."""
    chat.page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'document.title = "taken over"';
            document.body.append(script);
        }"""
    )
    assert chat.page.title() == "Tinyloom"
    assert any("Content Security Policy" in error for error in chat.errors)


def test_page_is_cross_origin_isolated(chat: ChatPage):
    """The headers of the server allow shared memory, should an engine want it."""
    assert chat.page.evaluate("() => crossOriginIsolated") is True


def test_page_asks_nobody_but_its_own_server(chromium: Browser, server: RunningServer):
    """No content delivery network, no index, no telemetry: one origin."""
    context = open_context(chromium)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    ChatPage.open(context, server.address).load_model(FIXTURE)
    context.close()
    assert asked
    assert {url for url in asked if not url.startswith((server.address, "blob:"))} == set()


def test_start_is_shown_step_by_step(chromium: Browser, server: RunningServer):
    """Each step is named before the next one begins, and the last state is ready."""
    context = open_context(chromium)
    page = context.new_page()
    page.add_init_script(
        """window.seen = [];
        document.addEventListener('DOMContentLoaded', () => {
            const status = document.querySelector('[role=status]');
            const note = () => window.seen.push(status.textContent.trim());
            new MutationObserver(note).observe(status,
                { childList: true, characterData: true, subtree: true });
        });"""
    )
    chat = ChatPage(page)
    page.goto(server.address)
    chat.wait_until_ready()
    seen = list(dict.fromkeys(text.split("\n")[0] for text in _read_texts(page)))
    context.close()
    steps = ["Starting Python", "Unpacking numpy and pydantic", "Installing Tinyloom"]
    steps += ["Starting Tinyloom", "Ready"]
    assert [text for text in seen if text in steps] == steps


def test_failed_start_says_what_to_do(chromium: Browser, server: RunningServer):
    """A runtime file that cannot be had ends the start with a sentence, not with silence."""
    context = open_context(chromium, service_workers="block")
    context.route("**/pyodide.asm.wasm", lambda route: route.abort())
    page = context.new_page()
    page.goto(server.address)
    expect(page.locator("html")).to_have_attribute("data-boot", "failed")
    expect(page.get_by_role("alert")).to_contain_text("Reload the page")
    context.close()


def _read_texts(page: Page) -> list[str]:
    seen: list[str] = json.loads(page.evaluate("() => JSON.stringify(window.seen)"))
    return seen
