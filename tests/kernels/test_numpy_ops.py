"""The numpy operations give the logits of the float64 reference and keep their promises.

Tolerance of logits: 1e-4 where they are of size 1 to 5. Three layers of float32 sums of up to 40
products stay under 1e-5 here; the rest is room for other BLAS orders.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kernels.byte_source import BytesSource
from kernels.errors import KernelError
from kernels.kv_cache import CacheFormat, KvCache
from kernels.layers import EINSUM, MATMUL
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters
from kernels.numpy_ops import NumpyOps, choose_chunk_tokens
from kernels.ops import OpSet
from kernels.perplexity import forced_logits
from kernels.reference import reference_logits
from kernels.slm_file import open_model
from tests.kernels.loaded_decoder import load_decoder
from tests.kernels.random_tensors import SHAPES, SMALL, TIED, RandomTensors

FIXTURES = Path(__file__).parents[2] / "fixtures" / "models"
IDS = [3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 3, 2, 3, 8, 46]
SMOLLM2 = ModelConfig(49152, 17, 576, 30, 9, 3, 64, 1536, 8192, 100_000.0, 1e-5, tied_output=True)


@pytest.mark.parametrize("products", [MATMUL, EINSUM], ids=lambda form: form.name)
@pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES.keys())
def test_logits_equal_the_reference(config, products):
    """Grouped or not, tied or not, with either product."""
    model = RandomTensors(config)
    expected = reference_logits(model, IDS)
    found = forced_logits(load_decoder(model, products), IDS)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-4
    assert np.abs(expected).max() > 1


def test_a_tied_output_is_the_embedding_itself():
    """Weights take 4 bytes a parameter, and the tied matrix is counted and held once."""
    for config in (SMALL, TIED):
        ops = load_decoder(RandomTensors(config)).ops
        assert ops.weight_bytes == 4 * count_parameters(config)


def test_loading_reports_every_part_in_order():
    """`done` counts up to `total`, the embedding first."""
    ops = NumpyOps(SMALL)
    progress = list(ops.load(RandomTensors(SMALL)))
    assert [step.done for step in progress] == list(range(1, progress[0].total + 1))
    assert progress[0].name == "tok_embeddings.weight"


def test_loading_again_replaces_the_weights():
    """One instance holds one model."""
    ops = NumpyOps(SMALL)
    for seed in (1, 2):
        for _ in ops.load(RandomTensors(SMALL, seed=seed)):
            pass
    assert ops.weight_bytes == 4 * count_parameters(SMALL)


def test_closing_lets_the_weights_go():
    """After that nothing is held."""
    ops = load_decoder(RandomTensors(SMALL)).ops
    ops.close()
    assert ops.weight_bytes == 0


def test_a_block_does_not_change_its_argument():
    """A caller may keep the old hidden state."""
    decoder = load_decoder(RandomTensors(SMALL))
    hidden = decoder.ops.embed(np.array([1, 2], dtype=np.int32))
    before = hidden.copy()
    decoder.ops.attention_block(0, hidden, decoder.new_cache(), 0)
    decoder.ops.feed_forward_block(0, hidden)
    assert np.array_equal(hidden, before)


def test_a_cache_of_another_op_set_is_refused():
    """The storage must be of the kind that this op set writes."""

    class NoStorage:
        format: CacheFormat = "f32"
        capacity = 8
        bytes_per_token = 1

        def grow(self, capacity):
            """Stay as it is."""

        def read_layer(self, layer, count):
            """Hold nothing."""

        def write_layer(self, layer, rows):
            """Take nothing."""

    decoder = load_decoder(RandomTensors(SMALL))
    with pytest.raises(KernelError, match="another op set") as caught:
        decoder.forward([1], KvCache(NoStorage(), max_context=64))
    assert caught.value.field == "cache"


def test_a_new_cache_is_never_larger_than_the_context():
    """Asking for more gives the context."""
    ops: OpSet = load_decoder(RandomTensors(SMALL)).ops
    assert ops.new_cache(1000).capacity == 64
    assert ops.new_cache(0).capacity == 1


def test_chunks_shrink_as_the_cache_grows_and_never_vanish():
    """Work per call stays bounded: more to look at, fewer tokens at once."""
    sizes = [choose_chunk_tokens(SMOLLM2, start, native=False) for start in (0, 1000, 4000, 8191)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] >= 16
    assert sizes[-1] >= 1
    huge = replace(SMOLLM2, hidden_size=8192, head_count=128, ffn_size=32768)
    assert choose_chunk_tokens(huge, 8000, native=False) == 1


def test_positions_past_the_first_rotary_table_are_right():
    """The table doubles on demand; position 300 equals the reference there."""
    config = replace(SMALL, max_context=400, layer_count=1)
    model = RandomTensors(config)
    ids = [index % 50 for index in range(300)]
    found = load_decoder(model).forward(ids, load_decoder(model).new_cache())
    assert np.abs(found - reference_logits(model, ids)[-1]).max() < 1e-4


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.slm")), ids=lambda path: path.stem)
def test_every_fixture_model_gives_the_logits_of_the_reference(path):
    """f32, q8_0 and q4_0, tied and grouped, as read from its file."""
    model = open_model(BytesSource(path.read_bytes()))
    ids = [index * 31 % model.config.vocab_size for index in range(16)]
    found = forced_logits(load_decoder(model), ids)
    assert np.abs(found - reference_logits(model, ids)).max() < 1e-4
