"""A file that is not what it claims gives one sentence, and the chat goes on."""

import struct
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.chat_page import FIXTURE, FIXTURE_FILE, ChatPage


def _truncate(good: bytes) -> bytes:
    return good[: len(good) // 2]


def _change_magic(good: bytes) -> bytes:
    return b"NOPE" + good[4:]


def _flip_a_bit(good: bytes) -> bytes:
    middle = len(good) // 2
    return good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]


def _make_gguf_of_another_architecture(_: bytes) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    string_type = 8
    entry = text("general.architecture") + struct.pack("<I", string_type) + text("mamba")
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + entry


def _make_empty(_: bytes) -> bytes:
    return b""


BAD_FILES = {
    "truncated.slm": _truncate,
    "wrong_magic.slm": _change_magic,
    "bit_flipped.slm": _flip_a_bit,
    "other_architecture.gguf": _make_gguf_of_another_architecture,
    "empty.slm": _make_empty,
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_file_is_refused_and_the_loaded_model_stays(chat: ChatPage, tmp_path: Path, name: str):
    """The sentence names the file; the model, the transcript and the context are as before."""
    chat.load_model(FIXTURE)
    chat.set_number("Max tokens", 2)
    chat.send("a")
    before = int(chat.fact("Prompt tokens"))
    bad = tmp_path / name
    bad.write_bytes(BAD_FILES[name](FIXTURE_FILE.read_bytes()))
    chat.open_file(bad)
    expect(chat.alert()).to_contain_text(name)
    expect(chat.messages()).to_have_count(2)
    chat.send("b")
    assert int(chat.fact("Prompt tokens")) > before
    expect(chat.page.get_by_role("option").filter(has_text=bad.stem)).to_have_count(0)
