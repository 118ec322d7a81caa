"""Understand a GGUF file as a model: the llama architecture with a byte-level vocabulary.

Takes an open GGUF file. Gives a `ModelSource`, or one sentence on why it cannot be converted.
Rows of the query and key matrices are already in the order for adjacent rotary pairs.
Does not know how `.slm` files are written.
"""

from collections.abc import Mapping
from typing import Final

from kernels.byte_source import ByteSource, sha256_of
from kernels.chat_templates import read_chat_template
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.gguf_file import GgufFile, GgufTensor, open_gguf
from kernels.manifest import Manifest
from kernels.model_config import ModelConfig
from kernels.model_names import (
    OUTPUT,
    OUTPUT_NORM,
    TOKEN_EMBEDDINGS,
    count_parameters,
    layer_name,
    tensor_shapes,
)
from kernels.model_source import ModelSource
from kernels.tokenizer_section import SpecialIds
from kernels.vocabulary_source import VocabularySource, pack_vocabulary

ARCHITECTURE = "llama"
PRE_TOKENIZER = "smollm"
NORMAL_TOKEN, CONTROL_TOKEN = 1, 3

PART_NAMES: Final = {
    "attn_norm": "attn_norm",
    "wq": "attn_q",
    "wk": "attn_k",
    "wv": "attn_v",
    "wo": "attn_output",
    "ffn_norm": "ffn_norm",
    "w1": "ffn_gate",
    "w2": "ffn_down",
    "w3": "ffn_up",
}

UNSUPPORTED_KEYS: Final = ("llama.rope.scaling.type", "llama.expert_count")


def read_gguf_model(source: ByteSource) -> ModelSource:
    """Open a GGUF file for conversion.

    Raises:
        KernelError: `unsupported_source` for another architecture, tokenizer or tensor type;
            `invalid_source` for missing fields and damage.
    """
    fields = _Fields(open_gguf(source))
    fields.require("general.architecture", ARCHITECTURE)
    fields.require("tokenizer.ggml.model", "gpt2")
    fields.require("tokenizer.ggml.pre", PRE_TOKENIZER)
    _refuse_extensions(fields)
    vocabulary = _read_vocabulary(fields)
    config = _read_config(fields, len(vocabulary.tokens), len(vocabulary.control_tokens))
    manifest = Manifest(
        name=fields.text("general.name", "model"),
        origin=_describe_origin(fields),
        licence=fields.text("general.license", "not stated"),
        parameters=count_parameters(config),
        dtype="f32",
        pre_tokenizer="smollm",
        chat_template=read_chat_template(fields.text("tokenizer.chat_template", "")),
        control_tokens=vocabulary.control_tokens,
        source_sha256=sha256_of(source),
    )
    tensors = _name_tensors(fields.file.tensors, config)
    return ModelSource(config, pack_vocabulary(vocabulary), tensors, manifest)


class _Fields:
    """Typed access to the metadata; a wrong type is refused by name."""

    def __init__(self, file: GgufFile) -> None:
        self.file = file

    def require(self, key: str, expected: str) -> None:
        found = self.file.values.get(key)
        if found != expected:
            text = f"{key} is {found!r}, but only {expected!r} can be converted."
            raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, key, text)

    def text(self, key: str, default: str) -> str:
        value = self.file.values.get(key, default)
        if not isinstance(value, str):
            raise _invalid(key)
        return value

    def count(self, key: str, default: int | None = None) -> int:
        value = self.file.values.get(key, default)
        if not isinstance(value, int):
            raise _invalid(key)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        value = self.file.values.get(key, default)
        if not isinstance(value, float):
            raise _invalid(key)
        return value

    def texts(self, key: str) -> list[str]:
        value = self.file.values.get(key)
        if not isinstance(value, list):
            raise _invalid(key)
        return [item for item in value if isinstance(item, str)]

    def counts(self, key: str) -> list[int]:
        value = self.file.values.get(key)
        if not isinstance(value, list):
            raise _invalid(key)
        return [item for item in value if isinstance(item, int)]


def _refuse_extensions(fields: _Fields) -> None:
    for key in UNSUPPORTED_KEYS:
        if fields.file.values.get(key) not in (None, 0, "none"):
            text = f"The model uses {key}, which cannot be converted."
            raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, key, text)


