"""Model files of one's own: dropped on the page, converted where needed, kept for later."""

import hashlib
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.chat_page import FIXTURE, FIXTURE_FILE, ChatPage
from tests.kernels.gguf_bytes import pack_gguf


def test_dropped_file_is_loaded_and_kept(chat: ChatPage):
    """A model file dropped anywhere on the page loads, and is there after a reload."""
    chat.drop_file(FIXTURE_FILE)
    chat.wait_for_model(hashlib.sha256(FIXTURE_FILE.read_bytes()).hexdigest())
    chat.reload()
    expect(chat.page.get_by_role("option").filter(has_text="stored")).to_have_count(1)


def test_gguf_file_is_converted_in_the_browser_and_answers(chat: ChatPage, tmp_path: Path):
    """A llama GGUF becomes a q8_0 model that is kept, and the GGUF itself is not."""
    path = tmp_path / "weaver.gguf"
    path.write_bytes(pack_gguf())
    chat.open_file(path)
    expect(chat.page.get_by_text("Op set", exact=True)).to_be_attached()
    assert chat.fact("Weights") == "q8_0"
    assert chat.fact("Context") == "128 tokens"
    chat.set_number("Max tokens", 3)
    assert chat.send("the").outcome
    chat.reload()
    kept = chat.page.get_by_role("option").filter(has_text="stored")
    expect(kept).to_have_count(1)
    expect(kept).to_contain_text("converted")


def test_removed_model_leaves_this_browser(chat: ChatPage):
    """Remove deletes the kept copy; the server's offer stays."""
    chat.load_model(FIXTURE)
    stored = chat.page.get_by_role("option").filter(has_text="stored")
    expect(stored).to_have_count(1)
    chat.button("Remove").click()
    expect(stored).to_have_count(0)
    chat.load_model(FIXTURE)
