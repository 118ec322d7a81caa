"""This project's engine, as its own worker runs it.

Takes a browser and the address of the site; gives the speeds that a chat turn reports, and the
times that only the page can see. Does not know the peer.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Route

from tests.bench.peer_page import SENTENCE, TOKENS

PAGE_WORKER, OUR_DRIVER = (
    (Path(__file__).parent / name).read_text(encoding="utf-8")
    for name in ("page_worker.js", "our_driver.js")
)
DRIVER = f"({OUR_DRIVER})({PAGE_WORKER})"
REPEATED = 7  # with the frame of a chat about as many tokens as the peer's eight
NEAR, FAR = 3, 96  # of the sentence: decoding then runs over positions near 100 and 2,000
ISOLATING = ("cross-origin-opener-policy", "cross-origin-embedder-policy")
STOP_EVENTS = {"prefill": ("progress", FAR), "decode": ("token", NEAR)}
"""The event after which a run is stopped, and the length of its prompt."""

INSTANTIATED = "return new WebAssembly.Instance(module, { env: { memory } }).exports;"
TIMED = """const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  self.kernelMs = 0;
  const timed = (run) => (...given) => {
    const begin = performance.now();
    const result = run(...given);
    self.kernelMs += performance.now() - begin;
    return result;
  };
  const entries = Object.entries(exports).map(([name, one]) => [
    name, typeof one === 'function' ? timed(one) : one]);
  return Object.fromEntries(entries);"""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one answer took."""

    prompt_tokens: int
    new_tokens: int
    prefill_ms: float
    decode_ms: float
    prefill_tokens_per_s: float
    decode_tokens_per_s: float


class OurPage:
    """One loaded model; one thread means a page that may not share memory.

    Args:
        browser: where the page opens.
        address: of the site.
        threads: 1, or as many as the engine chooses.
        is_timed: whether the time inside the kernels is taken, which costs a little.
    """

    def __init__(
        self, browser: Browser, address: str, threads: int, *, is_timed: bool = False
    ) -> None:
        context = browser.new_context(service_workers="block")
        if threads == 1:
            context.route(address, _serve_without_isolation)
        if is_timed:
            context.route("**/worker/kernel_threads.js", _serve_timed)
        self._page = context.new_page()
        self._page.goto(address)
        is_isolated = self._page.evaluate(f"window.bench = {DRIVER}, crossOriginIsolated")
        assert is_isolated == (threads > 1)
        self.facts: dict[str, Any] = self._page.evaluate("bench.load('SmolLM2')")
        assert self.facts["op_set"] == "simd", self.facts

    def run(self, turn: int) -> dict[str, float]:
        """Answer a message in an empty context; give tokens a second."""
        found = self.ask(f"{turn} {SENTENCE * REPEATED}")
        assert found.new_tokens == found.prompt_tokens
        return {"prefill": found.prefill_tokens_per_s, "decode": found.decode_tokens_per_s}

    def ask(self, text: str, *, tokens: int = TOKENS, is_new: bool = True) -> Turn:
        """Answer a message, in an empty context or after what was said."""
        result = self._page.evaluate("(order) => bench.run(order)", [text, tokens, is_new])
        assert result["generated_tokens"] == tokens
        return Turn(
            result["prompt_tokens"],
            result["prompt_tokens"] - result["reused_tokens"],
            float(result["prefill_ms"]),
            float(result["decode_ms"]),
            float(result["prefill_tokens_per_s"]),
            float(result["decode_tokens_per_s"]),
        )

    def decode_near_and_far(self, turn: int) -> tuple[Turn, Turn]:
        """Decode after a short prompt and after a long one."""
        return self.ask(f"{turn} {SENTENCE * NEAR}"), self.ask(f"{turn} {SENTENCE * FAR}")

    def two_turns(self, turn: int) -> tuple[Turn, Turn]:
        """Answer a message, then a short one in the same conversation."""
        return (
            self.ask(f"{turn} {SENTENCE * REPEATED}"),
            self.ask("And what did he build next?", is_new=False),
        )

    def stop(self, phase: str, delay_ms: int) -> float:
        """Stop a run in the middle of a phase; give milliseconds from the wish to the outcome."""
        event, repeated = STOP_EVENTS[phase]
        order = [f"{delay_ms} {SENTENCE * repeated}", event, delay_ms]
        result = self._page.evaluate("(order) => bench.stop(order)", order)
        assert result["finish_reason"] == "stopped", result
        return float(result["ms"])

    def python_share(self, turn: int) -> float:
        """Give the part of a decoded token's time that is not spent in the kernels."""
        text = f"{turn} {SENTENCE * NEAR}"
        begin = self._kernel_ms()
        self.ask(text, tokens=1)
        prefilled = self._kernel_ms()
        found = self.ask(f"{text} ", tokens=TOKENS)
        in_kernels = self._kernel_ms() - prefilled - (prefilled - begin)
        return 1 - in_kernels / found.decode_ms

    def _kernel_ms(self) -> float:
        # The page has a worker of its own besides the driver's; its kernels do nothing.
        workers = self._page.workers
        return sum(float(worker.evaluate("self.kernelMs ?? 0")) for worker in workers)


def _serve_without_isolation(route: Route) -> None:
    response = route.fetch()
    headers = {name: value for name, value in response.headers.items() if name not in ISOLATING}
    route.fulfill(response=response, headers=headers)


def _serve_timed(route: Route) -> None:
    response = route.fetch()
    source = response.text()
    assert INSTANTIATED in source, "kernel_threads.js no longer instantiates as it did"
    route.fulfill(response=response, body=source.replace(INSTANTIATED, TIMED))
