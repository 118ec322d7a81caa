"""The plan's numbers are those of the arrays that loading and generating really make."""

import tracemalloc
from dataclasses import replace

import pytest

from kernels.memory_plan import plan_memory
from kernels.model_names import count_parameters
from kernels.ops import OpSet
from tests.kernels.loaded_decoder import generate_ids, load_decoder
from tests.kernels.random_tensors import SMALL, TIED, RandomTensors

MIDDLE = replace(
    SMALL,
    vocab_size=2000,
    hidden_size=192,
    head_dim=32,
    ffn_size=512,
    layer_count=6,
    max_context=512,
    tied_output=True,
)


def plan_for(config, op_set="numpy"):
    """Plan a float32 file of this shape."""
    stored = 4 * count_parameters(config)
    largest = 4 * config.vocab_size * config.hidden_size
    return plan_memory(config, op_set, stored_bytes=stored, largest_tensor_bytes=largest)


@pytest.mark.parametrize("config", [SMALL, TIED], ids=["untied", "tied"])
def test_numpy_weights_take_four_bytes_a_parameter(config):
    """Whatever the file stores; a tied output counts once."""
    ops: OpSet = load_decoder(RandomTensors(config)).ops
    assert plan_for(config).weight_bytes == ops.weight_bytes


def test_simd_weights_are_kept_as_stored():
    """Payloads and scales, as the directory counts them."""
    plan = plan_memory(SMALL, "simd", stored_bytes=12_345, largest_tensor_bytes=1_000)
    assert plan.weight_bytes == 12_345


def test_the_kv_numbers_are_those_of_the_cache():
    """Per token, at the start and at full context."""
    cache = load_decoder(RandomTensors(SMALL)).new_cache()
    plan = plan_for(SMALL)
    assert plan.kv_bytes_per_token == cache.storage.bytes_per_token
    assert plan.kv_bytes_first == cache.bytes_allocated
    assert plan.kv_bytes_total == cache.bytes_total


def test_the_plan_grows_in_the_steps_of_the_cache():
    """256 positions, then doubled, at most the context."""
    plan = plan_for(MIDDLE)
    assert plan.bytes_for(1) == plan.bytes_for(256) < plan.bytes_for(257)
    assert plan.bytes_for(257) == plan.bytes_for(512) == plan.bytes_for(9999)


def test_the_plan_is_within_five_percent_of_what_is_allocated():
    """Peak of numpy's own allocations while loading and filling the context."""
    model = RandomTensors(MIDDLE)
    tracemalloc.start()
    try:
        decoder = load_decoder(model)
        generate_ids(decoder, [index % 2000 for index in range(500)], 8)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert abs(peak - plan_for(MIDDLE).bytes_for(512)) < 0.05 * peak
