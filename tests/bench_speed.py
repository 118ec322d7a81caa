"""Measure this engine and a peer in one browser: `python tests/bench_speed.py --peer FOLDER`.

Takes the unpacked npm package `@wllama/wllama` (llama.cpp in WebAssembly). Gives tokens a second
of prefill and decode with one thread and with two, each the median of interleaved runs, and the
ratios; then what decoding loses far into the context, the time to the first token of a second
turn, and the time that stopping takes. Without `--peer` the ratios are left out;
`--python-share` measures only how much of a token's time is not spent in the kernels.
Nothing here is a test: a busy machine makes both slower, so the ratio is what to quote.

The peer gets the same model as q8_0, its fastest format; ours is the file that the page serves. One
thread is ours on a page that is not cross-origin isolated, on Python's own memory.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, sync_playwright  # noqa: E402

from py_core.serving.cache_folder import find_cache_folder  # noqa: E402
from py_core.serving.prepare import Places, prepare  # noqa: E402
from py_core.serving.static_server import start  # noqa: E402
from tests.bench.our_page import STOP_EVENTS, OurPage  # noqa: E402
from tests.bench.peer_page import PeerPage, find_source, requantise, serve_peer  # noqa: E402
from tests.bench.speed_report import Runs, summarise, write_table  # noqa: E402
from tests.browser.engines import CHROMIUM_FLAGS, find_chromium  # noqa: E402

REPEATS = 5
LONG_REPEATS = 3  # of what reads 2,000 tokens first
STOPS = 20
THREADS = (1, 2)
PARTS = ("speed", "position", "turns", "stop")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both engines and print the table or one JSON object."""
    parser = argparse.ArgumentParser(description="Measure this engine against wllama.")
    parser.add_argument("--peer", type=Path, help="the unpacked npm package")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--stops", type=int, default=STOPS, help="stops of each phase")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="measure these")
    parser.add_argument("--threads", type=int, choices=THREADS, help="measure this number only")
    parser.add_argument("--python-share", action="store_true", help="measure only this")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    if chosen.peer and not (chosen.peer / "esm" / "index.js").is_file():
        parser.error(f"--peer {chosen.peer}: no esm/index.js there; unpack @wllama/wllama")
    threads = (chosen.threads,) if chosen.threads else THREADS
    with _open_browser() as (browser, address):
        if chosen.python_share:
            print(json.dumps({"python_share": measure_share(browser, address)}))  # noqa: T201
            return 0
        runs = measure(browser, address, peer=chosen.peer, chosen=chosen, threads=threads)
    report = summarise(runs)
    print(json.dumps(report) if chosen.json else write_table(report))  # noqa: T201
    return 0


def measure(
    browser: Browser,
    address: str,
    *,
    peer: Path | None,
    chosen: argparse.Namespace,
    threads: Sequence[int],
) -> Runs:
    """Load both engines once for each number of threads, then run them in turn."""
    runs = Runs()
    with ExitStack() as stack:
        pages: dict[tuple[str, int], PeerPage | OurPage] = {}
        if peer:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            requantise(find_source(_cache()), folder / "model.gguf")
            peer_address = stack.enter_context(serve_peer(peer, folder))
            for count in threads:
                pages["peer", count] = PeerPage(browser, peer_address, count)
        ours = {count: OurPage(browser, address, count) for count in threads}
        pages |= {("ours", count): page for count, page in ours.items()}
        if "speed" in chosen.parts:
            _run_in_turn(pages, chosen.repeats, runs)
        for count, page in ours.items():
            _measure_the_rest(page, count, chosen, runs)
    return runs


def _measure_the_rest(page: OurPage, threads: int, chosen: argparse.Namespace, runs: Runs) -> None:
    longer = range(min(LONG_REPEATS, chosen.repeats))
    if "position" in chosen.parts:
        _say(f"{threads} thread(s): near the beginning and far into the context")
        runs.near_and_far[threads] = [page.decode_near_and_far(turn) for turn in longer]
    if "turns" in chosen.parts:
        _say(f"{threads} thread(s): second turns")
        runs.turns[threads] = [page.two_turns(turn) for turn in longer]
    if "stop" in chosen.parts:
        _say(f"{threads} thread(s): stops")
        delays = [40 + 17 * number for number in range(chosen.stops)]
        for phase in STOP_EVENTS:
            runs.stops[f"{phase}_{threads}"] = [page.stop(phase, delay) for delay in delays]


def measure_share(browser: Browser, address: str) -> float:
    """Give the median share of Python with one thread, of five runs after one that warms up.

    A thread of the kernels never answers, so its worker cannot be asked for its time.
    """
    page = OurPage(browser, address, 1, is_timed=True)
    return round(median([page.python_share(turn) for turn in range(REPEATS + 1)][1:]), 4)


@contextmanager
def _open_browser() -> Iterator[tuple[Browser, str]]:
    site = prepare(Places(ROOT, _cache(), os.environ.get("TINYLOOM_CDN")), "smollm2", report=_say)
    chromium = find_chromium()
    with start(site) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser, server.address
        browser.close()


def _cache() -> Path:
    return find_cache_folder(os.environ, sys.platform)


def _run_in_turn(
    pages: dict[tuple[str, int], PeerPage | OurPage], repeats: int, runs: Runs
) -> None:
    """Run every page `repeats` times after one run that warms up."""
    for turn in range(repeats + 1):
        for (engine, threads), page in pages.items():
            for kind, speed in page.run(turn).items():
                _say(f"run {turn}: {engine}, {threads} thread(s), {kind} {speed:.1f}")
                if turn:
                    runs.note(engine, f"{kind}_{threads}", speed)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
