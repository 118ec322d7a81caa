"""The engine, the memory plan and the way to give memory back, as a person meets them."""

import re

from playwright.sync_api import expect

from tests.browser.chat_page import FIXTURE, SMOLLM2, ChatPage


def choose(chat: ChatPage, name: str, value: str) -> None:
    """Select a value of one of the settings."""
    chat.page.get_by_role("combobox", name=name, exact=True).select_option(value)


def greedy_text(chat: ChatPage) -> str:
    """Ask in a fresh context and give the answer."""
    chat.button("Reset context").click()
    return chat.send("weaving").text


def bytes_of(chat: ChatPage, name: str) -> int:
    """Read a fact that has its exact bytes in its title."""
    term = chat.page.get_by_text(name, exact=True).and_(chat.page.locator("dt"))
    value = chat.page.locator("[data-view=facts] dl > div").filter(has=term).locator("dd")
    expect(value).to_have_attribute("title", re.compile(r"^[\d,]+ bytes$"))
    return int((value.get_attribute("title") or "").removesuffix(" bytes").replace(",", ""))


def test_loading_again_switches_the_engine_and_the_answer_stays(chat: ChatPage):
    """Facts name what runs; greedy answers are equal on both op sets."""
    chat.set_number("Max tokens", 8)
    answers = []
    for engine in ("simd", "numpy"):
        choose(chat, "Engine", engine)
        chat.load_model(FIXTURE)
        expect(chat.page.locator("[data-view=engine-memory]")).to_contain_text(f"{engine} engine")
        answers.append(greedy_text(chat))
        assert chat.fact("Op set") == engine
    assert answers[0] == answers[1] != ""
    assert not chat.errors


def test_an_int8_cache_is_named_and_takes_less(chat: ChatPage):
    """The facts and the plan speak of the cache that was chosen; numpy says that it has none."""
    choose(chat, "KV cache", "int8")
    chat.load_model(SMOLLM2)
    expect(chat.page.locator("[data-view=engine-memory]")).to_contain_text("KV int8 at first")
    assert chat.fact("KV cache") == "int8"
    assert int(chat.fact("KV per token").split()[0].replace(",", "")) < 46_080 / 3
    choose(chat, "Engine", "numpy")
    chat.load_model(FIXTURE)
    expect(chat.page.get_by_text("int8 needs the simd engine")).to_be_visible()


def test_the_plan_is_shown_and_near_the_heap_that_comes(chat: ChatPage):
    """Parts as a bar and as numbers; the heap after loading is within 5 percent of the plan."""
    chat.load_model(SMOLLM2)
    memory = chat.page.locator("[data-view=engine-memory]")
    parts = memory.get_by_role("list", name="Parts of the memory plan").get_by_role("listitem")
    names = ["Weights", "Tokenizer", "KV int16 at first", "KV later", "Scratch"]
    expect(parts).to_contain_text(names)
    assert memory.locator("[data-part=bar] span").count() == len(names)
    found = re.search(r"([\d.,]+) MB when loaded", memory.inner_text())
    assert found is not None
    planned = float(found[1].replace(",", "")) * 1e6
    heap = bytes_of(chat, "Heap")
    assert abs(planned - heap) < 0.05 * heap


def test_freeing_gives_the_memory_back_and_keeps_the_transcript(chat: ChatPage):
    """A new engine starts; its heap is smaller by what the model took."""
    chat.load_model(SMOLLM2)
    chat.set_number("Max tokens", 4)
    answer = chat.send("Name a fabric.")
    chat.button("Free model").click()
    before = bytes_of(chat, "Heap before")
    after = bytes_of(chat, "Heap after")
    assert after < before - 100_000_000
    assert chat.answers().nth(0).locator("[data-part=text]").text_content() == answer.text
    expect(chat.page.get_by_text("No model is loaded.")).to_be_visible()
    expect(chat.button("Free model")).to_be_hidden()
    chat.load_model(FIXTURE)
    assert not chat.errors
