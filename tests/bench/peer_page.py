"""The peer engine in a page of its own.

Takes the unpacked package and the model as GGUF; gives speeds of one completion.
Does not know this project's engine.
"""

import functools
import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from playwright.sync_api import Browser

from py_core.serving.pinned_bytes import pin_of_file

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "reference" / "smollm2_golden.json"
Q8_FILE_TYPE = 7
TOKENS = 48
PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
import { Wllama } from './wllama/index.js';
let engine;
window.load = async (threads) => {
  const wasm = new URL('./wllama/wasm/wllama.wasm', location.href).href;
  engine = new Wllama({ default: wasm }, { suppressNativeLog: true });
  const blob = await (await fetch('./model.gguf')).blob();
  const settings = { n_ctx: 2048, n_threads: threads, n_gpu_layers: 0, warmup: false, seed: 1 };
  await engine.loadModel([blob], settings);
};
window.run = async ([prompt, tokens]) => {
  let last;
  await engine.createCompletion({
    prompt, max_tokens: tokens, temperature: 0, ignore_eos: true, stream: true,
    onData: (data) => { last = data; },
  });
  return last.timings;
};
window.isThere = true;
</script>"""
SENTENCE = "Once upon a time, in a quiet village by the sea, there lived an old clockmaker who "
REPEATED = 8


class PeerPage:
    """One loaded peer with a number of threads."""

    def __init__(self, browser: Browser, address: str, threads: int) -> None:
        self._page = browser.new_page()
        self._page.goto(address)
        self._page.wait_for_function("() => window.isThere")
        self._page.evaluate("(threads) => load(threads)", threads)

    def run(self, turn: int) -> dict[str, float]:
        """Complete a prompt that shares no prefix with the one before; give tokens a second."""
        prompt = f"{turn} {SENTENCE * REPEATED}"
        timings = self._page.evaluate("(order) => run(order)", [prompt, TOKENS])
        return {
            "prefill": float(timings["prompt_per_second"]),
            "decode": float(timings["predicted_per_second"]),
        }


def find_source(cache: Path) -> Path:
    """Find the model's GGUF file in the project's cache, by hash."""
    wanted = json.loads(GOLDEN.read_text(encoding="utf-8"))["source"]["sha256"]
    for path in sorted(cache.rglob("*.gguf")):
        pin = pin_of_file(path)
        if pin is not None and pin.sha256 == wanted:
            return path
    reason = "SmolLM2 is not in the cache; run `python serve.py --prepare-only`."
    raise SystemExit(reason)


def requantise(source: Path, out: Path) -> None:
    """Write the model with all matrices as Q8_0, which the peer computes fastest."""
    reader, writer = GGUFReader(source), GGUFWriter(out, "llama")
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        value = field.contents()
        if field.types[0] == GGUFValueType.ARRAY:
            writer.add_array(field.name, value)
        else:
            value = Q8_FILE_TYPE if field.name == "general.file_type" else value
            writer.add_key_value(field.name, value, field.types[0])
    for tensor in reader.tensors:
        weights = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        weights = weights.reshape([int(size) for size in reversed(tensor.shape)])
        if weights.ndim == 1:
            writer.add_tensor(tensor.name, weights)
            continue
        kind = GGMLQuantizationType.Q8_0
        writer.add_tensor(tensor.name, gguf.quants.quantize(weights, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@contextmanager
def serve_peer(package: Path, folder: Path) -> Iterator[str]:
    """Serve the peer, its page and `model.gguf` from a folder, cross-origin isolated."""
    shutil.copytree(package / "esm", folder / "wllama")
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    handler = functools.partial(_Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/index.html"
    server.shutdown()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""
