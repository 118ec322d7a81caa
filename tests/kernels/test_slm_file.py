"""The `.slm` reader gives what the file says and accepts everything that SLM1 allows."""

import struct

import numpy as np
import pytest

from kernels.byte_source import BytesSource
from kernels.dtypes import DType
from kernels.errors import ErrorCode, KernelError
from kernels.fixture_models import list_recipes, make_weights
from kernels.slm_file import open_model
from kernels.slm_layout import ENTRY_BYTES, align
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


def test_header_facts_are_those_of_the_published_fixture():
    """Notes on SLM1, section 5: 4,824 parameters, 12 tensors, context 16, vocabulary 260."""
    model = open_bytes(TINY)
    assert (model.parameters, len(model.entries)) == (4824, 12)
    assert (model.config.max_context, model.config.vocab_size) == (16, 260)
    assert model.file_bytes == 20_352


def test_a_tied_model_has_no_output_tensor():
    """Notes on SLM1, section 5: 2,744 parameters in 11 tensors; logits use the embeddings."""
    model = open_bytes(read_fixture("tiny_tied_f32.slm"))
    assert (model.parameters, len(model.entries), model.config.tied_output) == (2744, 11, True)
    assert model.file_bytes == 11_968
    with pytest.raises(KernelError) as caught:
        model.read_tensor("output.weight")
    assert caught.value.code == ErrorCode.MISSING_TENSOR


def test_f32_tensors_come_back_bit_for_bit():
    """What the recipe made is what the file gives."""
    model = open_bytes(TINY)
    for name, weights in make_weights(model.config, list_recipes()[0].seed).items():
        np.testing.assert_array_equal(model.read_f32(name), weights)


def test_rows_can_be_read_without_the_rest():
    """A slice of rows equals the slice of the whole, for every stored type."""
    for fixture in ("tiny_f32.slm", "tiny_q8_0.slm", "tiny_q4_0.slm", "grouped_q8_0.slm"):
        model = open_bytes(read_fixture(fixture))
        whole = model.read_f32("tok_embeddings.weight")
        part = model.read_rows_f32("tok_embeddings.weight", 100, 103)
        np.testing.assert_array_equal(part, whole[100:103])


def test_the_stored_form_is_given_without_decoding():
    """Signed bytes with row scales, or nibbles with block scales, as the file has them."""
    stored = open_bytes(QUANTISED).read_tensor("layers.0.w2.weight")
    assert (stored.dtype, stored.payload.shape) == (DType.Q8_0, (8, 16))
    assert stored.payload.dtype == np.dtype(np.int8)
    assert stored.scales is not None
    assert stored.scales.shape == (8, 1)
    nibbles = open_bytes(read_fixture("tiny_q4_0.slm")).read_tensor("layers.0.w2.weight")
    assert nibbles.scales is not None
    assert (nibbles.payload.shape, nibbles.scales.shape, nibbles.block_size) == ((8, 8), (8, 2), 8)


def test_norms_may_be_quantised_as_one_row():
    """The published q8_0 and q4_0 sizes show that norms are quantised too."""
    stored = open_bytes(QUANTISED).read_tensor("norm.weight")
    assert stored.scales is not None
    assert (stored.shape, stored.scales.shape) == ((8,), (1, 1))
    assert stored.to_f32().shape == (8,)


def test_key_and_value_matrices_of_grouped_heads_are_narrower():
    """With K key/value heads they are [K x D, H]."""
    model = open_bytes(read_fixture("grouped_f32.slm"))
    assert model.entries["layers.1.wk.weight"].shape == (16, 32)
    assert model.entries["layers.1.wq.weight"].shape == (32, 32)


def test_the_manifest_inside_the_file_is_found():
    """One file suffices: the chat template is behind the last payload."""
    manifest = open_bytes(read_fixture("grouped_q8_0.slm")).manifest
    assert manifest is not None
    assert (manifest.chat_template.kind, manifest.sha256) == ("chatml", None)


def test_a_reader_that_does_not_know_the_trailer_finds_the_same_tensors():
    """Cut off behind the last payload, the file is plain SLM1 with the same tensors."""
    data = read_fixture("grouped_q8_0.slm")
    whole = open_bytes(data)
    last = whole.entries["norm.weight"]
    plain = open_bytes(data[: align(last.byte_offset + last.byte_length)])
    assert plain.manifest is None
    for name in whole.entries:
        np.testing.assert_array_equal(plain.read_f32(name), whole.read_f32(name))


def test_a_foreign_checksum_is_not_verifiable_and_no_reason_to_refuse():
    """The public rule is unknown; only a file that carries our trailer can be proved wrong."""
    model = read_all(with_header(TINY, checksum=0x1234))
    assert model.checksum == "not verifiable"
    assert open_bytes(TINY).checksum == "verified"


