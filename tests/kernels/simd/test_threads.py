"""Threads change no bit, and a thread that is lost changes no answer.

A run is recorded in the `wasmtime` runtime on one thread and replayed under Node with the module
for threads: another engine, another memory, other numbers of seats, the same bytes at every step.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.decoder import Decoder
from kernels.simd.module_bytes import SINGLE, THREADS, read_module
from kernels.simd.port import STACK_BYTES, AnyArray
from kernels.simd.records import CacheKind
from kernels.simd.simd_ops import SimdOps
from tests.kernels.simd.recording_port import RecordingPort
from tests.kernels.simd.test_simd_ops import IDS, LONG_IDS, WIDE, stored
from tests.kernels.simd.wasmtime_port import WasmtimePort

MODULE_FOLDER = Path(__file__).parents[3] / "kernels" / "simd"
SEATS = 4
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="No Node on this machine; install Node 20.")


def make_order(folder: Path, cache_kind: CacheKind = CacheKind.F32) -> dict[str, Any]:
    """Record a prefill in two chunks and two single tokens."""
    port = RecordingPort(read_module(SINGLE), SEATS)
    ops = SimdOps(WIDE, port, cache_kind=cache_kind, uses_team=False)
    for _ in ops.load(stored("q4_1")):
        pass
    decoder = Decoder(WIDE, ops)
    cache = decoder.new_cache(512)
    decoder.forward(IDS, cache)  # sizes the buffers for the cache
    port.start()
    decoder.forward(LONG_IDS[:200], cache)
    for token in (5, 6):
        decoder.forward([token], cache)
    image = folder / "memory.bin"
    image.write_bytes(port.memory_before)
    return {
        "module": str(MODULE_FOLDER / THREADS),
        "image": str(image),
        "script": port.script,
        "scratch": ops._require()[1].scratch.record,
        "teams": port.teams,
        "stacks": port.stacks,
        "stack_bytes": STACK_BYTES,
        "stack_end": port.stack_end,
    }


def replay(folder: Path, order: dict[str, Any]) -> dict[str, Any]:
    """Run the script under Node."""
    path = folder / "order.json"
    path.write_text(json.dumps(order))
    driver = Path(__file__).parent / "threads_driver.mjs"
    done = subprocess.run(
        [str(NODE), str(driver), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@needs_node
@pytest.mark.parametrize("cache_kind", CacheKind)
def test_any_number_of_threads_gives_the_bytes_of_one(tmp_path, cache_kind):
    """One to four seats on a machine with fewer cores too, for both kinds of cache."""
    order = make_order(tmp_path, cache_kind)
    assert sum(step[0] == "expect" for step in order["script"]) > 10
    for seats in range(1, SEATS + 1):
        assert replay(tmp_path, order | {"seats": seats}) == {"differences": [], "lost": -1}


@needs_node
def test_a_lost_thread_is_reported_by_the_call_that_misses_it(tmp_path):
    """The other threads do not wait for it for ever, and what came before was right."""
    order = make_order(tmp_path)
    result = replay(tmp_path, order | {"seats": 2, "lose": 8})
    assert result["differences"] == []
    assert order["script"][result["lost"]][0] == "call"


class ForgetfulPort(WasmtimePort):
    """Reports a lost thread at one call, after spoiling what that call should have written."""

    def __init__(self, lose_at: int) -> None:
        super().__init__(read_module(SINGLE))
        self._left = lose_at
        self._written: list[int] = []

    def write(self, address: int, data: AnyArray) -> None:
        """Remember where something was written."""
        self._written.append(address)
        super().write(address, data)

    def call(self, name: str, *arguments: int) -> int:
        """Fail once, in a block."""
        outcome = super().call(name, *arguments)
        if name not in {"layers", "logits"}:
            return outcome
        self._left -= 1
        if self._left:
            return outcome
        target = arguments[4] if name == "logits" else arguments[5]
        super().write(target, np.full(WIDE.hidden_size, np.nan, dtype=np.float32))
        return 1


@pytest.mark.parametrize("lose_at", [1, 2, 3, 4])
def test_a_lost_thread_changes_no_answer(lose_at: int):
    """In the layers or the logits, of the prompt or of a token."""
    logits = []
    for port in (WasmtimePort(read_module(SINGLE)), ForgetfulPort(lose_at)):
        ops = SimdOps(WIDE, port)
        for _ in ops.load(stored("q4_1")):
            pass
        decoder = Decoder(WIDE, ops)
        cache = decoder.new_cache()
        logits.append([decoder.forward(IDS, cache), decoder.forward([7], cache)])
        assert ops.has_lost_a_thread == isinstance(port, ForgetfulPort)
    np.testing.assert_array_equal(logits[0], logits[1])
