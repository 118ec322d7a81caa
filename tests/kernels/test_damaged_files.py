"""A damaged `.slm` file is refused with a stable code, the field and the offset."""

import struct
from math import inf, nan

import pytest

from kernels.errors import ErrorCode, KernelError
from kernels.slm_layout import ENTRY_BYTES, ENTRY_OFFSETS, HEADER_OFFSETS, TRAILER_BYTES
from tests.kernels.slm_bytes import (
    entry_of,
    entry_offset,
    header_of,
    open_bytes,
    read_all,
    read_fixture,
    with_bytes,
    with_entry,
    with_header,
)

TINY = read_fixture("tiny_f32.slm")
QUANTISED = read_fixture("tiny_q8_0.slm")
NIBBLES = read_fixture("tiny_q4_0.slm")
GROUPED = read_fixture("grouped_q8_0.slm")

HEADER_CASES = [
    # field, damaged value, code
    ("version", 2, ErrorCode.UNSUPPORTED_MODEL_VERSION),
    ("header_length", 107, ErrorCode.INVALID_HEADER),
    ("header_length", 1 << 31, ErrorCode.INVALID_HEADER),
    ("model_type", 0, ErrorCode.INVALID_HEADER),
    ("vocab_size", 0, ErrorCode.INVALID_HEADER),
    ("vocab_size", 1 << 31, ErrorCode.SHAPE_MISMATCH),
    ("special_token_count", 3, ErrorCode.INVALID_HEADER),
    ("hidden_size", 0, ErrorCode.INVALID_HEADER),
    ("layer_count", 0, ErrorCode.INVALID_HEADER),
    ("layer_count", 0xFFFFFFFF, ErrorCode.MISSING_TENSOR),
    ("head_count", 0, ErrorCode.INVALID_HEADER),
    ("kv_head_count", 0, ErrorCode.INVALID_HEADER),
    ("kv_head_count", 3, ErrorCode.INVALID_HEADER),
    ("head_dim", 5, ErrorCode.INVALID_HEADER),
    ("ffn_size", 0, ErrorCode.INVALID_HEADER),
    ("ffn_size", 17, ErrorCode.SHAPE_MISMATCH),
    ("max_context", 0, ErrorCode.INVALID_HEADER),
    ("rope_theta", nan, ErrorCode.INVALID_HEADER),
    ("rope_theta", -1.0, ErrorCode.INVALID_HEADER),
    ("rms_norm_epsilon", inf, ErrorCode.INVALID_HEADER),
    ("rms_norm_epsilon", 0.0, ErrorCode.INVALID_HEADER),
    ("tokenizer_offset", 100, ErrorCode.INVALID_HEADER),
    ("tokenizer_offset", (1 << 64) - 1, ErrorCode.INVALID_HEADER),
    ("tokenizer_length", (1 << 64) - 1, ErrorCode.INVALID_HEADER),
    ("tensor_directory_offset", 193, ErrorCode.INVALID_TENSOR_DIRECTORY),
    ("tensor_directory_offset", (1 << 64) - 64, ErrorCode.INVALID_TENSOR_DIRECTORY),
    ("tensor_count", 0xFFFFFFFF, ErrorCode.INVALID_TENSOR_DIRECTORY),
    ("tensor_count", 400, ErrorCode.INVALID_TENSOR_DIRECTORY),
    ("tensor_count", 11, ErrorCode.MISSING_TENSOR),
    ("tensor_data_offset", 961, ErrorCode.INVALID_TENSOR_DIRECTORY),
    ("tensor_data_offset", 1024, ErrorCode.INVALID_TENSOR_DIRECTORY),
    ("checksum", 0, ErrorCode.INVALID_HEADER),
]


def refusal_of(data: bytes) -> KernelError:
    """Return the error that reading a file raises."""
    with pytest.raises(KernelError) as caught:
        read_all(data)
    return caught.value


@pytest.mark.parametrize(("field", "value", "code"), HEADER_CASES)
def test_a_bad_header_field_is_refused_with_its_code(field, value, code):
    """Each header rule of the notes on SLM1, section 1.2."""
    error = refusal_of(with_header(TINY, **{field: value}))
    assert error.code == code
    assert error.offset is not None


@pytest.mark.parametrize(
    "field",
    dict.fromkeys(field for field, _, code in HEADER_CASES if code == ErrorCode.INVALID_HEADER),
)
def test_an_invalid_header_names_a_header_field_and_its_offset(field):
    """The offset is the place of the named field, so that a person can look there."""
    value = next(value for name, value, _ in HEADER_CASES if name == field)
    error = refusal_of(with_header(TINY, **{field: value}))
    assert error.offset == HEADER_OFFSETS[error.field]


def test_another_magic_is_refused_at_offset_0():
    """Code 4, whatever the file's length."""
    for data in (b"GGUF" + TINY[4:], b"PK\x03\x04", b"SLM2"):
        error = refusal_of(data)
        assert (error.code, error.name) == (4, "invalid_model_magic")
        assert (error.field, error.offset) == ("magic", 0)


