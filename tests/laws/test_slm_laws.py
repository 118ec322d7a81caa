"""Laws of the `.slm` reader and writer over generated files and generated damage."""

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels.bpe_section import BpeVocabulary, Merge, pack_bpe_section
from kernels.btok import BYTE_SPECIAL_IDS, pack_btok
from kernels.dtypes import DType, dequantise, quantise, rows_and_columns
from kernels.errors import KernelError
from kernels.manifest import ChatTemplate, Manifest
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters, tensor_shapes
from kernels.model_source import ArrayRows
from kernels.slm_plan import TensorPlan
from kernels.slm_writer import write_model
from kernels.tokenizer import load_tokenizer
from kernels.tokenizer_section import SectionHeader
from tests.kernels.slm_bytes import open_bytes, read_all, read_fixture

FIXTURES = (
    "tiny_f32.slm",
    "tiny_q8_0.slm",
    "tiny_q4_0.slm",
    "tiny_bpe_f32.slm",
    "grouped_q8_0.slm",
)
TRAILED = read_fixture("grouped_q8_0.slm")

BPE_MERGES = [Merge(ord("t"), ord("h"), 260, 0), Merge(260, ord("e"), 261, 1)]
BPE_SECTION = pack_bpe_section(
    BpeVocabulary(
        SectionHeader("BPE1", 262, BYTE_SPECIAL_IDS), {260: b"th", 261: b"the"}, BPE_MERGES
    )
)


@st.composite
def configs(draw, vocab_size):
    """Draw a small valid shape, grouped or not, tied or not."""
    kv_head_count = draw(st.integers(1, 3))
    head_count = kv_head_count * draw(st.integers(1, 3))
    head_dim = 2 * draw(st.integers(1, 3))
    return ModelConfig(
        vocab_size=vocab_size,
        special_token_count=4,
        hidden_size=head_count * head_dim,
        layer_count=draw(st.integers(1, 3)),
        head_count=head_count,
        kv_head_count=kv_head_count,
        head_dim=head_dim,
        ffn_size=2 * draw(st.integers(1, 12)),
        max_context=draw(st.integers(1, 100)),
        rope_theta=float(np.float32(draw(st.floats(1.0, 1e6)))),
        rms_norm_epsilon=float(np.float32(draw(st.floats(1e-8, 1e-3)))),
        tied_output=draw(st.booleans()),
    )


def make_manifest(config, name):
    """Return a manifest that fits a shape."""
    return Manifest(
        name=name,
        origin="a test",
        licence="CC0-1.0",
        parameters=count_parameters(config),
        dtype="f32",
        chat_template=ChatTemplate("chatml", "Sei kurz…", "<bos>", "<eos>"),
        control_tokens={"<bos>": 256, "<eos>": 257},
    )


@given(
    data=st.data(),
    seed=st.integers(0, 1000),
    dtype=st.sampled_from([DType.F32, DType.Q8_0, DType.Q4_0]),  # q4_1 has blocks of 32 only
    name=st.none() | st.text(max_size=30).filter(str.isprintable),
    is_bpe=st.booleans(),
)
def test_what_is_written_is_read_back(data, seed, dtype, name, is_bpe):
    """Configuration, tokenizer, manifest and every quantised tensor survive the file."""
    section = BPE_SECTION if is_bpe else pack_btok()
    config = data.draw(configs(262 if is_bpe else 260))
    draw = np.random.default_rng(seed)
    weights = {
        key: draw.standard_normal(shape).astype(np.float32) for key, shape in tensor_shapes(config)
    }
    blocks = (
        {
            key: data.draw(
                st.sampled_from(
                    [size for size in (2, 4, array.shape[-1]) if array.shape[-1] % size == 0]
                )
            )
            for key, array in weights.items()
        }
        if dtype != DType.F32
        else dict.fromkeys(weights, 0)
    )
    plans = [
        TensorPlan(key, dtype, blocks[key], ArrayRows(array)) for key, array in weights.items()
    ]
    manifest = None if name is None else make_manifest(config, name)
    sink = io.BytesIO()
    write_model(sink, config, section, plans, manifest)
    model = open_bytes(sink.getvalue())
    assert (model.config, model.tokenizer_section) == (config, section)
    assert (model.manifest, model.checksum, model.warnings) == (manifest, "verified", ())
    assert model.file_bytes % 64 == 0
    for key, array in weights.items():
        payload, scales = quantise(dtype, array.reshape(rows_and_columns(array.shape)), blocks[key])
        stored = model.read_tensor(key)
        np.testing.assert_array_equal(stored.payload.reshape(payload.shape), payload)
        np.testing.assert_array_equal(
            model.read_f32(key), dequantise(dtype, payload, scales).reshape(array.shape)
        )


