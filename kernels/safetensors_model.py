"""Understand a folder of safetensors weights as a model: the llama architecture, byte-level BPE.

Takes a folder with config.json, tokenizer.json and model.safetensors (or an index of several
files). Gives a `ModelSource`. Query and key rows lie there in halves (first all first members of
the rotary pairs, then all second ones); they are reordered to adjacent pairs here.
Does not know how `.slm` files are written.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import FileSource, read_bytes, sha256_of
from kernels.chat_templates import read_chat_template
from kernels.errors import ErrorCode, KernelError, kernel_error
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
from kernels.safetensors_file import SafetensorsTensor, open_safetensors
from kernels.slm_plan import TensorRows
from kernels.strict_json import parse_strict_json
from kernels.tokenizer_json import Settings, read_tokenizer_json
from kernels.tokenizer_section import SpecialIds
from kernels.vocabulary_source import VocabularySource, pack_vocabulary

ARCHITECTURE = "LlamaForCausalLM"
WEIGHTS, WEIGHTS_INDEX = "model.safetensors", "model.safetensors.index.json"
MAX_JSON_BYTES = 64 << 20
MAX_DEPTH = 32

PART_NAMES: Final = {
    "attn_norm": "input_layernorm",
    "wq": "self_attn.q_proj",
    "wk": "self_attn.k_proj",
    "wv": "self_attn.v_proj",
    "wo": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "w1": "mlp.gate_proj",
    "w2": "mlp.down_proj",
    "w3": "mlp.up_proj",
}


class AdjacentPairRows:
    """Rows of a query or key matrix, reordered from halves to adjacent pairs in each head.

    Row 2i of a head is its row i, row 2i + 1 its row D/2 + i.
    """

    def __init__(self, tensor: SafetensorsTensor, head_dim: int) -> None:
        self._tensor = tensor
        self.shape = tensor.shape
        halves = np.arange(tensor.shape[0]).reshape(-1, 2, head_dim // 2)  # [heads, 2, D/2]
        self._order = halves.transpose(0, 2, 1).ravel()  # [heads * D]

    def read(self, start: int, stop: int) -> F32:
        """Return rows in the new order."""
        wanted = self._order[start:stop]
        first, last = int(wanted.min()), int(wanted.max())
        return self._tensor.read(first, last + 1)[wanted - first]


@contextmanager
def open_safetensors_model(path: str | os.PathLike[str]) -> Iterator[ModelSource]:
    """Open a folder for conversion, for as long as the block runs.

    Raises:
        KernelError: `unsupported_source` for another architecture or tokenizer;
            `invalid_source` or `read_failed` for missing files, fields and damage.
    """
    folder = Path(path)
    settings = _read_json(folder / "config.json")
    _check_architecture(settings)
    special = _read_special_ids(settings)
    vocabulary = read_tokenizer_json(_read_json(folder / "tokenizer.json"), special)
    config = _read_config(settings, vocabulary)
    with ExitStack() as stack:
        sources = [stack.enter_context(FileSource(file)) for file in _weight_files(folder)]
        tensors: dict[str, SafetensorsTensor] = {}
        for source in sources:
            tensors.update(open_safetensors(source))
        manifest = Manifest(
            name=folder.resolve().name,
            origin="a safetensors folder",
            licence="not stated",
            parameters=count_parameters(config),
            dtype="f32",
            pre_tokenizer="smollm",
            chat_template=read_chat_template(_read_template(folder)),
            control_tokens=vocabulary.control_tokens,
            source_sha256=sha256_of(sources[0]) if len(sources) == 1 else "",
        )
        named = _name_tensors(tensors, config)
        yield ModelSource(config, pack_vocabulary(vocabulary), named, manifest)


def _read_json(path: Path) -> Settings:
    with FileSource(path) as source:
        if source.size > MAX_JSON_BYTES:
            raise _invalid(path.name, "is too large")
        data = read_bytes(source, 0, source.size)
    try:
        value = parse_strict_json(data, max_depth=MAX_DEPTH)
    except ValueError as error:
        raise _invalid(path.name, "is not readable JSON") from error
    if not isinstance(value, dict):
        raise _invalid(path.name, "must be an object")
    return value


def _check_architecture(settings: Settings) -> None:
    if settings.get("architectures") != [ARCHITECTURE]:
        text = f"architectures is {settings.get('architectures')}; only {ARCHITECTURE} can be used."
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "architectures", text)
    for key in ("rope_scaling", "attention_bias", "mlp_bias"):
        if settings.get(key):
            text = f"The model uses {key}, which cannot be converted."
            raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, key, text)


def _read_config(settings: Settings, vocabulary: VocabularySource) -> ModelConfig:
    head_count = _number(settings, "num_attention_heads")
    hidden_size = _number(settings, "hidden_size")
    return ModelConfig(
        vocab_size=len(vocabulary.tokens),
        special_token_count=len(vocabulary.control_tokens),
        hidden_size=hidden_size,
        layer_count=_number(settings, "num_hidden_layers"),
        head_count=head_count,
        kv_head_count=_number(settings, "num_key_value_heads", head_count),
        head_dim=_number(settings, "head_dim", hidden_size // max(head_count, 1)),
        ffn_size=_number(settings, "intermediate_size"),
        max_context=_number(settings, "max_position_embeddings"),
        rope_theta=_real(settings, "rope_theta", 10000.0),
        rms_norm_epsilon=_real(settings, "rms_norm_eps", 1e-5),
        tied_output=bool(settings.get("tie_word_embeddings", False)),
    )


def _read_special_ids(settings: Settings) -> SpecialIds:
    eos = _number(settings, "eos_token_id")
    return SpecialIds(
        bos=_number(settings, "bos_token_id", eos),
        eos=eos,
        pad=_number(settings, "pad_token_id", eos),
        unk=_number(settings, "unk_token_id", 0),
    )


def _weight_files(folder: Path) -> list[Path]:
    if not (folder / WEIGHTS_INDEX).exists():
        return [folder / WEIGHTS]
    weight_map = _read_json(folder / WEIGHTS_INDEX).get("weight_map")
    if not isinstance(weight_map, dict):
        raise _invalid(WEIGHTS_INDEX, "has no weight_map")
    names = sorted({str(name) for name in weight_map.values()})
    if any(Path(name).name != name for name in names):
        raise _invalid(WEIGHTS_INDEX, "names a file outside the folder")
    return [folder / name for name in names]


def _read_template(folder: Path) -> str:
    path = folder / "tokenizer_config.json"
    template = _read_json(path).get("chat_template") if path.exists() else None
    return template if isinstance(template, str) else ""


def _name_tensors(
    tensors: Mapping[str, SafetensorsTensor], config: ModelConfig
) -> dict[str, TensorRows]:
    if config.layer_count > len(tensors):  # a wrong count must not become as many names
        rule = "is larger than the number of tensors"
        raise _invalid(name="num_hidden_layers", rule=rule)
    theirs = {
        TOKEN_EMBEDDINGS: "model.embed_tokens.weight",
        OUTPUT_NORM: "model.norm.weight",
        OUTPUT: "lm_head.weight",
    }
    for layer in range(config.layer_count):
        for part, name in PART_NAMES.items():
            theirs[layer_name(layer, part)] = f"model.layers.{layer}.{name}.weight"
    named: dict[str, TensorRows] = {}
    for name, shape in tensor_shapes(config):
        tensor = tensors.get(theirs[name])
        if tensor is None or tensor.shape != shape:
            raise _invalid(theirs[name], "is missing or has another type or shape")
        is_rotated = name.endswith((".wq.weight", ".wk.weight"))
        named[name] = AdjacentPairRows(tensor, config.head_dim) if is_rotated else tensor
    return named


def _number(settings: Settings, key: str, default: int | None = None) -> int:
    value = settings.get(key)
    value = default if value is None else value
    if not isinstance(value, int):
        raise _invalid(key, "is missing or not a number")
    return value


def _real(settings: Settings, key: str, default: float) -> float:
    value = settings.get(key, default)
    if not isinstance(value, int | float):
        raise _invalid(key, "is not a number")
    return float(np.float32(value))


def _invalid(name: str, rule: str) -> KernelError:
    text = f"{name} {rule}; complete the folder and try again."
    return kernel_error(ErrorCode.INVALID_SOURCE, name, text)
