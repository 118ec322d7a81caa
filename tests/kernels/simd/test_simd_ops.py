"""The SIMD operations give the logits of the float64 reference and keep their promises.

Tolerances: with float32 weights nothing is rounded but the float steps, so 1e-4 as for numpy. With
quantised weights each activation is rounded to a 1,927th of the largest of its block of 32, at most
0.026 %: over two layers of this size the logits stay within 0.02 of the same weights in float64.
Keys and values are rounded to a 2,047th (int16) or a 127th (int8) of the largest of their row, and
stay within 0.02 or 0.2.
"""

from dataclasses import replace

import numpy as np
import pytest

from kernels.arrays import F32
from kernels.decoder import Decoder
from kernels.dtypes import DType
from kernels.errors import KernelError
from kernels.numpy_ops import NumpyOps
from kernels.perplexity import forced_logits
from kernels.reference import reference_logits
from kernels.simd.panels import kind_of
from kernels.simd.records import CacheKind, Kind
from tests.kernels.loaded_decoder import generate_ids, load_decoder
from tests.kernels.random_tensors import SHAPES, SMALL, QuantisedTensors, RandomTensors
from tests.kernels.simd.loaded_simd import load_simd_decoder, load_simd_ops

WIDE = replace(
    SMALL,
    vocab_size=203,  # the last panel of rows is not full
    hidden_size=96,
    layer_count=2,
    head_count=6,
    kv_head_count=2,
    head_dim=16,
    ffn_size=160,
    max_context=512,
)
IDS = [3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 3, 2, 3, 8, 46]
LONG_IDS = [(7 * i * i + 3 * i) % WIDE.vocab_size for i in range(300)]
STORED = {
    "q8_0 rows": (DType.Q8_0, None, Kind.Q8),
    "q8_0 blocks": (DType.Q8_0, 32, Kind.Q8),
    "q8_0 small blocks": (DType.Q8_0, 16, Kind.F32),
    "q4_0": (DType.Q4_0, 32, Kind.Q4_SYMMETRIC),
    "q4_0 small blocks": (DType.Q4_0, 8, Kind.F32),
    "q4_1": (DType.Q4_1, 32, Kind.Q4_MINIMUM),
}


def stored(name: str) -> QuantisedTensors:
    """Give the wide model with its matrices in a stored type."""
    dtype, block_size, _ = STORED[name]
    return QuantisedTensors(RandomTensors(WIDE), dtype, block_size)


@pytest.mark.parametrize("config", [*SHAPES.values(), WIDE], ids=[*SHAPES, "wide"])
def test_logits_of_float_weights_equal_the_reference(config):
    """Grouped or not, tied or not."""
    model = RandomTensors(config)
    expected = reference_logits(model, IDS)
    assert np.abs(forced_logits(load_simd_decoder(model), IDS) - expected).max() < 1e-4


@pytest.mark.parametrize("name", STORED)
def test_logits_of_quantised_weights_are_near_the_reference(name):
    """Every stored type, in the layout that the kernels have for it."""
    model, (dtype, block_size, kind) = stored(name), STORED[name]
    assert kind_of(dtype, WIDE.hidden_size, block_size or WIDE.hidden_size) == kind
    expected = reference_logits(model, IDS)
    found = forced_logits(load_simd_decoder(model), IDS)
    assert np.abs(found - expected).max() < (1e-4 if kind == Kind.F32 else 0.02)
    assert np.abs(expected).max() > 1


@pytest.mark.parametrize("cache_kind", CacheKind)
@pytest.mark.parametrize("name", STORED)
def test_one_token_at_a_time_gives_the_very_bits_of_many(name, cache_kind):
    """Tile, single row, chunk borders and the place in the cache leave no trace."""
    ops = load_simd_ops(stored(name), cache_kind)
    together = hidden_states(ops, [LONG_IDS])
    for cut in (1, 5, 131, 299):
        parts = hidden_states(ops, [LONG_IDS[:cut], LONG_IDS[cut:]])
        np.testing.assert_array_equal(parts, together)
    singly = hidden_states(ops, [[token] for token in LONG_IDS])
    np.testing.assert_array_equal(singly, together)