@pytest.mark.parametrize("length", [0, 3, 4, 107])
def test_a_file_shorter_than_the_header_has_an_invalid_length(length):
    """Code 2 before anything is interpreted."""
    assert refusal_of(TINY[:length]).code == ErrorCode.INVALID_LENGTH


@pytest.mark.parametrize("kept", [108, 150, 192, 900, 960, 5000, len(TINY) - 64])
def test_a_truncated_file_is_refused(kept):
    """A region that leaves the file is refused, wherever the file was cut."""
    error = refusal_of(TINY[:kept])
    assert error.code in (ErrorCode.INVALID_HEADER, ErrorCode.INVALID_TENSOR_DIRECTORY)


@pytest.mark.parametrize("extra", [64, 4096])
def test_a_file_with_bytes_behind_the_model_is_refused(extra):
    """What belongs to no region is not skipped in silence; only padding to 64 is."""
    error = refusal_of(TINY + bytes(extra))
    assert error.code == ErrorCode.INVALID_LENGTH
    assert (error.field, error.offset) == ("file_bytes", len(TINY))


ENTRY_CASES = [
    # data, tensor, field, damaged value, code
    (TINY, "norm.weight", "dtype", 0, ErrorCode.UNSUPPORTED_DTYPE),
    (TINY, "norm.weight", "dtype", 102, ErrorCode.UNSUPPORTED_DTYPE),
    (TINY, "norm.weight", "rank", 0, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "rank", 5, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "rank", 2, ErrorCode.SHAPE_MISMATCH),
    (TINY, "layers.0.w1.weight", "dim_0", 8, ErrorCode.SHAPE_MISMATCH),
    (TINY, "layers.0.wk.weight", "dim_1", 0, ErrorCode.SHAPE_MISMATCH),
    (TINY, "norm.weight", "dim_1", 2, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "byte_offset", 1000, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "byte_offset", 0, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "byte_offset", 1 << 63, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "byte_length", 31, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "byte_length", (1 << 64) - 1, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (TINY, "norm.weight", "scale_offset", 1 << 40, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (QUANTISED, "norm.weight", "scale_offset", 0, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (QUANTISED, "norm.weight", "scale_offset", 1 << 40, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (QUANTISED, "norm.weight", "block_size", 0, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (QUANTISED, "norm.weight", "block_size", 3, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (QUANTISED, "norm.weight", "dtype", 1, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (NIBBLES, "norm.weight", "block_size", 1, ErrorCode.INVALID_TENSOR_DIRECTORY),
    (NIBBLES, "norm.weight", "block_size", 16, ErrorCode.INVALID_TENSOR_DIRECTORY),
]


@pytest.mark.parametrize(("data", "tensor", "field", "value", "code"), ENTRY_CASES)
def test_a_bad_directory_field_is_refused_with_tensor_and_code(data, tensor, field, value, code):
    """Each rule of a directory entry; the error names the tensor."""
    error = refusal_of(with_entry(data, tensor, **{field: value}))
    assert error.code == code
    assert error.field.startswith(tensor)
    assert tensor in error.message


def test_a_directory_error_points_at_the_field_itself():
    """The offset is that of the field inside its entry."""
    error = refusal_of(with_entry(TINY, "norm.weight", dtype=9))
    assert error.offset == entry_offset(TINY, "norm.weight") + ENTRY_OFFSETS["dtype"]


def test_a_renamed_tensor_is_missing_by_its_name():
    """Code 8; the hash is the only name that the container has."""
    error = refusal_of(with_entry(TINY, "layers.0.wo.weight", name_hash=1))
    assert (error.code, error.field) == (ErrorCode.MISSING_TENSOR, "layers.0.wo.weight")


def test_an_untied_file_without_output_is_refused():
    """Absence of output.weight alone does not mean tying."""
    error = refusal_of(with_header(read_fixture("tiny_tied_f32.slm"), flags=0))
    assert (error.code, error.field) == (ErrorCode.MISSING_TENSOR, "output.weight")


def test_a_name_hash_that_stands_twice_is_refused():
    """Two entries of one name would leave open which one counts."""
    start = header_of(TINY).tensor_directory_offset
    first = TINY[start : start + ENTRY_BYTES]
    error = refusal_of(with_bytes(TINY, start + ENTRY_BYTES, first))
    assert (error.code, error.field) == (ErrorCode.INVALID_TENSOR_DIRECTORY, "name_hash")
    assert error.offset == start + ENTRY_BYTES


def test_a_tensor_that_the_model_does_not_have_is_refused():
    """A bias, say, would be left out of the computation in silence."""
    grown = with_header(TINY, tensor_count=13)
    extra = grown[192:256].replace(grown[192:200], bytes(range(8)))
    data = grown[:960] + extra + grown[960:]
    moved = with_header(data, tensor_data_offset=1024)
    for name in [*open_bytes(TINY).entries]:
        entry = entry_of(moved, name)
        moved = with_entry(moved, name, byte_offset=entry.byte_offset + 64)
    error = refusal_of(moved)
    assert (error.code, error.field) == (ErrorCode.INVALID_TENSOR_DIRECTORY, "name_hash")


@pytest.mark.parametrize("field", ["byte_offset", "scale_offset"])
def test_regions_that_share_bytes_are_refused(field):
    """Two tensors on the same bytes, or scales inside another payload, are damage."""
    other = entry_of(QUANTISED, "layers.0.wq.weight")
    data = with_entry(QUANTISED, "layers.0.wk.weight", **{field: other.byte_offset})
    error = refusal_of(data)
    assert error.code == ErrorCode.INVALID_TENSOR_DIRECTORY
    assert error.offset == other.byte_offset
    assert "inside" in error.message


def test_a_directory_on_top_of_the_tokenizer_is_refused():
    """Header, tokenizer and directory are regions like all others."""
    data = with_header(TINY, tokenizer_length=120)
    assert refusal_of(data).code == ErrorCode.INVALID_TENSOR_DIRECTORY


@pytest.mark.parametrize("scale", [nan, inf, -inf, -1.0, 0.0])
@pytest.mark.parametrize("data", [QUANTISED, NIBBLES], ids=["q8_0", "q4_0"])
def test_a_scale_that_is_not_finite_and_positive_is_refused(data, scale):
    """The offset is that of the scale itself."""
    offset = entry_of(data, "layers.0.w2.weight").scale_offset + 12
    error = refusal_of(with_bytes(data, offset, struct.pack("<f", scale)))
    assert (error.code, error.name) == (ErrorCode.INVALID_SCALE, "invalid_scale")
    assert (error.field, error.offset) == ("layers.0.w2.weight.scales", offset)


@pytest.mark.parametrize("weight", [nan, inf, -inf])
def test_a_weight_that_is_not_finite_is_refused(weight):
    """The offset is that of the weight itself."""
    offset = entry_of(TINY, "layers.0.w2.weight").byte_offset + 40
    error = refusal_of(with_bytes(TINY, offset, struct.pack("<f", weight)))
    assert (error.code, error.offset) == (ErrorCode.INVALID_WEIGHT, offset)


def test_a_flipped_payload_bit_names_the_checksum_field():
    """Code 6: our own rule is known, so a mismatch proves damage, and no other field tells."""
    offset = entry_of(GROUPED, "layers.1.wv.weight").byte_offset
    error = refusal_of(with_bytes(GROUPED, offset, bytes([GROUPED[offset] ^ 1])))
    assert (error.code, error.field, error.offset) == (ErrorCode.INVALID_HEADER, "checksum", 100)


TRAILER_START = len(GROUPED) - TRAILER_BYTES


@pytest.mark.parametrize(
    ("position", "replacement", "code"),
    [
        (8, struct.pack("<I", 2), ErrorCode.UNSUPPORTED_MODEL_VERSION),
        (12, struct.pack("<I", 7), ErrorCode.UNSUPPORTED_MODEL_VERSION),
        (16, struct.pack("<Q", 1 << 50), ErrorCode.INVALID_HEADER),
        (16, struct.pack("<Q", 65), ErrorCode.INVALID_HEADER),
        (24, struct.pack("<Q", 1 << 50), ErrorCode.INVALID_HEADER),
        (24, struct.pack("<Q", 3), ErrorCode.INVALID_HEADER),
        (0, b"NOTOURS!", ErrorCode.INVALID_LENGTH),
    ],
)
def test_a_damaged_trailer_is_refused(position, replacement, code):
    """A trailer that names a wrong place is damage; without its mark it is left-over bytes."""
    assert refusal_of(with_bytes(GROUPED, TRAILER_START + position, replacement)).code == code


def test_a_manifest_that_is_not_json_is_refused_at_its_place():
    """Code 104 with the offset of the manifest."""
    offset = GROUPED.rindex(b'{"chat_template"')
    error = refusal_of(with_bytes(GROUPED, offset, b"["))
    assert (error.code, error.offset) == (ErrorCode.INVALID_MANIFEST, offset)


TOKENIZER_CASES = [
    (0, b"BTOX", "magic"),
    (4, struct.pack("<I", 2), "version"),
    (8, struct.pack("<I", 259), "vocab_size"),
    (12, struct.pack("<I", 260), "bos"),
    (24, struct.pack("<I", 999), "unk"),
]


@pytest.mark.parametrize(("position", "replacement", "field"), TOKENIZER_CASES)
def test_a_damaged_tokenizer_header_is_refused_at_its_place_in_the_file(
    position, replacement, field
):
    """The offset counts from the start of the file, not of the section."""
    error = refusal_of(with_bytes(TINY, 108 + position, replacement))
    assert error.code == ErrorCode.INVALID_TOKENIZER
    assert (error.field, error.offset) == (f"tokenizer.{field}", 108 + position)


def test_a_vocabulary_that_differs_from_the_tokenizers_is_refused():
    """Header and tokenizer must count the same ids."""
    error = refusal_of(with_bytes(TINY, 108 + 8, struct.pack("<I", 261)))
    assert (error.code, error.field) == (ErrorCode.INVALID_HEADER, "vocab_size")