@given(
    fixture=st.sampled_from(FIXTURES),
    changes=st.lists(
        st.tuples(st.integers(0, 1 << 30), st.integers(1, 255)), min_size=1, max_size=8
    ),
)
def test_a_file_with_changed_bytes_opens_or_is_refused_with_a_kernel_error(fixture, changes):
    """No other exception, whatever is damaged; a bad file never ends in a traceback."""
    data = bytearray(read_fixture(fixture))
    for position, change in changes:
        data[position % len(data)] ^= change
    _read_or_refuse(bytes(data))


@given(
    fixture=st.sampled_from(FIXTURES),
    position=st.integers(0, 1100),
    change=st.integers(1, 255),
)
def test_a_changed_byte_in_the_structure_opens_or_is_refused(fixture, position, change):
    """The same for the header, the tokenizer and the directory, where most fields are."""
    data = bytearray(read_fixture(fixture))
    data[position] ^= change
    _read_or_refuse(bytes(data))


@given(fixture=st.sampled_from(FIXTURES), kept=st.floats(0, 1))
def test_a_file_cut_anywhere_is_refused_unless_only_padding_is_lost(fixture, kept):
    """A cut that reaches into a tensor, the manifest or the trailer is always noticed."""
    data = read_fixture(fixture)
    cut = data[: int(kept * (len(data) - 1))]
    if (model := _read_or_refuse(cut)) is not None:
        whole = open_bytes(data)
        end = max(entry.byte_offset + entry.byte_length for entry in whole.entries.values())
        assert len(cut) >= end
        assert model.checksum == "not verifiable"


@given(position=st.integers(0, len(TRAILED) - 1), change=st.integers(1, 255))
def test_no_changed_byte_of_a_file_with_our_trailer_goes_unnoticed(position, change):
    """The checksum's mixing can be undone, so one changed word always changes the sum."""
    data = bytearray(TRAILED)
    data[position] ^= change
    assert _read_or_refuse(bytes(data)) is None


@given(fixture=st.sampled_from(FIXTURES), junk=st.binary(max_size=300))
def test_random_bytes_are_refused(fixture, junk):
    """Neither junk alone nor junk behind a true header is a model."""
    assert _read_or_refuse(junk) is None
    assert _read_or_refuse(read_fixture(fixture)[:108] + junk) is None


@given(section=st.binary(max_size=200), kind=st.sampled_from([b"BTOK", b"BPE1"]))
def test_a_random_tokenizer_section_loads_or_is_refused(section, kind):
    """The tokenizer has its own reader, and the same law."""
    start = kind + (1).to_bytes(4, "little")
    for data in (section, start + section, start + (300).to_bytes(4, "little") + section):
        error = _refusal_of(lambda data=data: load_tokenizer(data, None))
        assert error is None or error.field.startswith("tokenizer.")


def _refusal_of(action):
    try:
        action()
    except KernelError as error:
        return error
    return None


def _read_or_refuse(data):
    """Return the model, or None when a kernel error with field and message refuses it."""
    error = _refusal_of(lambda: _load(data))
    assert error is None or (error.message and error.field)
    return open_bytes(data) if error is None else None


def _load(data):
    model = read_all(data)
    load_tokenizer(model.tokenizer_section, model.manifest)
