"""Measure this engine and a peer in one browser: `python tests/bench_speed.py --peer FOLDER`.

Takes the unpacked npm package `@wllama/wllama` (llama.cpp in WebAssembly). Gives tokens a second
of prefill and decode with one thread and with two, each the median of interleaved runs, and the
ratios.
Nothing here is a test: a busy machine makes both slower, so the ratio is what to quote.

The peer gets the same model as q8_0, its fastest format; ours is the file that the page serves. One
thread is ours on a page that is not cross-origin isolated, on Python's own memory.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from py_core.serving.cache_folder import find_cache_folder  # noqa: E402
from py_core.serving.prepare import Places, prepare  # noqa: E402
from py_core.serving.static_server import start  # noqa: E402
from tests.bench.our_page import OurPage  # noqa: E402
from tests.bench.peer_page import PeerPage, find_source, requantise, serve_peer  # noqa: E402
from tests.browser.engines import CHROMIUM_FLAGS, find_chromium  # noqa: E402

REPEATS = 5
THREADS = (1, 2)
Runs: TypeAlias = dict[str, dict[str, list[float]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both engines and print the table or one JSON object."""
    parser = argparse.ArgumentParser(description="Measure this engine against wllama.")
    parser.add_argument("--peer", required=True, type=Path, help="the unpacked npm package")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--threads", type=int, choices=THREADS, help="measure this number only")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    if not (chosen.peer / "esm" / "index.js").is_file():
        parser.error(f"--peer {chosen.peer}: no esm/index.js there; unpack @wllama/wllama")
    threads = (chosen.threads,) if chosen.threads else THREADS
    report = summarise(measure(chosen.peer, chosen.repeats, threads))
    print(json.dumps(report) if chosen.json else write_table(report))  # noqa: T201
    return 0


def measure(peer: Path, repeats: int, thread_counts: Sequence[int]) -> Runs:
    """Load both engines once for each number of threads, then run them in turn."""
    cache = find_cache_folder(os.environ, sys.platform)
    site = prepare(Places(ROOT, cache, os.environ.get("TINYLOOM_CDN")), "smollm2", report=_say)
    chromium = find_chromium()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        requantise(find_source(cache), folder / "model.gguf")
        peer_address = stack.enter_context(serve_peer(peer, folder))
        ours_address = stack.enter_context(start(site)).address
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        pages: dict[tuple[str, int], PeerPage | OurPage] = {}
        for threads in thread_counts:
            pages["peer", threads] = PeerPage(browser, peer_address, threads)
            pages["ours", threads] = OurPage(browser, ours_address, threads)
        runs = _run_in_turn(pages, repeats)
        browser.close()
    return runs


def _run_in_turn(pages: dict[tuple[str, int], PeerPage | OurPage], repeats: int) -> Runs:
    """Run every page `repeats` times after one run that warms up."""
    runs: Runs = {"peer": defaultdict(list), "ours": defaultdict(list)}
    for turn in range(repeats + 1):
        for (engine, threads), page in pages.items():
            for kind, speed in page.run(turn).items():
                _say(f"run {turn}: {engine}, {threads} thread(s), {kind} {speed:.1f}")
                if turn:
                    runs[engine][f"{kind}_{threads}"].append(speed)
    return runs


def summarise(runs: Runs) -> dict[str, Any]:
    """Give medians, ratios of medians, and the raw runs."""
    medians = {
        engine: {name: statistics.median(speeds) for name, speeds in of_engine.items()}
        for engine, of_engine in runs.items()
    }
    names = sorted(medians["ours"])
    return {
        "ratios": {name: round(medians["ours"][name] / medians["peer"][name], 2) for name in names},
        "tokens_per_s": medians,
        "runs": runs,
        "machine": {"processor": _processor(), "cores": os.cpu_count()},
    }


def write_table(report: dict[str, Any]) -> str:
    """Write the table for a person."""
    lines = [f"{'tokens a second':24}{'peer':>9}{'ours':>9}{'ratio':>8}"]
    for name, ratio in report["ratios"].items():
        kind, threads = name.split("_")
        peer, ours = (report["tokens_per_s"][engine][name] for engine in ("peer", "ours"))
        lines.append(f"{kind + ', ' + threads + ' thread(s)':24}{peer:9.1f}{ours:9.1f}{ratio:8.2f}")
    machine = report["machine"]
    lines.append(f"{machine['processor']}, {machine['cores']} cores")
    return "\n".join(lines)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
