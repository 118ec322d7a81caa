"""Converting is deterministic, bounded in memory, and keeps what the source says."""

import io

import numpy as np
import pytest

from kernels.byte_source import BytesSource
from kernels.convert import ConvertSettings, convert, convert_steps, read_model_source
from kernels.dtypes import DType
from kernels.errors import ErrorCode, KernelError
from kernels.fixture_models import make_weights
from kernels.manifest import Manifest, parse_manifest
from kernels.model_config import ModelConfig
from kernels.model_names import OUTPUT, TOKEN_EMBEDDINGS, count_parameters, tensor_shapes
from kernels.model_source import ModelSource
from kernels.slm_writer import WriteProgress
from tests.kernels.gguf_bytes import open_grouped, pack_gguf, write_hub_folder
from tests.kernels.slm_bytes import MODELS, open_bytes, read_fixture

GGUF = pack_gguf()


def convert_bytes(source, **settings):
    """Return the `.slm` bytes and the manifest of a conversion in memory."""
    sink = io.BytesIO()
    steps = convert_steps(source, sink, ConvertSettings(**settings))
    names = []
    while True:
        try:
            names.append(next(steps).name)
        except StopIteration as stop:
            return sink.getvalue(), stop.value, names


def convert_gguf(**settings):
    """Convert the small GGUF."""
    return convert_bytes(read_model_source(BytesSource(GGUF)), **settings)[0]


@pytest.mark.parametrize("dtype", list(DType), ids=lambda dtype: dtype.label)
def test_the_same_source_gives_the_same_bytes(dtype):
    """Twice, and whether from GGUF or from the same weights as float32 `.slm`."""
    once = convert_gguf(dtype=dtype, name="x", origin="y")
    assert convert_gguf(dtype=dtype, name="x", origin="y") == once
    model = open_bytes(once)
    assert (model.dtype, model.checksum) == (dtype, "verified")


def test_float32_keeps_every_weight():
    """GGUF to f32 `.slm` loses nothing."""
    model = open_bytes(convert_gguf(dtype=DType.F32))
    for name, _ in tensor_shapes(model.config):
        np.testing.assert_array_equal(model.read_f32(name), open_grouped().read_f32(name))


def test_norms_stay_float32():
    """Vectors cost little; quantising them would lose for nothing."""
    entries = open_bytes(convert_gguf(dtype=DType.Q8_0)).entries
    kinds = {name: entry.dtype for name, entry in entries.items()}
    assert {kinds[name] for name in kinds if "norm" in name} == {DType.F32}
    assert {kinds[name] for name in kinds if "norm" not in name} == {DType.Q8_0}


def test_the_block_size_is_the_row_unless_given():
    """Row scales are the SLM1 form; nibbles take blocks of 32."""
    rows = open_bytes(convert_gguf(dtype=DType.Q8_0)).entries["layers.0.w2.weight"]
    blocks = open_bytes(convert_gguf(dtype=DType.Q8_0, block_size=8)).entries["layers.0.w2.weight"]
    nibbles = open_bytes(convert_gguf(dtype=DType.Q4_0)).entries["layers.0.w2.weight"]
    assert (rows.block_size, blocks.block_size, nibbles.block_size) == (64, 8, 32)


def test_a_file_of_nibbles_keeps_the_tables_of_tokens_as_bytes():
    """They cost most in nibbles; `is_uniform` gives them nibbles too, as SLM1's own q4_0 files."""
    mixed = open_bytes(convert_gguf(dtype=DType.Q4_0)).entries
    uniform = open_bytes(convert_gguf(dtype=DType.Q4_0, is_uniform=True)).entries
    tables = {name for name in mixed if name in {TOKEN_EMBEDDINGS, OUTPUT}}
    kept = {name for name, entry in mixed.items() if entry.dtype == DType.Q8_0}
    assert (len(tables) > 0, kept) == (True, tables)
    assert {mixed[name].block_size for name in tables} == {mixed[TOKEN_EMBEDDINGS].shape[-1]}
    assert {entry.dtype for entry in uniform.values()} == {DType.F32, DType.Q4_0}


def test_a_block_size_that_does_not_fit_is_refused():
    """With the name of the first tensor that it does not fit."""
    with pytest.raises(KernelError) as caught:
        convert_gguf(dtype=DType.Q8_0, block_size=7)
    assert caught.value.field == "tok_embeddings.weight.block_size"


def test_a_slm_file_can_be_converted_again():
    """To another type, keeping manifest and tokenizer."""
    source = read_model_source(BytesSource(read_fixture("grouped_f32.slm")))
    data, manifest, names = convert_bytes(source, dtype=DType.Q4_0)
    model = open_bytes(data)
    assert model.manifest is not None
    assert model.manifest.control_tokens == {"<|endoftext|>": 0, "<|im_start|>": 1, "<|im_end|>": 2}
    assert (manifest.dtype, model.manifest.dtype, len(names)) == ("q4_0", "q4_0", 20)


def test_a_slm_file_without_a_manifest_gets_a_plain_one():
    """What the file does not say is not invented."""
    source = read_model_source(BytesSource(read_fixture("tiny_f32.slm")))
    manifest = convert_bytes(source, dtype=DType.F32)[1]
    assert (manifest.licence, manifest.chat_template.kind) == ("not stated", "plain")


