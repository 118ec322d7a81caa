"""A GGUF file of the llama architecture becomes a model; anything else is refused in a sentence."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.byte_source import BytesSource
from kernels.errors import ErrorCode, KernelError
from kernels.gguf_file import open_gguf
from kernels.gguf_model import read_gguf_model
from kernels.model_names import tensor_shapes
from tests.kernels.gguf_bytes import gguf_tensors, gguf_values, open_grouped, pack_gguf

WHOLE = pack_gguf()


def refusal_of(data):
    """Return the error that reading a GGUF raises."""
    with pytest.raises(KernelError) as caught:
        read_gguf_model(BytesSource(data))
    return caught.value


def with_value(key, value):
    """Return a file with one field changed, or without it for None."""
    values = gguf_values() | {key: value}
    return pack_gguf({name: item for name, item in values.items() if item is not None})


def test_the_same_model_comes_out_as_went_in():
    """Shape, tokenizer, template, control tokens and all weights equal those of the fixture."""
    model, source = open_grouped(), read_gguf_model(BytesSource(WHOLE))
    assert source.config == model.config
    assert source.tokenizer_section == model.tokenizer_section
    assert model.manifest is not None
    assert source.manifest.chat_template == model.manifest.chat_template
    assert source.manifest.control_tokens == model.manifest.control_tokens
    assert (source.manifest.licence, source.manifest.pre_tokenizer) == ("CC0-1.0", "smollm")
    for name, shape in tensor_shapes(model.config):
        rows = source.tensors[name]
        assert rows.shape == shape
        whole = rows.read(0, int(np.prod(shape[:-1])))
        np.testing.assert_array_equal(whole.reshape(shape), model.read_f32(name))


def test_an_output_tensor_makes_the_model_untied():
    """Without output.weight the logits use the embeddings."""
    tensors = gguf_tensors()
    untied = pack_gguf(tensors=tensors | {"output.weight": tensors["token_embd.weight"]})
    source = read_gguf_model(BytesSource(untied))
    assert not source.config.tied_output
    assert "output.weight" in source.tensors


def test_without_a_count_of_key_value_heads_every_head_has_its_own():
    """So the narrower key matrices of the fixture no longer fit."""
    config = read_gguf_model(BytesSource(WHOLE)).config
    assert (config.head_count, config.kv_head_count) == (4, 2)
    assert refusal_of(with_value("llama.attention.head_count_kv", None)).name == "invalid_source"


UNSUPPORTED = [
    ("general.architecture", "bert"),
    ("general.architecture", None),
    ("tokenizer.ggml.model", "llama"),
    ("tokenizer.ggml.pre", "llama-bpe"),
    ("tokenizer.ggml.add_bos_token", True),
    ("llama.rope.dimension_count", 4),
    ("llama.rope.scaling.type", "yarn"),
    ("llama.expert_count", 8),
    ("tokenizer.ggml.token_type", [3] * 3 + [4] * 307),
]


@pytest.mark.parametrize(("key", "value"), UNSUPPORTED)
def test_what_cannot_be_converted_is_refused_by_name(key, value):
    """Another architecture, tokenizer or extension: one sentence that names the field."""
    error = refusal_of(with_value(key, value))
    assert (error.code, error.field) == (ErrorCode.UNSUPPORTED_SOURCE, key)
    assert error.message.count(".") >= 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("llama.block_count", None),
        ("llama.block_count", "two"),
        ("llama.block_count", 3),
        ("llama.block_count", 0xFFFFFFFF),
        ("llama.embedding_length", 64),
        ("llama.attention.layer_norm_rms_epsilon", None),
        ("tokenizer.ggml.tokens", None),
        ("tokenizer.ggml.eos_token_id", None),
        ("tokenizer.ggml.merges", ["th zz"]),
        ("general.name", 7),
    ],
)
def test_missing_and_mistyped_fields_are_refused(key, value):
    """No default is invented for what the computation depends on."""
    assert refusal_of(with_value(key, value)).code in (
        ErrorCode.INVALID_SOURCE,
        ErrorCode.UNSUPPORTED_SOURCE,
    )


def test_a_tensor_type_that_cannot_be_read_is_refused_with_its_name():
    """Type 12 is a format of super-blocks."""
    tensors = gguf_tensors()
    _, shape, raw = tensors["blk.0.attn_q.weight"]
    error = refusal_of(pack_gguf(tensors=tensors | {"blk.0.attn_q.weight": (12, shape, raw)}))
    assert (error.code, error.field) == (ErrorCode.UNSUPPORTED_SOURCE, "blk.0.attn_q.weight")


def test_a_tensor_without_a_place_is_refused():
    """A bias would be left out of the computation in silence."""
    tensors = gguf_tensors()
    extra = {"blk.0.attn_q.bias": tensors["blk.0.attn_norm.weight"]}
    error = refusal_of(pack_gguf(tensors=tensors | extra))
    assert (error.code, error.field) == (ErrorCode.UNSUPPORTED_SOURCE, "blk.0.attn_q.bias")


def test_a_missing_tensor_is_refused_by_its_name():
    """The model is incomplete."""
    tensors = gguf_tensors()
    del tensors["blk.1.ffn_up.weight"]
    assert refusal_of(pack_gguf(tensors=tensors)).field == "blk.1.ffn_up.weight"


@pytest.mark.parametrize("version", [1, 4])
def test_another_version_is_refused(version):
    """Versions 2 and 3 have the same layout."""
    assert refusal_of(pack_gguf(version=version)).code == ErrorCode.UNSUPPORTED_SOURCE
    assert read_gguf_model(BytesSource(pack_gguf(version=2))).config.layer_count == 2


@pytest.mark.parametrize("position", [8, 16])
def test_counts_that_do_not_fit_the_file_are_refused_without_allocating(position):
    """Four billion tensors or fields are damage."""
    data = WHOLE[:position] + struct.pack("<Q", 1 << 40) + WHOLE[position + 8 :]
    assert refusal_of(data).code == ErrorCode.INVALID_SOURCE


@given(kept=st.floats(0, 0.9))
def test_a_file_cut_anywhere_is_refused(kept):
    """Never another exception."""
    assert refusal_of(WHOLE[: int(kept * len(WHOLE))]).message


@given(position=st.integers(0, 9000), change=st.integers(1, 255))
def test_a_changed_byte_in_the_fields_opens_or_is_refused(position, change):
    """No other exception than KernelError, whatever is damaged."""
    data = bytearray(WHOLE)
    data[position] ^= change
    try:
        source = read_gguf_model(BytesSource(bytes(data)))
    except KernelError:
        return
    assert source.tensors


def test_a_file_of_the_public_package_reads_the_same(tmp_path):
    """Fields of every type and a tensor, written by `gguf`, come back as they went in."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "llama")
    writer.add_uint8("a", 200)
    writer.add_int64("b", -5)
    writer.add_float64("c", 0.1)
    writer.add_bool("d", val=True)
    writer.add_array("e", ["x", "é"])
    writer.add_array("f", [1.5, 2.5])
    weights = np.arange(96, dtype=np.float32).reshape(3, 32)
    writer.add_tensor("t", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = open_gguf(BytesSource((tmp_path / "x.gguf").read_bytes()))
    assert [file.values[key] for key in "abcdef"] == [200, -5, 0.1, True, ["x", "é"], [1.5, 2.5]]
    np.testing.assert_array_equal(file.tensors["t"].read(0, 3), weights)