def hidden_states(ops, parts):
    """Run both layers over ids in parts and give the last hidden states."""
    cache, rows, start = ops.new_cache(512), [], 0
    for ids in parts:
        hidden = ops.embed(np.array(ids, dtype=np.int32))
        for layer in range(WIDE.layer_count):
            hidden = ops.attention_block(layer, hidden, cache, start)
            hidden = ops.feed_forward_block(layer, hidden)
        rows.append(hidden)
        start += len(ids)
    return np.concatenate(rows)


@pytest.mark.parametrize("name", STORED)
def test_embedding_rows_are_those_of_the_file(name):
    """Looked up from the panels, bit by bit, and in float."""
    model = stored(name)
    ids = np.array([0, 7, 8, 130, 202], dtype=np.int32)
    expected = model.read_f32("tok_embeddings.weight")[ids]
    np.testing.assert_array_equal(load_simd_ops(model).embed(ids), expected)


@pytest.mark.parametrize(
    ("cache_kind", "tolerance", "code_bytes"),
    [(CacheKind.INT16, 0.02, 2), (CacheKind.INT8, 0.2, 1)],
    ids=["int16", "int8"],
)
def test_coded_keys_and_values_stay_near_the_float_ones(cache_kind, tolerance, code_bytes):
    """Half or a third of the bytes, with a scale for each row."""
    expected = forced_logits(load_simd_decoder(RandomTensors(WIDE)), LONG_IDS)
    decoder = load_simd_decoder(RandomTensors(WIDE), cache_kind)
    found = forced_logits(decoder, LONG_IDS)
    assert 0 < np.abs(found - expected).max() < tolerance
    assert decoder.new_cache().storage.bytes_per_token == 2 * 2 * 2 * (16 * code_bytes + 4)


@pytest.mark.parametrize("cache_kind", [CacheKind.INT16, CacheKind.INT8])
@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_sums_of_codes_fit_whatever_the_width_of_a_head(cache_kind, head_dim):
    """Equal rows have the largest sums: all scores and values are then one number."""
    shape = {"head_dim": head_dim, "head_count": 1, "kv_head_count": 1, "hidden_size": head_dim}
    model = EqualRows(replace(WIDE, **shape))
    expected = forced_logits(load_simd_decoder(model), IDS)
    found = forced_logits(load_simd_decoder(model, cache_kind), IDS)
    assert np.abs(found - expected).max() < 0.2


class EqualRows(RandomTensors):
    """A random model whose keys, queries and values are the same number in every lane."""

    def read_f32(self, name: str) -> F32:
        """Make all rows of three matrices equal."""
        tensor = super().read_f32(name)
        if name.rpartition(".w")[2] in {"q.weight", "k.weight", "v.weight"}:
            tensor = np.tile(np.sign(tensor[:1]), (len(tensor), 1)).astype(np.float32)
        return tensor


def test_greedy_ids_equal_those_of_numpy():
    """Both op sets under the same decoder."""
    for source in (RandomTensors(WIDE), stored("q4_1"), stored("q8_0 rows")):
        expected = generate_ids(load_decoder(source), IDS, 40)
        assert generate_ids(load_simd_decoder(source), IDS, 40) == expected


@pytest.mark.parametrize("cache_kind", CacheKind)
def test_a_cache_that_grew_holds_what_it_held(cache_kind):
    """From 8 positions by doubling, against one that was large at once."""
    decoder = load_simd_decoder(stored("q4_1"), cache_kind)
    small, large = decoder.new_cache(8), decoder.new_cache(512)
    for start in range(0, 200, 25):
        part = LONG_IDS[start : start + 25]
        np.testing.assert_array_equal(decoder.forward(part, small), decoder.forward(part, large))
    assert small.capacity < large.capacity


