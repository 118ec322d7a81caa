"""A folder of safetensors becomes the same model as the GGUF of the same weights."""

import json

import numpy as np
import pytest

from kernels.byte_source import BytesSource
from kernels.errors import ErrorCode, KernelError
from kernels.model_names import tensor_shapes
from kernels.safetensors_file import open_safetensors
from kernels.safetensors_model import open_safetensors_model
from tests.kernels.gguf_bytes import (
    hub_tokenizer,
    open_grouped,
    pack_safetensors,
    write_hub_folder,
)


def read_weights(folder):
    """Return shape, section and all weights of a folder."""
    with open_safetensors_model(folder) as source:
        weights = {
            name: source.tensors[name].read(0, int(np.prod(shape[:-1]))).reshape(shape)
            for name, shape in tensor_shapes(source.config)
        }
        return source, weights


def refusal_of(folder):
    """Return the error that opening a folder raises."""
    with pytest.raises(KernelError) as caught, open_safetensors_model(folder):
        pass
    return caught.value


def test_query_and_key_rows_are_reordered_to_adjacent_pairs(tmp_path):
    """All weights equal those of the fixture, whose rows are in adjacent pairs."""
    write_hub_folder(tmp_path)
    model = open_grouped()
    source, weights = read_weights(tmp_path)
    assert source.config == model.config
    assert source.tokenizer_section == model.tokenizer_section
    assert model.manifest is not None
    assert source.manifest.chat_template == model.manifest.chat_template
    for name, array in weights.items():
        np.testing.assert_array_equal(array, model.read_f32(name))


def test_reordered_rows_can_be_read_in_pieces(tmp_path):
    """Streaming in chunks gives the same rows as reading all of them."""
    write_hub_folder(tmp_path)
    with open_safetensors_model(tmp_path) as source:
        rows = source.tensors["layers.0.wq.weight"]
        pieces = [rows.read(start, min(start + 5, 32)) for start in range(0, 32, 5)]
        np.testing.assert_array_equal(np.concatenate(pieces), rows.read(0, 32))


@pytest.mark.parametrize(("dtype", "bits"), [("F16", 11), ("BF16", 8)])
def test_half_precision_is_widened(tmp_path, dtype, bits):
    """float16 keeps 11 significant bits, bfloat16 8."""
    write_hub_folder(tmp_path, dtype=dtype)
    _, weights = read_weights(tmp_path)
    exact = open_grouped().read_f32("layers.0.w1.weight")
    error = np.abs(weights["layers.0.w1.weight"] - exact)
    assert (error <= np.abs(exact) * 2.0 ** (1 - bits) + 1e-6).all()


def test_weights_may_be_spread_over_several_files(tmp_path):
    """The index names the file of each tensor."""
    write_hub_folder(tmp_path, weight_map={})
    _, weights = read_weights(tmp_path)
    expected = open_grouped().read_f32("norm.weight")
    np.testing.assert_array_equal(weights["norm.weight"], expected)


def test_an_index_cannot_name_a_file_outside_the_folder(tmp_path):
    """A downloaded folder must not read other files."""
    write_hub_folder(tmp_path, weight_map={"x": "../secret"})
    assert refusal_of(tmp_path).code == ErrorCode.INVALID_SOURCE


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("architectures", ["BertModel"], ErrorCode.UNSUPPORTED_SOURCE),
        ("rope_scaling", {"type": "linear"}, ErrorCode.UNSUPPORTED_SOURCE),
        ("attention_bias", True, ErrorCode.UNSUPPORTED_SOURCE),
        ("hidden_size", "32", ErrorCode.INVALID_SOURCE),
        ("num_hidden_layers", None, ErrorCode.INVALID_SOURCE),
        ("num_hidden_layers", 3, ErrorCode.INVALID_SOURCE),
        ("num_hidden_layers", 1 << 40, ErrorCode.INVALID_SOURCE),
        ("rope_theta", "big", ErrorCode.INVALID_SOURCE),
        ("tie_word_embeddings", False, ErrorCode.INVALID_SOURCE),
    ],
)
def test_a_config_that_cannot_be_converted_is_refused_by_name(tmp_path, key, value, code):
    """Another architecture, an extension, or a value of the wrong kind."""
    write_hub_folder(tmp_path, config={key: value})
    assert refusal_of(tmp_path).code == code


@pytest.mark.parametrize(
    "change",
    [
        {"pre_tokenizer": {"type": "Whitespace"}},
        {"model": {"type": "WordPiece", "vocab": {}, "merges": []}},
        {"added_tokens": [{"content": "x"}]},
        {"added_tokens": [{"content": "x", "id": 900, "special": True}]},
        {"added_tokens": 3},
    ],
)
def test_another_tokenizer_is_refused(tmp_path, change):
    """Only byte-level BPE with single digits can be held and is implemented."""
    write_hub_folder(tmp_path, tokenizer=hub_tokenizer() | change)
    assert refusal_of(tmp_path).code == ErrorCode.UNSUPPORTED_SOURCE


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path, file):
    """The message says which file of the folder is missing."""
    write_hub_folder(tmp_path)
    (tmp_path / file).unlink()
    error = refusal_of(tmp_path)
    assert error.code == ErrorCode.READ_FAILED
    assert file in error.message


@pytest.mark.parametrize("text", ["{", "[]", "\ud800".encode("utf-16-le", "surrogatepass")])
def test_a_config_that_is_not_a_json_object_is_refused(tmp_path, text):
    """Damage in a text file is damage like any other."""
    write_hub_folder(tmp_path)
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "config.json").write_bytes(data)
    assert refusal_of(tmp_path).code == ErrorCode.INVALID_SOURCE


HEADERS = [
    "[]",
    "{",
    '{"a": 1}',
    '{"a": {"dtype": "F32", "shape": [2, -1], "data_offsets": [0, 8]}}',
    '{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}',
    '{"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}}',
    '{"a": {"dtype": "F32", "shape": [2], "data_offsets": [8000, 8008]}}',
    '{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}',
]


@pytest.mark.parametrize("header", HEADERS)
def test_a_damaged_safetensors_header_is_refused(header):
    """Shapes, types and offsets are compared with the file before anything is read."""
    data = len(header).to_bytes(8, "little") + header.encode() + bytes(8)
    with pytest.raises(KernelError) as caught:
        open_safetensors(BytesSource(data))
    assert caught.value.code == ErrorCode.INVALID_SOURCE


@pytest.mark.parametrize("data", [b"", b"\xff" * 8, b"\x10" + bytes(7)])
def test_a_safetensors_file_shorter_than_its_header_is_refused(data):
    """The header's length is compared with the file."""
    with pytest.raises(KernelError) as caught:
        open_safetensors(BytesSource(data))
    assert caught.value.code == ErrorCode.INVALID_SOURCE


def test_tensors_of_other_types_are_left_out():
    """Integer position ids, say, belong to no weight."""
    tensors = open_safetensors(BytesSource(pack_safetensors({"a": np.ones((2, 2))}, "F64")))
    assert tensors == {}


def test_the_config_is_json_with_the_names_of_the_public_format(tmp_path):
    """The builder writes what the public tools write, so the reader is tested on that."""
    write_hub_folder(tmp_path)
    assert "num_key_value_heads" in json.loads((tmp_path / "config.json").read_text())
