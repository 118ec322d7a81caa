"""Positions and sizes are those that the notes on SLM1 state or prove."""

import pytest

from kernels.btok import pack_btok
from kernels.dtypes import DType
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters, count_tensors, tensor_shapes
from kernels.slm_layout import (
    ENTRY_BYTES,
    ENTRY_OFFSETS,
    HEADER_BYTES,
    HEADER_OFFSETS,
    align,
    name_hash,
)
from kernels.slm_plan import TensorPlan, count_file_bytes

SIXTEEN_MILLION = ModelConfig(
    vocab_size=260,
    special_token_count=4,
    hidden_size=512,
    layer_count=4,
    head_count=8,
    kv_head_count=8,
    head_dim=64,
    ffn_size=2048,
    max_context=512,
    rope_theta=10000.0,
    rms_norm_epsilon=1e-5,
    tied_output=False,
)


class ShapeOnly:
    """Weights of which nobody asks more than the shape."""

    def __init__(self, shape):
        self.shape = shape

    def read(self, start, stop):
        """Refuse."""
        raise AssertionError((start, stop))


def test_header_fields_lie_where_the_notes_say():
    """Section 1.2: 108 bytes, the data offset not 8-aligned."""
    expected = {"magic": 0, "version": 4, "flags": 16, "vocab_size": 20, "head_dim": 44}
    expected |= {"rope_theta": 56, "rms_norm_epsilon": 60, "tokenizer_offset": 64}
    expected |= {"tensor_directory_offset": 80, "tensor_count": 88, "tensor_data_offset": 92}
    assert expected.items() <= HEADER_OFFSETS.items()
    assert (HEADER_OFFSETS["checksum"], HEADER_BYTES) == (100, 108)


def test_directory_fields_lie_where_the_notes_say():
    """Section 1.3: 64 bytes an entry."""
    expected = {"name_hash": 0, "dtype": 8, "rank": 12, "dim_0": 16, "dim_3": 28}
    expected |= {"byte_offset": 32, "byte_length": 40, "scale_offset": 48, "block_size": 56}
    assert expected.items() <= ENTRY_OFFSETS.items()
    assert ENTRY_BYTES == 64


def test_name_hash_is_fnv_1a():
    """The published test vectors of FNV-1a 64."""
    assert name_hash("") == 0xCBF29CE484222325
    assert name_hash("a") == 0xAF63DC4C8601EC8C
    assert name_hash("foobar") == 0x85944171F73967E8


def test_alignment_goes_up_to_the_next_64():
    """And leaves multiples where they are."""
    assert [align(value) for value in (0, 1, 64, 65)] == [0, 64, 64, 128]


@pytest.mark.parametrize(
    ("dtype", "block_size", "published_bytes"),
    [(DType.F32, 0, 68_194_944), (DType.Q8_0, None, 17_160_000), (DType.Q4_0, 32, 10_657_728)],
    ids=["f32", "q8_0", "q4_0"],
)
def test_file_sizes_equal_the_published_ones(dtype, block_size, published_bytes):
    """Section 1.8, the size proof: all three files of the 16M model, to the byte."""
    plans = [
        TensorPlan(name, dtype, shape[-1] if block_size is None else block_size, ShapeOnly(shape))
        for name, shape in tensor_shapes(SIXTEEN_MILLION)
    ]
    assert count_file_bytes(SIXTEEN_MILLION, pack_btok(), plans) == published_bytes


def test_parameters_and_tensors_equal_the_published_counts():
    """Section 5: 17,048,064 parameters in 39 tensors."""
    assert count_parameters(SIXTEEN_MILLION) == 17_048_064
    assert count_tensors(SIXTEEN_MILLION) == 39
    assert len(list(tensor_shapes(SIXTEEN_MILLION))) == 39
