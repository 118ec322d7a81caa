"""This project's engine, as its own worker runs it.

Takes a browser and the address of the site; gives the speeds that a chat turn reports.
Does not know the peer.
"""

from pathlib import Path

from playwright.sync_api import Browser, Route

from tests.bench.peer_page import SENTENCE, TOKENS

DRIVER = (Path(__file__).parent / "our_driver.js").read_text(encoding="utf-8")
REPEATED = 7  # with the frame of a chat about as many tokens as the peer's eight
ISOLATING = ("cross-origin-opener-policy", "cross-origin-embedder-policy")


class OurPage:
    """One loaded model; one thread means a page that may not share memory."""

    def __init__(self, browser: Browser, address: str, threads: int) -> None:
        context = browser.new_context(service_workers="block")
        if threads == 1:
            context.route(address, _serve_without_isolation)
        self._page = context.new_page()
        self._page.goto(address)
        is_isolated = self._page.evaluate(f"window.bench = {DRIVER}, crossOriginIsolated")
        assert is_isolated == (threads > 1)
        facts = self._page.evaluate("bench.load('SmolLM2')")
        assert facts["op_set"] == "simd", facts

    def run(self, turn: int) -> dict[str, float]:
        """Answer a message in an empty context; give tokens a second."""
        text = f"{turn} {SENTENCE * REPEATED}"
        result = self._page.evaluate("(order) => bench.run(order)", [text, TOKENS])
        assert result["reused_tokens"] == 0
        assert result["generated_tokens"] == TOKENS
        return {
            "prefill": float(result["prefill_tokens_per_s"]),
            "decode": float(result["decode_tokens_per_s"]),
        }


def _serve_without_isolation(route: Route) -> None:
    response = route.fetch()
    headers = {name: value for name, value in response.headers.items() if name not in ISOLATING}
    route.fulfill(response=response, headers=headers)
