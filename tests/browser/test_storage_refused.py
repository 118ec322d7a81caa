"""A browser that refuses all storage, as private windows may, still holds a chat."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Route, expect

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import FIXTURE, ChatPage
from tests.browser.profiles import open_context

REFUSE = """
const refuse = () => { throw new DOMException('The operation is insecure.', 'SecurityError'); };
const refuseLater = async () => refuse();
Object.defineProperty(globalThis, 'indexedDB', { value: { open: refuse } });
StorageManager.prototype.getDirectory = refuseLater;
CacheStorage.prototype.open = refuseLater;
CacheStorage.prototype.match = refuseLater;
CacheStorage.prototype.keys = refuseLater;
"""


def _prepend_refusal(route: Route) -> None:
    # Init scripts do not reach workers, so the refusal goes into the worker's own file.
    response = route.fetch()
    route.fulfill(response=response, body=REFUSE + response.text())


@pytest.fixture
def refusing_context(chromium: Browser) -> Iterator[BrowserContext]:
    """Open a profile whose pages and workers find every storage closed."""
    context = open_context(chromium, service_workers="block")
    context.add_init_script(REFUSE)
    context.route("**/worker/worker.js", _prepend_refusal)
    yield context
    context.close()


def test_chat_works_without_any_storage(refusing_context: BrowserContext, server: RunningServer):
    """One sentence says that nothing is kept; loading and answering go on."""
    chat = ChatPage.open(refusing_context, server.address)
    expect(chat.page.get_by_text("refuses storage")).to_be_visible()
    chat.load_model(FIXTURE)
    assert chat.send("a").outcome
