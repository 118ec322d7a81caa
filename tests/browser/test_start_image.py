"""A later visit starts from an image of the started Python, and answers as the first one did."""

from playwright.sync_api import BrowserContext, expect

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import FIXTURE, ChatPage
from tests.browser.kept_image import damage_image, wait_for_image
from tests.browser.server_process import serve_process

SEND_AT_ONCE = """document.addEventListener('DOMContentLoaded', () => {
    if (!sessionStorage.getItem('sends')) return;
    document.querySelector('#message').value = 'a';
    document.querySelector('[data-part=send]').click();
});"""


def has_used_image(chat: ChatPage) -> bool:
    """Read it from what the page says about its start."""
    status = chat.page.get_by_role("banner").get_by_role("status")
    return "from an image" in (status.locator("[data-part=engine]").get_attribute("title") or "")


def test_later_visit_uses_the_image_without_a_server_and_answers_the_same(context: BrowserContext):
    """The image is made while nothing goes on; with it the page starts offline, too."""
    with serve_process() as server:
        chat = ChatPage.open(context, server.address)
        sha256 = chat.choose_model(FIXTURE)
        chat.load_model(FIXTURE)
        before = chat.send("a").text
        assert not has_used_image(chat)
        wait_for_image(chat.page)
        server.kill()
        chat.reload()
        assert has_used_image(chat)
        chat.wait_for_model(sha256)
        assert chat.send("a").text == before


def test_damaged_image_is_dropped_and_python_starts_as_usual(
    context: BrowserContext, server: RunningServer
):
    """Its sha256 is checked at every start; nothing of a wrong one runs."""
    chat = ChatPage.open(context, server.address)
    wait_for_image(chat.page)
    damage_image(chat.page)
    chat.reload()
    assert not has_used_image(chat)
    chat.load_model(FIXTURE)
    assert chat.send("a").text
    wait_for_image(chat.page)


def test_message_written_while_python_starts_is_answered_by_the_model_of_the_last_visit(
    context: BrowserContext, server: RunningServer
):
    """The model of the last visit is loaded again, and the message waits for both."""
    chat = ChatPage(context.new_page())
    chat.page.add_init_script(SEND_AT_ONCE)
    chat.page.goto(server.address)
    chat.wait_until_ready()
    chat.load_model(FIXTURE)
    before = chat.send("a").text
    chat.page.evaluate("() => sessionStorage.setItem('sends', 'yes')")
    chat.page.reload()
    expect(chat.page.get_by_text("Waiting for the model")).to_be_visible()
    assert chat.wait_for_answer(0).text == before


def test_freed_model_is_not_loaded_on_the_next_visit(chat: ChatPage):
    """Who gives its memory back does not want it again unasked."""
    chat.load_model(FIXTURE)
    chat.button("Free model").click()
    expect(chat.page.get_by_text("load the model to go on")).to_be_visible()
    chat.reload()
    expect(chat.page.get_by_text("No model is loaded.")).to_be_visible()


def test_another_model_may_be_chosen_while_the_last_one_loads(
    context: BrowserContext, server: RunningServer
):
    """What a person asks for goes before what was only loaded again."""
    chat = ChatPage.open(context, server.address)
    chat.load_model(FIXTURE)
    chat.page.reload()
    chat.load_model("Tiny f32")
    chat.wait_until_ready()
    assert chat.alert().count() == 0
