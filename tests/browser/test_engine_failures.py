"""What goes wrong with the kernels in a page costs speed, and changes no answer."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Route

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import ChatPage
from tests.browser.test_engines_agree import TURNS

REFUSE = "throw new RangeError('refused');"
NO_MODULE = {"return new WebAssembly.Instance(module, { env: { memory } }).exports;": REFUSE}
NO_GROWTH = {
    "this.#memory.grow(pages);": REFUSE,
    "const FIRST_PAGES = 64;": "const FIRST_PAGES = 6;",  # too few for the fixture's half megabyte
}


@pytest.mark.parametrize(
    ("changes", "op_set"),
    [(NO_MODULE, "numpy"), (NO_GROWTH, "simd")],
    ids=["a module that does not instantiate", "a memory for threads that cannot grow"],
)
def test_the_answer_comes_from_the_next_best_engine(
    chromium: Browser, context: BrowserContext, server: RunningServer, changes, op_set
):
    """Numpy, or one thread on Python's own memory; the ids are those of the engine asked for."""

    def serve_broken(route: Route) -> None:
        response = route.fetch()
        source = response.text()
        for old, new in changes.items():
            assert old in source
            source = source.replace(old, new)
        route.fulfill(response=response, body=source)

    whole = ChatPage.open(context, server.address)
    expected = whole.ask_worker("Grouped f32", *TURNS, op_set="simd")
    assert expected["facts"]["op_set"] == "simd"
    crippled = chromium.new_context(service_workers="block")
    crippled.route("**/worker/kernel_threads.js", serve_broken)
    chat = ChatPage.open(crippled, server.address)
    found = chat.ask_worker("Grouped f32", *TURNS, op_set="simd")
    assert (found["facts"]["op_set"], found["facts"]["threads"]) == (op_set, 1)
    assert [turn["output_ids"] for turn in found["turns"]] == [
        turn["output_ids"] for turn in expected["turns"]
    ]
    crippled.close()
