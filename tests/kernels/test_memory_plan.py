"""The plan's numbers are those of the arrays that loading and generating really make."""

import tracemalloc
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kernels.byte_source import ByteSource, FileSource
from kernels.dtypes import DType
from kernels.memory_plan import Engine, plan_memory
from kernels.model_shape import read_model_shape
from kernels.ops import OpSet
from kernels.slm_file import open_model
from tests.kernels.loaded_decoder import generate_ids, load_decoder
from tests.kernels.random_tensors import SMALL, TIED, RandomTensors
from tests.kernels.shapes import shape_of

FIXTURES = sorted((Path(__file__).parents[2] / "fixtures" / "models").glob("*.slm"))

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


@dataclass
class HeadSource:
    """A file of which only the first bytes may be read."""

    source: ByteSource
    readable: int

    @property
    def size(self) -> int:
        """The whole file's."""
        return self.source.size

    def read_into(self, offset: int, target: memoryview) -> None:
        """Refuse what lies behind."""
        assert offset + len(target) <= self.readable
        self.source.read_into(offset, target)


def plan_for(config):
    """Plan a float32 file of this shape for numpy."""
    return plan_memory(shape_of(config, DType.F32, 0), Engine("numpy"))


@pytest.mark.parametrize("config", [SMALL, TIED], ids=["untied", "tied"])
def test_numpy_weights_take_four_bytes_a_parameter(config):
    """Whatever the file stores; a tied output counts once."""
    ops: OpSet = load_decoder(RandomTensors(config)).ops
    assert plan_for(config).weight_bytes == ops.weight_bytes


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_file_is_planned_from_its_header_and_directory_alone(path):
    """The same tensors as the open file; no byte behind them is asked for."""
    with FileSource(path) as source:
        head = HeadSource(source, open_model(source).entries["tok_embeddings.weight"].byte_offset)
        shape = read_model_shape(head)
        model = open_model(source)
    assert shape.config == model.config
    assert sum(tensor.stored_bytes for tensor in shape.tensors) == sum(
        entry.stored_bytes for entry in model.entries.values()
    )


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
