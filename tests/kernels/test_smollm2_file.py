"""The real GGUF and what it becomes: weights, words and ids against independent engines."""

import hashlib
import io

import numpy as np
import pytest

from kernels.byte_source import BytesSource
from kernels.convert import ConvertSettings, convert_steps
from kernels.dtypes import DType, rows_and_columns
from kernels.gguf_model import PART_NAMES
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer
from tests.kernels.gguf_bytes import vocabulary_texts
from tests.kernels.smollm2 import load_tokenizer_of_model, open_source, read_golden

pytestmark = pytest.mark.slow

GOLDEN = read_golden()
CASES = GOLDEN["tokenizer_cases"]
EACH_TENSOR = pytest.mark.parametrize("name", GOLDEN["tensor_checks"])


def our_name(theirs):
    """Return the `.slm` name of a GGUF tensor."""
    fixed = {"token_embd.weight": "tok_embeddings.weight", "output_norm.weight": "norm.weight"}
    if theirs in fixed:
        return fixed[theirs]
    _, layer, part, _ = theirs.split(".")
    ours = {value: key for key, value in PART_NAMES.items()}[part]
    return f"layers.{layer}.{ours}.weight"


@EACH_TENSOR
def test_decoded_tensors_have_the_reference_hash(name):
    """SHA-256 of the float32 values, so every bit of every weight counts."""
    rows = open_source().tensors[our_name(name)]
    weights = rows.read(0, rows_and_columns(rows.shape)[0])
    expected = GOLDEN["tensor_checks"][name]
    assert list(rows.shape) == expected["shape"]
    assert hashlib.sha256(weights.astype("<f4").tobytes()).hexdigest() == expected["sha256_f32_le"]


def test_header_facts_are_those_of_the_model():
    """30 layers, 9 heads over 3, vocabulary 49,152, tied, 134,515,008 parameters."""
    source, facts = open_source(), GOLDEN["architecture"]
    config = source.config
    assert (config.layer_count, config.head_count, config.kv_head_count) == (30, 9, 3)
    assert (config.vocab_size, config.max_context) == (facts["vocab"], facts["context"])
    assert (config.rope_theta, config.tied_output) == (facts["rope_theta"], True)
    assert source.manifest.parameters == facts["parameters"]
    assert source.manifest.chat_template.default_system == GOLDEN["tokenizer"]["default_system"]
    assert sorted(source.manifest.control_tokens.values()) == GOLDEN["tokenizer"]["control_ids"]


@pytest.mark.parametrize("index", range(len(CASES)), ids=lambda index: repr(CASES[index]["text"]))
def test_each_text_has_the_ids_of_both_reference_engines(index):
    """58 cases; decoding gives the text back wherever every byte has a token."""
    case, tokenizer = CASES[index], load_tokenizer_of_model()
    assert tokenizer.encode(case["text"]) == case["ids"]
    assert (tokenizer.decode(case["ids"]) == case["text"]) == case["decodes_to_input"]


def test_reference_answers_decode_to_their_texts():
    """Control tokens are written as their names only when asked for."""
    tokenizer = load_tokenizer_of_model()
    for prompt in GOLDEN["prompts"]:
        text = tokenizer.decode(prompt["output_ids_f32"], show_control=True)
        assert text == prompt["output_text_f32"]


def test_bytes_without_a_token_are_the_21_known_ones():
    """Text with these bytes loses them, in both reference engines too."""
    tokenizer = load_tokenizer_of_model()
    covered = {tokenizer.token_bytes(token_id) for token_id in range(17, 252)}
    missing = [f"0x{value:02x}" for value in range(256) if bytes([value]) not in covered]
    assert missing == GOLDEN["tokenizer"]["bytes_without_a_token"]


def test_random_texts_have_the_ids_of_the_public_tokenizer():
    """2,000 mixed texts, and words long enough for the heap, against `tokenizers`."""
    tokenizers = pytest.importorskip("tokenizers")
    theirs = _public_tokenizer(tokenizers)
    ours = load_tokenizer_of_model()
    draw = np.random.default_rng(7)
    letters = list(" \n\t'.,-0123456789abcdefghijklmnopqrstuvwxyzTHEéüßд中日한🙂½\u00a0\u200d")
    texts = ["".join(draw.choice(letters, size)) for size in draw.integers(1, 60, 2000)]
    texts += ["".join(draw.choice(list("abcdething"), 3000)) for _ in range(5)]
    texts += ["a" * 5000, " " * 5000, "日本" * 2000, GOLDEN["perplexity_check"]["text"] * 3]
    for text in texts:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids


def _public_tokenizer(tokenizers):
    texts, merges, _ = vocabulary_texts(open_source().tokenizer_section, control_count=17)
    vocab = {text: index for index, text in enumerate(texts)}
    built = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    built.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Digits(individual_digits=True),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    return built


def test_the_converted_file_holds_the_same_tokenizer_and_rounded_weights():
    """Row scales: each weight within half a step of the GGUF's."""
    sink = io.BytesIO()
    for _ in convert_steps(open_source(), sink, ConvertSettings(dtype=DType.Q8_0)):
        pass
    model = open_model(BytesSource(sink.getbuffer()))
    tokenizer = load_tokenizer(model.tokenizer_section, model.manifest)
    assert tokenizer.identity == load_tokenizer_of_model().identity
    assert (model.parameters, model.checksum) == (134_515_008, "verified")
    rows = open_source().tensors["layers.0.wq.weight"].read(0, 576)
    step = np.abs(rows).max(axis=1, keepdims=True) / 127
    assert (np.abs(model.read_f32("layers.0.wq.weight") - rows) <= step * 0.50002).all()
