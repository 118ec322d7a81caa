"""Measure what a memory of many records adds to a turn on the real page.

    python tests/browser/bench_turn_memory.py --records 1000 [--json]

Takes a number of records; fills the browser's database, opens the page, asks a model of 4,096 and
one of 2,048 tokens. Prints, in milliseconds as the page sees them, the time from the message to
the plan with memory and without (`/no-memory`), and the middle time of each stage.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import sync_playwright

from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.prepare import Places, prepare
from py_core.serving.static_server import start
from tests.browser.bench_memory import PAGE_WORKER, ROOT, fill
from tests.browser.chat_page import ChatPage
from tests.browser.engines import CHROMIUM_FLAGS, ENGINES
from tests.browser.profiles import DEADLINE_MS
from tests.py_core.model_files import make_model

QUESTIONS = [
    "Which street did parcel {} go to?",
    "What does note number {} say about street 12?",
    "Where is parcel {} now, and which note says so?",
]
TURNS = 24

MEASURE = """async ({ label, questions }) => {
  const startWorker = PAGE_WORKER;
  const { send, ask, end } = startWorker();
  const { models } = await ask('store.list', {});
  const model = models.find((entry) => entry.label === label);
  if (!model) throw new Error(JSON.stringify(models));
  const opened = await ask('store.open', { sha256: model.sha256 });
  await ask('model.load', { ...opened, op_set: 'auto' });
  const settings = { temperature: 0, top_k: 40, top_p: 1, max_tokens: 1, seed: 1 };
  const time = async (text) => {
    await ask('chat.reset', {});
    const begin = performance.now();
    let show;
    const plan = new Promise((resolve) => { show = resolve; });
    const { reply } = send('chat.send', { text, system: '', settings }, ({ event, data }) => {
      if (event === 'plan') show(data);
    });
    const data = await plan;
    const took = performance.now() - begin;
    await reply;
    return { took, data };
  };
  let indexed = 0;
  const begun = performance.now();
  do {
    const { data } = await time(questions[0]);
    const local = data.retrieval.lanes.find(({ lane }) => lane === 'local');
    indexed = local.status === 'answered' ? data.retrieval.indexed : 0;
  } while (indexed === 0 && performance.now() - begun < 180_000);
  const warm_ms = performance.now() - begun;
  const taken = [];
  const plain = [];
  let retrieval = null;
  for (const question of questions) {
    plain.push((await time(`/no-memory ${question}`)).took);
    const { took, data } = await time(question);
    taken.push(took);
    retrieval = data.retrieval;
  }
  end();
  return { indexed, warm_ms, taken, plain, stages: retrieval.stages,
    candidates: retrieval.candidates.length };
}""".replace("PAGE_WORKER", PAGE_WORKER)


def measure(records: int) -> dict[str, Any]:
    """Run the bench in a fresh profile."""
    path = ENGINES["chromium"].find()
    site = prepare(Places(ROOT, find_cache_folder({}, sys.platform), None), "fixture", report=_say)
    figures: dict[str, Any] = {"records": records}
    with start(site) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        context = browser.new_context()
        context.set_default_timeout(DEADLINE_MS * 4)
        bare = context.new_page()
        bare.goto(f"{server.address}assets.json")
        fill(bare, records)
        chat = ChatPage.open(context, server.address)
        for tokens in (4096, 2048):
            figures[f"context {tokens}"] = _ask(chat, tokens)
        browser.close()
    return figures


def _ask(chat: ChatPage, tokens: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"wide-{tokens}.slm"
        content = make_model(context_tokens=tokens, seed=tokens)
        path.write_bytes(content)
        chat.open_file(path)
        chat.wait_for_model(hashlib.sha256(content).hexdigest())
        questions = [QUESTIONS[n % len(QUESTIONS)].format(n * 37) for n in range(TURNS)]
        order = {"label": path.stem, "questions": questions}
        found: dict[str, Any] = chat.page.evaluate(MEASURE, order)
    with_memory, without = median(found["taken"]), median(found["plain"])
    return {
        "indexed": found["indexed"],
        "candidates": found["candidates"],
        "until_answered_ms": round(found["warm_ms"]),
        "with_memory_ms": round(with_memory, 1),
        "without_ms": round(without, 1),
        "added_ms": round(with_memory - without, 1),
        "stages_p50_ms": {s["stage"]: round(s["p50_ms"], 2) for s in found["stages"]},
    }


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure what memory adds to a turn.")
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.records)
    sys.stdout.write(json.dumps(figures, indent=None if options.json else 1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