@pytest.mark.parametrize("tokens", [1, 4, 130])
def test_layers_in_one_call_give_the_very_bits_of_single_blocks(tokens):
    """In one span or in several, for more rows than a call takes too."""
    ops = load_simd_ops(stored("q4_1"), CacheKind.INT16)
    expected = hidden_states(ops, [LONG_IDS[:tokens]])
    for spans in ([range(2)], [range(1), range(1, 2)]):
        cache, hidden = ops.new_cache(512), ops.embed(np.array(LONG_IDS[:tokens], dtype=np.int32))
        for span in spans:
            hidden = ops.layers(span, hidden, cache, 0)
        np.testing.assert_array_equal(hidden, expected)


def test_a_call_takes_more_layers_the_fewer_rows_it_has():
    """A single token goes through all layers at once, a full chunk through one at a time."""
    ops = load_simd_ops(RandomTensors(replace(WIDE, layer_count=30)))
    counts = [ops.layers_per_call(tokens, 100) for tokens in (1, 4, 16, 128)]
    assert counts == [30, 30, 8, 1]
    assert ops.layers_per_call(1, 50_000) < 30


def test_interleaved_runs_do_not_disturb_each_other():
    """What a block has given out stays true when another run uses the same buffers."""
    ops = load_simd_ops(RandomTensors(WIDE))
    alone = hidden_states(ops, [IDS])
    cache = ops.new_cache(64)
    hidden = ops.embed(np.array(IDS, dtype=np.int32))
    for layer in range(WIDE.layer_count):
        hidden_states(ops, [LONG_IDS[:20]])
        hidden = ops.attention_block(layer, hidden, cache, 0)
        hidden_states(ops, [LONG_IDS[:7]])
        hidden = ops.feed_forward_block(layer, hidden)
    np.testing.assert_array_equal(hidden, alone)


def test_an_abandoned_run_leaves_the_cache_true():
    """Closing the steps between two layers, as the stop button does."""
    decoder = load_simd_decoder(RandomTensors(WIDE))
    cache = decoder.new_cache()
    decoder.forward(IDS, cache)
    steps = decoder.forward_steps(LONG_IDS[:120], cache)
    next(steps)
    steps.close()
    assert cache.length == len(IDS)
    expected = decoder.forward([1, 2], decoder_cache_of(decoder, IDS))
    np.testing.assert_array_equal(decoder.forward([1, 2], cache), expected)


def decoder_cache_of(decoder: Decoder, ids):
    """Give a fresh cache that holds ids."""
    cache = decoder.new_cache()
    decoder.forward(ids, cache)
    return cache


def test_a_long_prompt_is_read_in_chunks_that_shrink_with_the_cache():
    """A block call stays short, so that the stop button does."""
    ops = load_simd_ops(RandomTensors(WIDE))
    sizes = [ops.chunk_tokens(start) for start in (0, 500, 5_000, 50_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 128
    assert sizes[-1] == 4


def test_a_shape_that_the_kernels_cannot_run_is_refused_by_name():
    """Widths must be multiples of four."""
    odd = replace(SMALL, hidden_size=6 * 2, head_dim=2)
    with pytest.raises(KernelError, match="head_dim 2 is no multiple of 4") as caught:
        load_simd_ops(RandomTensors(odd))
    assert caught.value.name == "invalid_setting"


def test_a_cache_of_another_op_set_is_refused():
    """Keys and values lie in another memory."""
    ops, other = load_simd_ops(RandomTensors(WIDE)), NumpyOps(WIDE)
    hidden = ops.embed(np.array([1], dtype=np.int32))
    with pytest.raises(KernelError, match="another op set"):
        ops.attention_block(0, hidden, other.new_cache(8), 0)


def test_without_weights_nothing_is_computed():
    """Before loading and after closing."""
    ops = load_simd_ops(RandomTensors(WIDE))
    assert ops.weight_bytes > 0
    ops.close()
    assert ops.weight_bytes == 0
    with pytest.raises(KernelError, match="no weights are loaded"):
        ops.embed(np.array([1], dtype=np.int32))
