"""What was read once is not read again: in a conversation, and at the next visit."""

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import FIXTURE, SMOLLM2, Answer, ChatPage
from tests.browser.memory_page import MemoryPage
from tests.browser.profiles import open_context
from tests.browser.server_process import serve_process
from tests.browser.test_engine_controls import choose
from tests.browser.test_offline import wait_until_saved

SYSTEM = "You weave."
OPEN_STORE = """const database = await new Promise((resolve) => {
    indexedDB.open('tinyloom').onsuccess = ({ target }) => resolve(target.result);
});
const transaction = database.transaction('prefixes', 'readwrite');
const store = transaction.objectStore('prefixes');
const ask = (request) => new Promise((resolve) => {
    request.onsuccess = () => resolve(request.result);
});
const keys = await ask(store.getAllKeys());
const all = await ask(store.getAll());"""
READ_SAVED = f"""async () => {{
    {OPEN_STORE}
    database.close();
    const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16)).join();
    const hash = async (bytes) => hex(await crypto.subtle.digest('SHA-256', bytes));
    return Promise.all(all.map(async (bytes, index) => [keys[index], await hash(bytes)]));
}}"""
DAMAGE_SAVED = f"""async () => {{
    {OPEN_STORE}
    const bytes = new Uint8Array(all[0]);
    bytes[bytes.length >> 1] ^= 1;
    await ask(store.put(bytes.buffer, keys[0]));
    database.close();
}}"""


def read_saved(chat: ChatPage) -> list[list[str]]:
    """Give key and hash of everything that is kept for the next visit."""
    saved: list[list[str]] = chat.page.evaluate(READ_SAVED)
    return saved


def begin(chat: ChatPage, label: str, *, max_tokens: int, system: str = SYSTEM) -> None:
    """Load a model and set what a turn needs."""
    chat.load_model(label)
    chat.set_number("Max tokens", max_tokens)
    chat.page.get_by_role("textbox", name="System text").fill(system)


def processed(chat: ChatPage) -> int:
    """Count the prompt tokens that the last turn had to read."""
    numbers = [chat.fact(name).replace(",", "") for name in ("Prompt tokens", "Reused tokens")]
    return int(numbers[0]) - int(numbers[1])


def send_again(chat: ChatPage) -> Answer:
    """Press Regenerate and wait for the answer in the place of the last one."""
    last = chat.answers().count() - 1
    before = chat.answers().nth(last).element_handle()
    chat.button("Regenerate").click()
    chat.page.wait_for_function("element => !element.isConnected", arg=before)
    return chat.wait_for_answer(last)


def test_regenerating_reads_one_token_and_stands_in_the_old_place(chat: ChatPage):
    """The last pair is replaced; with the same settings the answer is the same."""
    begin(chat, FIXTURE, max_tokens=4)
    chat.send("a")
    first = chat.send("b")
    again = send_again(chat)
    assert again.text == first.text
    assert processed(chat) == 1
    expect(chat.messages()).to_have_count(4)
    expect(chat.button("Regenerate")).to_have_count(1)
    assert not chat.errors


def test_an_edited_message_takes_the_place_of_the_last_one(chat: ChatPage):
    """Everything before it is reused; what was begun in the composer comes back."""
    begin(chat, FIXTURE, max_tokens=4)
    chat.send("a")
    chat.send("weaving and spinning")
    message = chat.page.get_by_role("textbox", name="Message", exact=True)
    message.fill("begun")
    chat.button("Edit").click()
    expect(message).to_have_value("weaving and spinning")
    chat.button("Cancel edit").click()
    expect(message).to_have_value("begun")
    chat.button("Edit").click()
    message.fill("weaving and dyeing")
    before = chat.answers().nth(1).element_handle()
    chat.button("Send").click()
    chat.page.wait_for_function("element => !element.isConnected", arg=before)
    chat.wait_for_answer(1)
    expect(message).to_have_value("begun")
    expect(chat.messages()).to_have_count(4)
    expect(chat.messages().nth(2)).to_contain_text("weaving and dyeing")
    prompt_tokens = int(chat.fact("Prompt tokens"))
    assert 1 <= processed(chat) < prompt_tokens / 2


def test_an_edit_that_does_not_fit_leaves_the_pair(chat: ChatPage):
    """The old pair stands where it was, and the text is in the composer to be cut."""
    begin(chat, FIXTURE, max_tokens=4)
    chat.send("a")
    chat.button("Edit").click()
    chat.write("too long " * 200)
    expect(chat.alert()).to_contain_text("context_overflow")
    expect(chat.messages()).to_have_count(2)
    expect(chat.messages().nth(0)).to_contain_text("a")
    chat.button("Cancel edit").click()
    chat.button("Regenerate").click()
    expect(chat.alert()).to_have_count(0)
    chat.wait_for_answer(0)
    assert processed(chat) == 1


