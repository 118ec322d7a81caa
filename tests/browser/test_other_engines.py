"""The page boots and answers in Firefox and in WebKit, with the very ids of Chromium."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext

from py_core.serving.static_server import RunningServer
from tests.browser import webkit_driver
from tests.browser.chat_page import ASK_WORKER, FIXTURE, GREEDY, ChatPage
from tests.browser.engines import ENGINES
from tests.browser.firefox_driver import drive_firefox
from tests.browser.profiles import demand_engine

MESSAGE = "the"
QUANTISED = "Grouped q4_1"
"""The page loads the float32 model, its second worker this one: both kinds of kernels run."""
CONTROLS = {
    "option": f"//select[@id='model-choice']/option[starts-with(., '{FIXTURE}')]",
    "Model": "//select[@id=//label[normalize-space()='Model']/@for]",
    "Load model": "//button[normalize-space()='Load model']",
    "loaded": "//dt[normalize-space()='Context']",
    "Message": "//textarea[@id=//label[normalize-space()='Message']/@for]",
    "Send": "//button[normalize-space()='Send']",
    "finished": "//article[@data-role='assistant']//*[@data-part='outcome'][contains(., 'tokens')]",
    "answer": "//article[@data-role='assistant']//*[@data-part='text']",
}
TURNS: list[dict[str, Any]] = [
    {"text": MESSAGE, "settings": GREEDY},
    {"text": "a", "settings": GREEDY | {"temperature": 1.0, "seed": 7}},
]


def make_order(address: str) -> dict[str, Any]:
    """Say what to do, for any driver."""
    return {
        "address": address,
        "controls": CONTROLS,
        "message": MESSAGE,
        "ask": ASK_WORKER,
        "order": {"label": QUANTISED, "turns": TURNS},
    }


def expect_same(result: dict[str, Any], context: BrowserContext, address: str) -> None:
    """Compare with Chromium: the page's text, the prompts, the ids of a greedy and a drawn answer.

    Each engine runs the kernels, Chromium and Firefox with as many threads as it finds useful.
    """
    chat = ChatPage.open(context, address)
    chat.load_model(FIXTURE)
    here = chat.ask_worker(QUANTISED, *TURNS)
    assert result["asked"]["facts"]["op_set"] == here["facts"]["op_set"] == "simd"
    assert result["boot"] == "ready"
    assert len(here["prompt_hashes"]) == len(TURNS)
    assert result["asked"]["prompt_hashes"] == here["prompt_hashes"]
    assert result["answer"] == chat.send(MESSAGE).text
    for found, expected in zip(result["asked"]["turns"], here["turns"], strict=True):
        assert found["output_ids"] == expected["output_ids"]
        assert found["finish_reason"] == expected["finish_reason"]


def test_firefox_boots_and_answers_like_chromium(context: BrowserContext, server: RunningServer):
    """One turn on the page and two with its worker, through WebDriver BiDi."""
    executable = demand_engine(ENGINES["firefox"])
    result = drive_firefox("firefox_driver.mjs", make_order(server.address), executable)
    expect_same(result, context, server.address)


# selenium passes its own deprecated argument when it starts this driver.
@pytest.mark.filterwarnings("ignore:setting remote_server_addr:DeprecationWarning")
def test_webkit_boots_and_answers_like_chromium(context: BrowserContext, server: RunningServer):
    """One turn on the page and two with its worker, through WebKit's own driver."""
    executable = demand_engine(ENGINES["webkit"])
    result = webkit_driver.hold_one_turn(executable, make_order(server.address))
    expect_same(result, context, server.address)
