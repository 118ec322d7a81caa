"""After one complete visit the page needs no server, and a new version replaces it as a whole."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.chat_page import FIXTURE, ChatPage
from tests.browser.server_process import ROOT, serve_process

PAGE_CACHES = (
    "async () => (await caches.keys()).filter((name) => name.startsWith('tinyloom-page-'))"
)
COUNT_KEPT = """async () => {
    const [name] = (await caches.keys()).filter((name) => name.startsWith('tinyloom-page-'));
    return (await (await caches.open(name)).keys()).length;
}"""
DELETE_HALF = """async () => {
    const [name] = (await caches.keys()).filter((name) => name.startsWith('tinyloom-page-'));
    const cache = await caches.open(name);
    const all = await cache.keys();
    await Promise.all(all.filter((_, index) => index % 2).map((entry) => cache.delete(entry)));
    return all.length;
}"""
READ_VERSIONS = """async () => {
    const hex = (buffer) => [...new Uint8Array(buffer)]
        .map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const { version, files } = await (await fetch('/assets.json')).json();
    const wrong = [];
    for (const { path, sha256 } of files) {
        const bytes = await (await fetch('/' + path)).arrayBuffer();
        if (hex(await crypto.subtle.digest('SHA-256', bytes)) !== sha256) wrong.push(path);
    }
    return { version, wrong };
}"""
SAVE_NEXT_VERSION = """async () => {
    const { version } = await (await fetch('/assets.json?latest', { cache: 'no-store' })).json();
    const script = `/sw.js?version=${version}`;
    const registration = await navigator.serviceWorker.register(script, { updateViaCache: 'none' });
    while (!registration.waiting) await new Promise((resolve) => setTimeout(resolve, 20));
}"""
TAKE_OVER = """async () => {
    const { waiting } = await navigator.serviceWorker.getRegistration();
    waiting.postMessage('take_over');
    while (waiting.state !== 'activated') await new Promise((resolve) => setTimeout(resolve, 20));
}"""


def wait_until_saved(chat: ChatPage) -> None:
    """Wait until the page says that it works offline."""
    status = chat.page.get_by_role("banner").get_by_role("status")
    expect(status).to_contain_text("Works offline")


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """Lay a checkout beside this one whose page and core differ in one place each."""
    for name in ("py_core", "kernels"):
        shutil.copytree(ROOT / name, tmp_path / name)
    ignored = shutil.ignore_patterns("node_modules", "vendor")
    shutil.copytree(ROOT / "web", tmp_path / "web", ignore=ignored)
    (tmp_path / "web" / "vendor").symlink_to(ROOT / "web" / "vendor")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    for name in ("pyproject.toml", "serve.py"):
        shutil.copy(ROOT / name, tmp_path)
    page = tmp_path / "web" / "index.html"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("A language model in this tab", "The next version"))
    core = tmp_path / "py_core" / "__init__.py"
    core.write_text(core.read_text(encoding="utf-8") + "\nNEXT = True\n")
    return tmp_path


def test_page_boots_and_answers_without_its_server(context: BrowserContext):
    """Kill the server and reload: page, runtime and model come from the browser's own stores."""
    with serve_process() as server:
        chat = ChatPage.open(context, server.address)
        chat.load_model(FIXTURE)
        before = chat.send("a").text
        wait_until_saved(chat)
        expect(chat.page.get_by_role("option").filter(has_text="stored")).to_have_count(1)
        server.kill()
        chat.reload()
        chat.load_model(FIXTURE)
        assert chat.send("a").text == before


def test_half_filled_cache_heals_on_the_next_visit(context: BrowserContext):
    """What the browser has thrown away is fetched again, and then no server is needed again."""
    with serve_process() as server:
        chat = ChatPage.open(context, server.address)
        wait_until_saved(chat)
        count = chat.page.evaluate(DELETE_HALF)
        chat.reload()
        chat.wait_until(f"async () => (await ({COUNT_KEPT})()) === {count}")
        server.kill()
        chat.reload()


def test_update_swaps_the_whole_version(context: BrowserContext, next_version: Path):
    """A page never runs files of two versions: the old one stays whole until the new one is."""
    with serve_process() as server:
        chat = ChatPage.open(context, server.address)
        wait_until_saved(chat)
        old = chat.page.evaluate(READ_VERSIONS)
    with serve_process(next_version, port=server.port):
        # A second tab: the version under the first must not change while it is open.
        other = ChatPage.open(context, server.address)
        expect(other.page.get_by_text("A newer version of this page is saved")).to_be_visible()
        assert other.page.evaluate(READ_VERSIONS) == old
        other.page.close()
        chat.reload()
        expect(chat.page.get_by_role("heading", name="The next version")).to_be_attached()
        chat.wait_until_ready()
        new = chat.page.evaluate(READ_VERSIONS)
        chat.wait_until(f"async () => (await ({PAGE_CACHES})()).length === 1")
    assert new["wrong"] == old["wrong"] == []
    assert new["version"] != old["version"]


def test_tab_that_is_starting_stays_whole_when_a_newer_version_takes_over(
    context: BrowserContext, next_version: Path
):
    """The browser lists a tab only when it is loaded; until then it must count as open."""
    with serve_process() as server:
        chat = ChatPage.open(context, server.address)
        wait_until_saved(chat)
        old = chat.page.evaluate(READ_VERSIONS)
    with serve_process(next_version, port=server.port):
        # A tab of the page would let the newer version take over by itself, and at once.
        plain = context.new_page()
        plain.goto(f"{server.address}assets.json")
        chat.page.close()
        plain.evaluate(SAVE_NEXT_VERSION)
        starting = ChatPage(context.new_page())
        starting.page.goto(server.address, wait_until="commit")
        plain.evaluate(TAKE_OVER)
        starting.wait_until_ready()
        assert starting.page.evaluate(READ_VERSIONS) == old
        assert starting.errors == []
