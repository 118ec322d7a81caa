"""Measure a memory of many records on the real page.

    python tests/browser/bench_memory.py --records 50000 [--json]

Takes a number of records; fills the browser's database and prints how long the view takes to open
in a new visit, before the heads were packed and after, a search, a write and a deletion: medians of
five, in milliseconds, as the page sees them.
"""

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import sync_playwright

from py_core.records.record_text import write_record
from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.prepare import Places, prepare
from py_core.serving.static_server import start
from py_core.store.heads import Standing, make_head, write_head
from py_core.store.packs import PACK_ROWS
from tests.browser.chat_page import ChatPage
from tests.browser.engines import CHROMIUM_FLAGS, ENGINES
from tests.browser.memory_page import run_in_page
from tests.browser.profiles import DEADLINE_MS
from tests.py_core.memory.heads import make_said

ROOT = Path(__file__).resolve().parents[2]
PAGE_WORKER = (ROOT / "tests" / "bench" / "page_worker.js").read_text(encoding="utf-8")
ROWS_PER_COMMIT = 2_500
REPEATS = 5
POLL_MS = 250

FILL = """async (port, rows) => {
  const { revision } = JSON.parse(await port.ledger_changes('cursor', 0));
  return port.ledger_commit(revision, JSON.stringify(rows));
}"""

COUNT_PACKS = """async (port) => {
  const { rows } = JSON.parse(await port.ledger_changes('packs', 0));
  return rows.length;
}"""

# A visit is a worker of its own: it boots, lists the memory, and does the rest in the last one.
MEASURE = """async ({ visits, repeats }) => {
  const startWorker = PAGE_WORKER;
  const all = { search: '', filters: {}, offset: 0, limit: 50 };
  const figures = { open: [], reopen: [], search: [], write: [], forget: [] };
  let total = 0;
  const startVisit = async () => {
    const { ask, end } = startWorker();
    const timed = async (name, kind, payload) => {
      const begin = performance.now();
      const value = await ask(kind, payload);
      figures[name].push(performance.now() - begin);
      return value;
    };
    await ask('runtime.facts', {});
    total = (await timed('open', 'memory.list', all)).total;
    await timed('reopen', 'memory.list', all);
    return { end, timed };
  };
  for (let visit = 1; visit < visits; visit += 1) (await startVisit()).end();
  const { end, timed } = await startVisit();
  for (let turn = 0; turn < repeats; turn += 1) {
    const search = `number ${turn * 977} `;
    await timed('search', 'memory.list', { ...all, search });
  }
  for (let turn = 0; turn < repeats; turn += 1) {
    const keep = { rule: 'forever', until: '' };
    const text = `The bench wrote line ${turn} into its notebook`;
    const change = { action: 'remember', text, sources: [], subject: '', keep, blacken: false };
    const made = await timed('write', 'memory.apply', { change });
    const record_ids = [made.kept[0].record_id];
    await timed('forget', 'memory.apply', { change: { action: 'forget', record_ids } });
  }
  end();
  return { total, figures };
}""".replace("PAGE_WORKER", PAGE_WORKER)


def measure(records: int) -> dict[str, Any]:
    """Run the bench in a fresh profile."""
    path = ENGINES["chromium"].find()
    site = prepare(Places(ROOT, find_cache_folder({}, sys.platform), None), "fixture", report=_say)
    with start(site) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        context = browser.new_context()
        context.set_default_timeout(DEADLINE_MS * 4)
        page = context.new_page()
        page.goto(f"{server.address}assets.json")
        fill(page, records)
        first = page.evaluate(MEASURE, {"visits": 1, "repeats": 0})
        _let_it_pack(ChatPage.open(context, server.address), records)
        found = page.evaluate(MEASURE, {"visits": REPEATS, "repeats": REPEATS})
        browser.close()
    medians = {f"{name}_ms": round(median(times), 1) for name, times in found["figures"].items()}
    unpacked = round(first["figures"]["open"][0], 1)
    return {"records": found["total"], "open_unpacked_ms": unpacked, **medians}


def _let_it_pack(chat: ChatPage, records: int) -> None:
    """Stay until a visit has put the heads into packs, as one does in the background."""
    while run_in_page(chat.page, COUNT_PACKS) < records // PACK_ROWS:
        chat.page.wait_for_timeout(POLL_MS)
    chat.page.close()


def fill(page: Any, records: int) -> None:
    """Write records past the ledger, in large commits."""
    rows: list[list[str]] = []
    for number in range(records):
        text = f"Note number {number} says that parcel {number % 977} went to street {number % 89}."
        record = make_said(f"mem-{number}", text, tenant_binding="local", subject=f"s{number % 50}")
        head = make_head(record, Standing.ACTIVE, 1 + number // ROWS_PER_COMMIT)
        rows.append(["records", record.record_id, write_record(record)])
        rows.append(["heads", record.record_id, write_head(head)])
        if len(rows) >= 2 * ROWS_PER_COMMIT or number == records - 1:
            run_in_page(page, FILL, rows)
            rows = []


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure a memory of many records.")
    parser.add_argument("--records", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.records)
    lines = [f"{name}: {value}" for name, value in figures.items()]
    sys.stdout.write((json.dumps(figures) if options.json else "\n".join(lines)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
