"""The encoder in the kernel module against the one on numpy, and its exact search."""

import json
from pathlib import Path

import numpy as np
import pytest

from kernels.dtypes import DType
from kernels.embedder import Embedder, load_embedder
from kernels.embedder_names import EncoderConfig
from kernels.errors import KernelError
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.similarity import multiply_rows
from tests.kernels.simd.loaded_embedder import load_in_module
from tests.kernels.simd.wasmtime_port import WasmtimePort
from tests.kernels.small_encoder import CONFIG, WIDE, encode_plainly, open_small

GOLDEN = Path(__file__).parents[3] / "fixtures" / "reference" / "minilm_golden.json"
TEXTS = ("", "a", "a b c", "h g f e d c b a", "a " * 38, "a b " * 60)


@pytest.fixture(scope="module")
def wide() -> Embedder:
    """The wide small encoder with 8-bit matrices."""
    return load_in_module(open_small(DType.Q8_0, WIDE))


def test_float_weights_give_what_plain_loops_give():
    """Equal to the same network in float64 within float32's reach."""
    encoder = load_in_module(open_small()).encoder
    for ids in ([2, 3], [2, 4, 5, 6, 3], [2, *range(1, 12), 3]):
        assert encoder.encode(ids).tolist() == pytest.approx(encode_plainly(ids), abs=3e-6)


def test_bytes_give_what_numpy_gives(wide: Embedder):
    """Both op sets agree within what 12 bits an activation can tell: 2e-3 in a unit vector."""
    plain = load_embedder(open_small(DType.Q8_0, WIDE))
    for text in TEXTS:
        assert wide.embed(text).tolist() == pytest.approx(plain.embed(text).tolist(), abs=2e-3)


def test_a_text_that_waits_is_not_disturbed_by_another_one(wide: Embedder):
    """A question may be embedded while a text of the idle work is half done."""
    alone = wide.embed("a b c d").tolist()
    steps = wide.embed_steps("a b c d")
    next(steps)
    question = wide.embed("h g").tolist()
    *_, last = steps
    assert last.tolist() == alone
    assert question == wide.embed("h g").tolist()


def test_a_vector_depends_on_nothing_that_came_before(wide: Embedder):
    """The same bits in a fresh module and in one that has seen long texts."""
    wide.embed("a b " * 60)
    fresh = load_in_module(open_small(DType.Q8_0, WIDE))
    for text in TEXTS:
        assert wide.embed(text).tobytes() == fresh.embed(text).tobytes()


def test_closing_gives_all_memory_back():
    """The port is the embedder's own."""
    port = WasmtimePort(read_module(SINGLE))
    load_in_module(open_small(DType.Q8_0, WIDE), port).close()
    with pytest.raises(ValueError, match="closed"):
        port.call("encoder_begin", 0, 0, 0)


def test_too_many_tokens_are_refused(wide: Embedder):
    """A list longer than the model's positions never reaches the module."""
    with pytest.raises(KernelError, match="41 tokens"):
        wide.encoder.encode([2] * 41)


def test_a_width_that_is_no_multiple_of_four_is_refused():
    """The kernels take four numbers at a time."""
    odd = EncoderConfig(12, 6, 1, 3, 8, 16, 1e-12)
    with pytest.raises(KernelError, match="hidden_size 6"):
        load_in_module(open_small(config=odd))


@pytest.mark.parametrize(("count", "width"), [(1, 1), (3, 7), (4, 8), (9, 384), (130, 20), (0, 8)])
def test_products_of_bytes_are_the_whole_numbers_that_numpy_gives(
    wide: Embedder, count: int, width: int
):
    """Exact for any number of rows and any width, at the largest bytes too."""
    draw = np.random.default_rng(count)
    rows = draw.integers(-127, 128, (count, width)).astype(np.int8)
    for query in (draw.integers(-127, 128, width).astype(np.int8), np.full(width, -127, np.int8)):
        assert wide.multiply(rows, query).tolist() == multiply_rows(rows, query).tolist()


def test_the_small_encoder_keeps_float_matrices():
    """Rows of 8 columns are no whole block, so their bytes are kept as exact floats."""
    exact, small = load_in_module(open_small()), load_in_module(open_small(DType.Q8_0))
    assert float(exact.embed("a b c") @ small.embed("a b c")) > 0.995
    assert CONFIG.hidden_size % 32


@pytest.mark.slow
def test_the_real_model_gives_the_golden_directions():
    """Cosine 0.996 or more with the reference, and 0.99999 with the encoder on numpy."""
    cached = pytest.importorskip("tests.bench_embedder")
    file = cached.find_cached_embedder()
    if file is None:
        pytest.skip("the embedder is not prepared: run tests/bench_recall.py once")
    embedder, plain = load_in_module(file), load_embedder(file)
    for case in json.loads(GOLDEN.read_text())["cases"]:
        found = embedder.embed(case["text"])
        assert float(found @ np.array(case["embedding"], np.float32)) > 0.996, case["text"]
        assert float(found @ plain.embed(case["text"])) > 0.99999, case["text"]
