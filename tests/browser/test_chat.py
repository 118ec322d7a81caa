"""What a person can do with a loaded model, on the smallest one."""

import hashlib

from playwright.sync_api import BrowserContext, expect

from kernels.byte_source import BytesSource
from kernels.slm_file import open_model
from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import FIXTURE, FIXTURE_FILE, GREEDY, ChatPage

PAGES_200 = "The loom weaves a row and then another row. " * 10_000
WARM = GREEDY | {"temperature": 1.0, "seed": 7}


def test_turn_shows_its_figures(chat: ChatPage):
    """Prompt tokens, generated tokens, both speeds and the finish reason follow each turn."""
    chat.load_model(FIXTURE)
    chat.set_number("Max tokens", 4)
    answer = chat.send("the")
    generated = int(chat.fact("Generated tokens"))
    assert 0 < generated <= 4
    assert int(chat.fact("Prompt tokens")) > 0
    assert "tokens/s" in chat.fact("Prefill")
    assert "tokens/s" in chat.fact("Decode")
    assert chat.fact("Finish reason") in {"end", "length", "context"}
    assert f"{generated} generated" in answer.outcome


def test_facts_equal_the_header_of_the_file(chat: ChatPage):
    """Nothing is guessed: the page shows what the file's own header says."""
    chat.load_model(FIXTURE)
    config = open_model(BytesSource(FIXTURE_FILE.read_bytes())).config
    row = 2 * config.head_dim + 4  # codes of two bytes and a scale
    per_token = 2 * config.layer_count * config.kv_head_count * row
    assert chat.fact("Context") == f"{config.max_context:,} tokens"
    assert chat.fact("Prompt Limit") == f"{config.max_context - 1:,} tokens"
    assert chat.fact("KV per token") == f"{per_token:,} bytes"
    assert chat.fact("File") == f"{FIXTURE_FILE.stat().st_size:,} bytes"
    assert f"{config.vocab_size:,} tokens" in chat.fact("Tokenizer")
    assert hashlib.sha256(FIXTURE_FILE.read_bytes()).hexdigest().startswith(chat.fact("sha256"))


def test_same_seed_gives_the_same_ids(chat: ChatPage):
    """A seed names one answer; another seed names another."""
    first = chat.ask_worker(FIXTURE, {"text": "a", "settings": WARM})
    again = chat.ask_worker(FIXTURE, {"text": "a", "settings": WARM})
    other = chat.ask_worker(FIXTURE, {"text": "a", "settings": WARM | {"seed": 8}})
    ids = [answer["turns"][0]["output_ids"] for answer in (first, again, other)]
    assert ids[0] == ids[1]
    assert ids[0] != ids[2]


def test_reset_forgets_and_keeps_the_transcript(chat: ChatPage):
    """Reset empties the model's context: the same first message is again the whole prompt."""
    chat.load_model(FIXTURE)
    chat.set_number("Max tokens", 2)
    chat.send("a")
    first = chat.fact("Prompt tokens")
    chat.button("Reset context").click()
    expect(chat.page.get_by_text("Context reset")).to_be_visible()
    assert chat.messages().count() == 2
    chat.send("a")
    assert chat.fact("Prompt tokens") == first
    assert chat.fact("Reused tokens") == "0"


def test_clear_empties_the_page_and_keeps_the_context(chat: ChatPage):
    """Clear is about what is shown: the next prompt still holds the earlier turn."""
    chat.load_model(FIXTURE)
    chat.set_number("Max tokens", 2)
    chat.send("a")
    first = int(chat.fact("Prompt tokens"))
    chat.button("Clear transcript").click()
    expect(chat.messages()).to_have_count(0)
    chat.send("b")
    assert int(chat.fact("Prompt tokens")) > first


def test_message_without_a_model_comes_back_with_a_sentence(chat: ChatPage):
    """Nothing that was written is lost."""
    chat.write("Is anybody there?")
    expect(chat.alert()).to_contain_text("model_not_loaded")
    expect(chat.page.get_by_role("textbox", name="Message")).to_have_value("Is anybody there?")


def test_message_while_a_model_loads_waits_for_it_and_is_answered(chat: ChatPage):
    """Who writes ahead need not write again."""
    chat.choose_model(FIXTURE)
    # One step of the page's own event loop, so that the load is certainly under way.
    chat.page.evaluate(
        """() => {
            const press = (name) => [...document.querySelectorAll('button')]
                .find((button) => button.textContent === name).click();
            document.getElementById('message').value = 'too early';
            press('Load model');
            press('Send');
        }"""
    )
    assert chat.wait_for_answer(0).outcome
    assert chat.alert().count() == 0


def test_two_hundred_pages_overflow_with_numbers_and_the_chat_goes_on(chat: ChatPage):
    """The message is refused with what it needs and what is allowed; the turns before stay."""
    chat.load_model(FIXTURE)
    chat.set_number("Max tokens", 2)
    chat.send("a")
    chat.write(PAGES_200)
    expect(chat.alert()).to_contain_text("context_overflow")
    expect(chat.alert()).to_contain_text("tokens but the model allows")
    expect(chat.messages()).to_have_count(2)
    chat.page.get_by_role("textbox", name="Message").fill("")
    assert chat.send("b").outcome


def test_two_tabs_answer_side_by_side(context: BrowserContext, server: RunningServer):
    """Each tab has its own worker; one store of models serves both."""
    tabs = [ChatPage.open(context, server.address) for _ in range(2)]
    for tab in tabs:
        tab.load_model(FIXTURE)
    for tab in tabs:
        tab.write("a")
    texts = [tab.wait_for_answer(0).text for tab in tabs]
    assert texts[0] == texts[1]


def test_setting_out_of_range_is_said_and_not_used(chat: ChatPage):
    """The last valid value stays in force."""
    chat.load_model(FIXTURE)
    chat.set_number("Max tokens", 2)
    chat.set_number("Max tokens", 0)
    expect(chat.page.get_by_text("the last valid value is used")).to_be_visible()
    chat.send("a")
    assert int(chat.fact("Generated tokens")) <= 2
