"""The encoder against plain double precision, and the real model against its golden vectors."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from kernels.dtypes import DType
from kernels.embedder import Embedder, load_embedder
from kernels.encoder import Encoder, gelu
from tests.kernels.small_encoder import encode_plainly, open_small

GOLDEN = Path(__file__).parents[2] / "fixtures" / "reference" / "minilm_golden.json"


def test_the_encoder_gives_what_plain_loops_give():
    """Equal to the same network in float64 within float32's reach: 2e-6 in a vector of length 1."""
    file = open_small()
    encoder = Encoder(file)
    for ids in ([2, 3], [2, 4, 5, 6, 3], [2, *range(1, 12), 3]):
        assert encoder.encode(ids).tolist() == pytest.approx(encode_plainly(ids), abs=2e-6)


def test_steps_end_with_the_vector():
    """The caller may stop between layers; who does not gets the same vector."""
    file = open_small()
    encoder = Encoder(file)
    steps = list(encoder.encode_steps([2, 4, 3]))
    assert len(steps) == 2
    assert steps[-1].tolist() == encoder.encode([2, 4, 3]).tolist()


def test_bytes_change_the_vector_little():
    """Eight bits a weight keep the direction."""
    exact = load_embedder(open_small())
    small = load_embedder(open_small(DType.Q8_0))
    assert float(exact.embed("a b c") @ small.embed("a b c")) > 0.995


def test_gelu_is_the_exact_form():
    """Within 1e-6 of the definition by the error function."""
    points = np.linspace(-6, 6, 241, dtype=np.float32)
    wanted = [x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in points.tolist()]
    assert gelu(points).tolist() == pytest.approx(wanted, abs=1e-6)


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    """Load the real model."""
    # The cache of the native side; the browser's wheel knows nothing of it.
    cached = pytest.importorskip("tests.bench_embedder")
    file = cached.find_cached_embedder()
    if file is None:
        pytest.skip("the embedder is not prepared: run tests/bench_recall.py once")
    return load_embedder(file)


@pytest.mark.slow
def test_the_real_model_gives_the_golden_ids_and_directions(minilm: Embedder):
    """Ids equal the reference; vectors of 8-bit weights keep a cosine of 0.996 or more."""
    for case in json.loads(GOLDEN.read_text())["cases"]:
        assert minilm.tokenizer.encode(case["text"], 256) == case["ids"]
        cosine = float(minilm.embed(case["text"]) @ np.array(case["embedding"], np.float32))
        assert cosine > 0.996, case["text"]
