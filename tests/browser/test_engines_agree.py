"""The engines agree: numpy, the kernels on Python's memory, the kernels with threads."""

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Route

from py_core.serving.static_server import RunningServer
from tests.browser.chat_page import GREEDY, ChatPage

TURNS: list[dict[str, Any]] = [
    {"text": "the rest of it", "settings": GREEDY | {"max_tokens": 24}},
    {"text": "and you", "settings": GREEDY | {"temperature": 1.0, "seed": 7, "max_tokens": 24}},
]
ISOLATING = ("cross-origin-opener-policy", "cross-origin-embedder-policy")


def ids_of(chat: ChatPage, label: str, op_set: str) -> list[list[int]]:
    """Hold the conversation in a worker of its own and give the ids of each answer."""
    asked = chat.ask_worker(label, *TURNS, op_set=op_set)
    assert asked["facts"]["op_set"] == op_set
    return [turn["output_ids"] for turn in asked["turns"]]


def serve_without_isolation(route: Route) -> None:
    """Give the page without the headers that allow shared memory."""
    response = route.fetch()
    headers = {name: value for name, value in response.headers.items() if name not in ISOLATING}
    route.fulfill(response=response, headers=headers)


def test_numpy_and_the_kernels_choose_the_same_ids(chat: ChatPage):
    """Greedy and drawn, with float32 weights; margins of random weights are wide enough."""
    assert ids_of(chat, "Grouped f32", "simd") == ids_of(chat, "Grouped f32", "numpy")


def test_without_isolation_the_kernels_run_on_pythons_own_memory(
    chromium: Browser, context: BrowserContext, server: RunningServer
):
    """No shared memory, one thread, the same ids."""
    isolated = ChatPage.open(context, server.address)
    assert isolated.page.evaluate("crossOriginIsolated")
    expected = ids_of(isolated, "Grouped q4_1", "simd")
    plain = chromium.new_context(service_workers="block")
    plain.route(server.address, serve_without_isolation)
    chat = ChatPage.open(plain, server.address)
    assert not chat.page.evaluate("crossOriginIsolated")
    assert ids_of(chat, "Grouped q4_1", "simd") == expected
    plain.close()