def _read_config(fields: _Fields, vocab_size: int, special_count: int) -> ModelConfig:
    head_count = fields.count("llama.attention.head_count")
    hidden_size = fields.count("llama.embedding_length")
    head_dim = hidden_size // head_count if head_count else 0
    for key in ("llama.rope.dimension_count", "llama.attention.key_length"):
        if fields.count(key, head_dim) != head_dim:
            text = f"{key} is not the head width {head_dim}; partial rotary cannot be converted."
            raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, key, text)
    return ModelConfig(
        vocab_size=vocab_size,
        special_token_count=special_count,
        hidden_size=hidden_size,
        layer_count=fields.count("llama.block_count"),
        head_count=head_count,
        kv_head_count=fields.count("llama.attention.head_count_kv", head_count),
        head_dim=head_dim,
        ffn_size=fields.count("llama.feed_forward_length"),
        max_context=fields.count("llama.context_length"),
        rope_theta=fields.number("llama.rope.freq_base", 10000.0),
        rms_norm_epsilon=fields.number("llama.attention.layer_norm_rms_epsilon"),
        tied_output="output.weight" not in fields.file.tensors,
    )


def _read_vocabulary(fields: _Fields) -> VocabularySource:
    tokens = fields.texts("tokenizer.ggml.tokens")
    kinds = fields.counts("tokenizer.ggml.token_type")
    if len(kinds) != len(tokens) or not set(kinds) <= {NORMAL_TOKEN, CONTROL_TOKEN}:
        text = "The vocabulary has tokens that are neither normal nor control; it cannot be used."
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "tokenizer.ggml.token_type", text)
    if fields.file.values.get("tokenizer.ggml.add_bos_token"):
        text = "The model wants a begin mark before every text, which cannot be converted."
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "tokenizer.ggml.add_bos_token", text)
    eos = fields.count("tokenizer.ggml.eos_token_id")
    return VocabularySource(
        tokens=tokens,
        control_tokens={
            tokens[index]: index for index, kind in enumerate(kinds) if kind == CONTROL_TOKEN
        },
        merges=[_split_merge(merge) for merge in fields.texts("tokenizer.ggml.merges")],
        special=SpecialIds(
            bos=fields.count("tokenizer.ggml.bos_token_id", eos),
            eos=eos,
            pad=fields.count("tokenizer.ggml.padding_token_id", eos),
            unk=fields.count("tokenizer.ggml.unknown_token_id", eos),
        ),
    )


def _split_merge(merge: str) -> tuple[str, str]:
    left, _, right = merge.partition(" ")
    return left, right


def _describe_origin(fields: _Fields) -> str:
    parts = (fields.text("general.organization", ""), fields.text("general.name", ""))
    return " ".join(part for part in parts if part) + ", from a GGUF file"


def _name_tensors(tensors: Mapping[str, GgufTensor], config: ModelConfig) -> dict[str, GgufTensor]:
    if config.layer_count > len(tensors):  # a damaged count must not become as many names
        raise _invalid(key="llama.block_count")
    theirs = _their_names(config)
    if unknown := sorted(tensors.keys() - theirs.values()):
        text = f"Tensor {unknown[0]} has no place in a llama model; it cannot be converted."
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, unknown[0], text)
    named = {}
    for name, shape in tensor_shapes(config):
        tensor = tensors.get(theirs[name])
        if tensor is None or tensor.shape != shape:
            raise _invalid(theirs[name])
        named[name] = tensor
    return named


def _their_names(config: ModelConfig) -> dict[str, str]:
    names = {
        TOKEN_EMBEDDINGS: "token_embd.weight",
        OUTPUT_NORM: "output_norm.weight",
        OUTPUT: "output.weight",
    }
    for layer in range(config.layer_count):
        for ours, theirs in PART_NAMES.items():
            names[layer_name(layer, ours)] = f"blk.{layer}.{theirs}.weight"
    return names


def _invalid(key: str) -> KernelError:
    text = f"{key} is missing or has the wrong type or shape; fetch the file again."
    return kernel_error(ErrorCode.INVALID_SOURCE, key, text)