def test_progress_counts_every_tensor_once():
    """The caller may stop or show a bar after each."""
    source = read_model_source(BytesSource(GGUF))
    steps = convert_steps(source, io.BytesIO(), ConvertSettings())
    progress = list(steps)
    assert [item.done for item in progress] == list(range(1, 21))
    assert {item.total for item in progress} == {20}


def test_file_and_manifest_are_written_together(tmp_path):
    """OUT and OUT.json, the latter with size and SHA-256 of the former."""
    (tmp_path / "in.gguf").write_bytes(GGUF)
    seen: list[WriteProgress] = []
    manifest = convert(
        tmp_path / "in.gguf", tmp_path / "out.slm", ConvertSettings(name="N"), report=seen.append
    )
    written = parse_manifest((tmp_path / "out.slm.json").read_bytes())
    assert written == manifest
    assert written.file_bytes == (tmp_path / "out.slm").stat().st_size
    assert (written.name, len(seen)) == ("N", 20)
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        "in.gguf",
        "out.slm",
        "out.slm.json",
    ]


def test_a_folder_gives_the_same_weights_as_the_gguf(tmp_path):
    """Two formats of one model differ in nothing that is computed."""
    folder = tmp_path / "hub"
    folder.mkdir()
    write_hub_folder(folder)
    convert(folder, tmp_path / "out.slm", ConvertSettings(dtype=DType.Q8_0))
    ours = open_bytes((tmp_path / "out.slm").read_bytes())
    theirs = open_bytes(convert_gguf(dtype=DType.Q8_0))
    assert (ours.config, ours.tokenizer_section) == (theirs.config, theirs.tokenizer_section)
    for name in ours.entries:
        np.testing.assert_array_equal(ours.read_f32(name), theirs.read_f32(name))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x7fELF" * 20])
def test_a_file_of_another_kind_is_refused(data):
    """By its first four bytes."""
    with pytest.raises(KernelError) as caught:
        read_model_source(BytesSource(data))
    assert caught.value.code == ErrorCode.INVALID_MODEL_MAGIC


def test_a_refused_conversion_leaves_nothing_behind(tmp_path):
    """Also when the refusal comes in the middle of the weights."""
    damaged = bytearray(GGUF)
    damaged[-4:] = b"\x00\x00\xc0\x7f"
    (tmp_path / "in.gguf").write_bytes(damaged)
    with pytest.raises(KernelError) as caught:
        convert(tmp_path / "in.gguf", tmp_path / "out.slm", ConvertSettings())
    assert caught.value.code == ErrorCode.INVALID_WEIGHT
    assert [item.name for item in tmp_path.iterdir()] == ["in.gguf"]


class WideRows:
    """A large matrix that exists only in the rows that are asked for."""

    def __init__(self, shape):
        self.shape = shape

    def read(self, start, stop):
        """Make rows."""
        return np.ones((stop - start, self.shape[-1]), np.float32)


class NoSink:
    """A sink that forgets."""

    def write(self, data):
        """Forget."""


def test_memory_does_not_grow_with_the_model():
    """Three matrices of 64 MiB as float32 are converted within 48 MiB."""
    tracemalloc = pytest.importorskip("tracemalloc")
    config = ModelConfig(
        vocab_size=310,
        special_token_count=3,
        hidden_size=8,
        layer_count=1,
        head_count=1,
        kv_head_count=1,
        head_dim=8,
        ffn_size=1 << 21,
        max_context=8,
        rope_theta=1e4,
        rms_norm_epsilon=1e-5,
        tied_output=True,
    )
    tensors = {name: WideRows(shape) for name, shape in tensor_shapes(config)}
    manifest = Manifest("x", "x", "x", count_parameters(config), "f32")
    source = ModelSource(config, open_grouped().tokenizer_section, tensors, manifest)
    tracemalloc.start()
    for _ in convert_steps(source, NoSink(), ConvertSettings(dtype=DType.Q8_0, block_size=8)):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The scales of one matrix (8 MiB) are kept until its payload is written, then joined.
    assert peak < 48 << 20


def test_committed_models_convert_to_themselves():
    """A float32 fixture with trailer, converted to float32, has the same tensors and size."""
    data = read_fixture("grouped_f32.slm")
    again = convert_bytes(read_model_source(BytesSource(data)), dtype=DType.F32)[0]
    assert again == data
    assert (MODELS / "grouped_f32.slm").stat().st_size == len(again)


def test_weights_of_a_recipe_depend_on_the_seed_alone():
    """And differ between seeds."""
    config = open_grouped().config
    first, second = make_weights(config, 1), make_weights(config, 2)
    assert not np.array_equal(first["norm.weight"], second["norm.weight"])
    np.testing.assert_array_equal(first["norm.weight"], make_weights(config, 1)["norm.weight"])


def test_what_is_quantised_already_can_stay_as_it_is():
    """A `.slm` in q4_1 passes through a q8_0 conversion byte by byte; a float32 one does not."""
    stored = convert_gguf(dtype=DType.Q4_1, name="x", origin="y")
    again, _, _ = convert_bytes(
        read_model_source(BytesSource(stored)), dtype=DType.Q8_0, keeps_quantised=True
    )
    assert again == stored
    floats = convert_gguf(dtype=DType.F32)
    rounded, manifest, _ = convert_bytes(
        read_model_source(BytesSource(floats)), dtype=DType.Q8_0, keeps_quantised=True
    )
    assert open_bytes(rounded).dtype == DType.Q8_0
    assert manifest.dtype == "q8_0"