def test_moved_rows_are_off_until_they_are_chosen_and_say_their_drift(chat: ChatPage):
    """A context that overflows reports moved tokens and how far logits are off."""
    begin(chat, FIXTURE, max_tokens=2, system="")
    chat.page.get_by_text("Advanced", exact=True).click()
    choose(chat, "KV reuse", "splice_approximate")
    chat.page.get_by_role("checkbox", name="Measure the drift").check()
    texts = ["one red thread and two blue threads", "three green threads", "four", "five", "six"]
    outcomes = [chat.send(f"{text} on the old loom").outcome for text in texts]
    moved = [outcome for outcome in outcomes if "approximate" in outcome]
    assert moved, outcomes
    choose(chat, "KV reuse", "prefix")
    assert "approximate" not in chat.send("seven on the old loom").outcome
    assert not chat.errors


@pytest.mark.parametrize("engine", [("simd", "int16"), ("simd", "int8"), ("numpy", "f32")], ids=str)
def test_rows_of_the_last_visit_are_used_and_change_no_token(
    chromium: Browser, chat: ChatPage, server: RunningServer, engine: tuple[str, str]
):
    """After a reload the system text is not read; the answer is that of a browser without it."""
    with open_context(chromium) as other_profile:
        other = ChatPage.open(other_profile, server.address)
        for page in (chat, other):
            choose(page, "Engine", engine[0])
            choose(page, "KV cache", engine[1])
            begin(page, SMOLLM2, max_tokens=12)
        chat.send("Name a fabric.")
        fresh = other.send("Name a river.")
        assert "restored" not in fresh.outcome
        assert read_saved(chat) == read_saved(other)
        assert len(read_saved(chat)) == 1
    chat.reload()
    choose(chat, "Engine", engine[0])
    choose(chat, "KV cache", engine[1])
    begin(chat, SMOLLM2, max_tokens=12)
    again = chat.send("Name a river.")
    assert "tokens restored from the last visit" in again.outcome
    assert int(chat.fact("Restored tokens")) > 5
    assert again.text == fresh.text
    assert not chat.errors


def test_rows_of_the_last_visit_are_used_without_a_server(context: BrowserContext):
    """Offline is no different."""
    with serve_process() as server:
        chat = ChatPage.open(context, server.address)
        begin(chat, FIXTURE, max_tokens=4)
        first = chat.send("a")
        wait_until_saved(chat)
        expect(chat.page.get_by_role("option").filter(has_text="stored")).to_have_count(1)
        server.kill()
        chat.reload()
        begin(chat, FIXTURE, max_tokens=4)
        again = chat.send("a")
    assert "tokens restored from the last visit" in again.outcome
    assert again.text == first.text


def test_damaged_rows_are_thrown_away_and_the_answer_stays(chat: ChatPage):
    """One changed bit: said among the facts, never used, saved anew."""
    begin(chat, FIXTURE, max_tokens=4)
    first = chat.send("a")
    saved = read_saved(chat)
    chat.page.evaluate(DAMAGE_SAVED)
    assert read_saved(chat) != saved
    chat.reload()
    begin(chat, FIXTURE, max_tokens=4)
    again = chat.send("a")
    assert chat.fact("Saved rows") == "discarded: damaged"
    assert chat.fact("Restored tokens") == "0"
    assert again.text == first.text
    assert read_saved(chat) == saved


def test_few_are_kept_and_they_go_with_the_model_or_with_everything(chat: ChatPage):
    """Four system texts at most; none after its model was removed, none after Delete everything."""
    begin(chat, FIXTURE, max_tokens=1)
    keys = []
    for number in range(6):
        chat.page.get_by_role("textbox", name="System text").fill(f"{number}{SYSTEM}")
        chat.button("Reset context").click()
        chat.send("a")
        keys.append({key for key, _ in read_saved(chat)})
    assert [len(found) for found in keys] == [1, 2, 3, 4, 4, 4]
    assert len(set.union(*keys)) == 6
    remove_everything(chat)
    chat.page.get_by_role("textbox", name="System text").fill("Another.")
    chat.button("Reset context").click()
    chat.send("a")
    assert len(read_saved(chat)) == 1
    chat.choose_model(FIXTURE)
    chat.button("Remove").click()
    expect(chat.page.get_by_text("was removed from this browser")).to_be_visible()
    assert read_saved(chat) == []


def remove_everything(chat: ChatPage) -> None:
    """Use the memory's own button."""
    memory = MemoryPage(chat.page)
    memory.root.locator("[data-part=files] > summary").click()
    memory.button("Delete everything").click()
    memory.button("Yes, delete everything").click()
    chat.wait_until(f"async () => (await ({READ_SAVED})()).length === 0")
    memory.button("Close").click()
