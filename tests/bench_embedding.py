"""Measure embedding and retrieval in the browser: `python tests/bench_embedding.py [--json]`.

Takes numbers of records (`--records 10000,100000`). Gives texts a second on the kernel module, and
medians of retrieval over so many records, words alone and with vectors, all in Pyodide in
Chromium on one thread. Nothing here is a test: a busy machine makes all of it slower.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from py_core.serving.cache_folder import find_cache_folder  # noqa: E402
from py_core.serving.prepare import Places, prepare  # noqa: E402
from py_core.serving.site import ServedModel, Site  # noqa: E402
from py_core.serving.static_server import start  # noqa: E402
from py_core.serving.vendor_lock import read_vendor_lock  # noqa: E402
from py_core.serving.wheel import build_wheel  # noqa: E402
from tests.browser.engines import CHROMIUM_FLAGS, find_chromium  # noqa: E402
from tests.browser.pyodide_bundle import HARNESS, write_bundle  # noqa: E402

DEADLINE_MS = 600_000
START_WORKER = """order => new Promise((resolve) => {
    const worker = new Worker('/bench/embedder_worker.js', { type: 'module' });
    worker.onerror = (event) => resolve({ failure: event.message });
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(order);
})"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print lines or one JSON object."""
    parser = argparse.ArgumentParser(description="Measure embedding and retrieval in Chromium.")
    parser.add_argument("--records", default="10000,100000", help="numbers of records")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    report = measure([int(count) for count in chosen.records.split(",")])
    if chosen.json:
        print(json.dumps(report))  # noqa: T201
        return 0
    for name, value in report.items():
        print(f"{name}: {value}")  # noqa: T201
    return 0


def measure(counts: Sequence[int]) -> dict[str, Any]:
    """Run the bench in a fresh worker.

    Raises:
        RuntimeError: it failed inside the browser.
    """
    embedder = _find_embedder()
    served = ServedModel("embedder", "Embedder", embedder, None, role="embedder")
    with tempfile.TemporaryDirectory() as name:
        bundle = write_bundle(Path(name))
        folders = {"harness": HARNESS, "bench": ROOT / "tests" / "bench", "bundle": bundle.parent}
        lock = read_vendor_lock(ROOT / "web" / "vendor.lock.json")
        site = Site(ROOT, lock, [served], extra_folders=folders)
        order = {
            "ourWheel": f"/wheels/{build_wheel(ROOT).file_name}",
            "embedder": f"/models/{embedder.name}",
            "counts": json.dumps(list(counts)),
        }
        with start(site) as server:
            found = _run(f"{server.address}harness/index.html", order)
    if "failure" in found:
        raise RuntimeError(found["failure"])
    report: dict[str, Any] = json.loads(found["report"])
    return report | {"file_bytes": embedder.stat().st_size}


def _find_embedder() -> Path:
    """Give the converted embedder, made first where the cache has none."""
    cache = find_cache_folder(os.environ, sys.platform)
    places = Places(ROOT, cache, os.environ.get("TINYLOOM_CDN"))
    prepare(places, "smollm2", report=lambda line: None)
    embedder = read_vendor_lock(ROOT / "web" / "vendor.lock.json").embedder
    if embedder is None:
        raise RuntimeError
    return cache / "models" / embedder.converted.path


def _run(address: str, order: dict[str, str]) -> dict[str, str]:
    path = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        page = browser.new_page()
        page.set_default_timeout(DEADLINE_MS)
        page.goto(address)
        found: dict[str, str] = page.evaluate(START_WORKER, order)
        browser.close()
        return found


if __name__ == "__main__":
    sys.exit(main())
