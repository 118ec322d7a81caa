"""The engine is the best one that can run the model, and what could not be had is said."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.byte_source import BytesSource
from kernels.kv_cache import CacheFormat
from kernels.model_config import ModelConfig
from kernels.numpy_ops import NumpyOps
from kernels.simd.kv_storage import KINDS
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.simd_ops import SimdOps
from py_core.chat.loaded_model import FileOrigin
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.model_session import ModelSession, OpSetFallback
from py_core.chat.op_sets import (
    OP_SETS,
    EngineWish,
    OpSetHome,
    OpSetHomes,
    choose_op_set,
    list_op_sets,
)
from py_core.chat.simd_engine import report_lost_thread
from tests.kernels.random_tensors import SMALL
from tests.kernels.simd.wasmtime_port import WasmtimePort
from tests.kernels.slm_bytes import read_fixture
from tests.py_core.fake_host import FakeHost


def make_simd(config: ModelConfig, cache_format: CacheFormat) -> SimdOps:
    """Run the kernels beside CPython."""
    port = WasmtimePort(read_module(SINGLE))
    return SimdOps(config, port, cache_kind=KINDS[cache_format])


BOTH: OpSetHomes = {"simd": OpSetHome(make_simd), **OP_SETS}


def load(cache_format: CacheFormat):
    """Load the 4-bit fixture on the best engine."""
    session = ModelSession(MemoryRoom(FakeHost()), BOTH)
    wish = EngineWish(cache_format=cache_format)
    source = BytesSource(read_fixture("grouped_q4_1.slm"))
    for _ in session.load_steps(source, FileOrigin("m", 1, "0"), wish):
        pass
    return session.require_model()


def test_the_kernels_are_chosen_where_they_run():
    """By themselves, or by name; numpy still by name."""
    assert choose_op_set(EngineWish("auto"), SMALL, BOTH).engine.op_set == "simd"
    assert choose_op_set(EngineWish("simd"), SMALL, BOTH).engine.op_set == "simd"
    assert choose_op_set(EngineWish("numpy"), SMALL, BOTH).engine.op_set == "numpy"
    assert not choose_op_set(EngineWish("auto"), SMALL, BOTH).op_set_notice


def test_without_webassembly_memory_numpy_runs_and_says_so_when_asked_for_more():
    """A shell that offers no memory to the kernels."""
    available = list_op_sets(FakeHost())
    assert list(available) == ["numpy"]
    assert not choose_op_set(EngineWish("auto"), SMALL, available).op_set_notice
    chosen = choose_op_set(EngineWish("simd"), SMALL, available)
    assert chosen.engine.op_set == "numpy"
    assert "cannot run here" in chosen.op_set_notice


def test_a_shape_that_the_kernels_cannot_run_falls_back_with_its_reason():
    """Also when nobody asked for an engine."""
    odd = replace(SMALL, head_dim=2, head_count=12)
    chosen = choose_op_set(EngineWish("auto"), odd, BOTH)
    assert chosen.engine.op_set == "numpy"
    assert "head_dim 2" in chosen.op_set_notice


@pytest.mark.parametrize(
    ("cache_format", "row_bytes"), [("f32", 8 * 4), ("int16", 8 * 2 + 4), ("int8", 8 + 4)]
)
def test_keys_and_values_are_kept_as_wished(cache_format, row_bytes):
    """Two layers, two key/value heads of width 8."""
    model = load(cache_format)
    assert model.ops.name == "simd"
    assert model.cache.storage.bytes_per_token == 2 * 2 * 2 * row_bytes


@pytest.mark.parametrize("cache_format", KINDS)
def test_only_the_wish_to_save_memory_is_answered_where_it_cannot_be_met(cache_format):
    """Heads of width 4: the default becomes float32 without a word, int8 with one."""
    narrow = replace(SMALL, head_dim=4, head_count=SMALL.hidden_size // 4)
    chosen = choose_op_set(EngineWish(cache_format=cache_format), narrow, BOTH)
    assert chosen.engine.cache_format == "f32"
    assert ("do not suit" in chosen.cache_notice) == (cache_format == "int8")


def test_a_lost_thread_is_reported_once():
    """And not at all by an engine that lost none."""
    ops = load("f32").ops
    assert report_lost_thread(ops) is None
    assert isinstance(ops, SimdOps)
    ops.has_lost_a_thread = True
    assert "one thread" in (report_lost_thread(ops) or "")
    assert report_lost_thread(ops) is None
    assert report_lost_thread(NumpyOps(SMALL)) is None


class NarrowPort(WasmtimePort):
    """A memory for threads that is nearly full and cannot grow."""

    def __init__(self, module: bytes) -> None:
        super().__init__(module, seats=2)
        self.allocate(3_900_000)

    def _grow(self, missing: int) -> int:
        raise MemoryError(missing)


def test_a_memory_for_threads_that_cannot_grow_gives_way_to_one_thread():
    """The model is there all the same, in one seat, with a sentence; its answer is the same."""

    def make_shared(config: ModelConfig, cache_format: CacheFormat) -> SimdOps:
        return SimdOps(
            config, NarrowPort(read_module(SINGLE)), cache_kind=KINDS[cache_format], uses_team=False
        )

    homes: OpSetHomes = {"simd": OpSetHome(make_shared, 2, make_simd)}
    session = ModelSession(MemoryRoom(FakeHost()), homes)
    source = BytesSource(read_fixture("grouped_q4_1.slm"))
    steps = list(session.load_steps(source, FileOrigin("m", 1, "0"), EngineWish()))
    texts = [step.text for step in steps if isinstance(step, OpSetFallback)]
    assert len(texts) == 1
    assert "could not grow" in texts[0]
    model = session.require_model()
    assert model.ops.seats == 1
    other = load("int16")
    expected = other.decoder.forward([5, 6, 7], other.decoder.new_cache())
    found = model.decoder.forward([5, 6, 7], model.decoder.new_cache())
    np.testing.assert_array_equal(found, expected)