def test_unknown_header_flags_are_reported_and_ignored():
    """Bits 1 to 31 have no public meaning."""
    model = read_all(with_header(TINY, flags=6))
    assert len(model.warnings) == 1
    assert "0x6" in model.warnings[0]


def test_a_longer_header_is_accepted():
    """header_length counts; bytes past 108 are not interpreted."""
    longer = TINY[:108] + b"\xff" * 20 + TINY[108:136] + TINY[156:]
    assert len(longer) == len(TINY)
    model = read_all(with_header(longer, header_length=128, tokenizer_offset=128))
    assert model.config == open_bytes(TINY).config


def test_padding_may_hold_any_value():
    """The value of padding bytes is not public: write 0, accept all."""
    start = header_of(TINY).tokenizer_offset + 28
    assert read_all(with_bytes(TINY, start, b"\xaa" * (192 - start))).parameters == 4824


def test_reserved_bytes_and_the_block_size_of_f32_are_ignored():
    """Neither has a public meaning."""
    data = with_bytes(TINY, entry_offset(TINY, "norm.weight") + 60, b"\xff\xff\xff\xff")
    assert read_all(with_entry(data, "norm.weight", block_size=77)).parameters == 4824


@pytest.mark.parametrize("unused", [0, 1])
def test_unused_dimensions_may_be_0_or_1(unused):
    """Either is plausible in files of others."""
    data = with_entry(TINY, "norm.weight", dim_1=unused, dim_2=unused, dim_3=unused)
    assert read_all(data).parameters == 4824


def test_directory_entries_may_stand_in_any_order():
    """Tensors are found by hash; the order given is that of the names."""
    start = header_of(TINY).tensor_directory_offset
    entries = [TINY[start + i * ENTRY_BYTES :][:ENTRY_BYTES] for i in range(12)]
    model = read_all(with_bytes(TINY, start, b"".join(reversed(entries))))
    assert list(model.entries) == list(open_bytes(TINY).entries)


def test_a_tied_file_may_hold_an_output_tensor_all_the_same():
    """With flag bit 0 set it may be absent; it need not be."""
    model = read_all(with_header(TINY, flags=1))
    assert model.config.tied_output
    assert "output.weight" in model.entries


def test_scales_may_lie_anywhere_in_the_file():
    """Whether scales follow each payload or all payloads cannot be told from sizes."""
    entry = entry_of(QUANTISED, "norm.weight")
    end = len(QUANTISED)
    scale = QUANTISED[entry.scale_offset : entry.scale_offset + 4]
    moved = with_entry(QUANTISED + scale, "norm.weight", scale_offset=end)
    np.testing.assert_array_equal(
        read_all(moved).read_f32("norm.weight"), open_bytes(QUANTISED).read_f32("norm.weight")
    )


def test_a_missing_end_padding_is_accepted():
    """Some writer may not pad the end of the file."""
    last = entry_of(QUANTISED, "output.weight")
    assert read_all(QUANTISED[: last.scale_offset + 4 * 260]).parameters == 4824


def test_opening_reads_no_more_than_the_file_and_allocates_no_claimed_size():
    """A header that claims four billion of everything costs nothing but a refusal."""
    huge = with_header(
        TINY, vocab_size=0xFFFFFFFF, hidden_size=0xFFFFFFFE, head_count=1, kv_head_count=1
    )
    huge = with_header(huge, head_dim=0xFFFFFFFE, layer_count=0xFFFFFFFF, ffn_size=0xFFFFFFFF)
    source = CountingSource(huge)
    with pytest.raises(KernelError):
        open_model(source)
    assert source.largest_read <= len(TINY)


class CountingSource(BytesSource):
    """A source that remembers the largest read."""

    largest_read = 0

    def read_into(self, offset, target):
        """Count and read."""
        self.largest_read = max(self.largest_read, len(target))
        super().read_into(offset, target)


def test_weights_are_little_endian_float32():
    """The container's numbers do not depend on the machine."""
    entry = entry_of(TINY, "norm.weight")
    expected = struct.unpack("<8f", TINY[entry.byte_offset : entry.byte_offset + 32])
    assert open_bytes(TINY).read_f32("norm.weight").tolist() == list(expected)


def test_known_checksum_is_taken_for_what_it_is_said_to_be():
    """Who vouches for the file by its SHA-256 need not have its checksum computed again."""
    grouped = read_fixture("grouped_f32.slm")
    weight = open_bytes(grouped).entries["tok_embeddings.weight"].byte_offset
    changed = with_bytes(grouped, weight, bytes(4))
    with pytest.raises(KernelError):
        open_bytes(changed)
    assert open_model(BytesSource(changed), known_checksum="verified").checksum == "verified"
