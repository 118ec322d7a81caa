"""A real conversation with the real model, and again with the server gone."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.chat_page import SMOLLM2, ChatPage
from tests.browser.server_process import serve_process
from tests.browser.test_offline import wait_until_saved

pytestmark = pytest.mark.slow


def test_conversation_of_three_turns_with_one_stopped_then_again_offline(context: BrowserContext):
    """The main job, whole: talk, stop, talk again at once, kill the server, reload, talk."""
    with serve_process(model="smollm2") as server:
        chat = ChatPage.open(context, server.address)
        chat.load_model(SMOLLM2)
        chat.set_number("Max tokens", 24)
        first = chat.send("What is the capital of France?")
        assert "Paris" in first.text
        _stop_one_answer(chat)
        _ask_about_the_earlier_answer(chat)
        wait_until_saved(chat)
        server.kill()
        chat.reload()
        chat.load_model(SMOLLM2)
        chat.set_number("Max tokens", 24)
        assert chat.send("What is the capital of France?").text == first.text
        assert chat.send("And of Italy?").text.strip()


def _stop_one_answer(chat: ChatPage) -> None:
    chat.set_number("Max tokens", 500)
    chat.write("Write a long story about a weaver.")
    answer = chat.answers().nth(1)
    expect(answer.locator("[data-part=text]")).not_to_be_empty(timeout=60_000)
    chat.button("Stop").click()
    stopped = chat.wait_for_answer(1)
    assert "stopped" in stopped.outcome
    assert chat.fact("Finish reason") == "stopped"
    assert int(chat.fact("Generated tokens")) < 500
    expect(chat.button("Stop")).to_be_disabled()


def _ask_about_the_earlier_answer(chat: ChatPage) -> None:
    chat.set_number("Max tokens", 24)
    third = chat.send("Which country did I ask about first?")
    assert third.text.strip()
    assert int(chat.fact("Reused tokens").replace(",", "")) > 0
    expect(chat.messages()).to_have_count(6)
