"""Small GGUF and safetensors models for tests, made from the grouped fixture's weights.

Takes overrides of fields and tensors. Gives file bytes, written here independently of the readers.
"""

import json
import struct

import numpy as np

from kernels.bpe_section import parse_bpe_section
from kernels.byte_alphabet import LETTER_OF_BYTE
from kernels.model_names import OUTPUT_NORM, TOKEN_EMBEDDINGS, layer_name
from kernels.slm_file import SlmFile
from kernels.tokenizer_section import read_section_header
from tests.kernels.slm_bytes import open_bytes, read_fixture

GGUF_PARTS = {
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
HUB_PARTS = {
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
TEMPLATE = "{{'<|im_start|>system\nAnswer briefly.<|im_end|>\n'}}<|im_start|>"


def open_grouped() -> SlmFile:
    """Open the fixture that all foreign files are made from."""
    return open_bytes(read_fixture("grouped_f32.slm"))


def vocabulary_texts(
    section: bytes | None = None, *, control_count: int = 3
) -> tuple[list[str], list[tuple[str, str]], int]:
    """Return token texts, merge pairs and the number of control tokens of a BPE1 section."""
    section = section or open_grouped().tokenizer_section
    vocabulary = parse_bpe_section(section, read_section_header(section))
    texts = [
        raw.decode() if token_id < control_count else "".join(LETTER_OF_BYTE[byte] for byte in raw)
        for token_id, raw in sorted(vocabulary.token_bytes.items())
    ]
    pairs = [(texts[merge.left], texts[merge.right]) for merge in vocabulary.merges]
    return texts, pairs, control_count


def gguf_values() -> dict[str, object]:
    """Return the metadata of a complete model."""
    config = open_grouped().config
    texts, pairs, controls = vocabulary_texts()
    return {
        "general.architecture": "llama",
        "general.name": "Grouped",
        "general.license": "CC0-1.0",
        "llama.block_count": config.layer_count,
        "llama.context_length": config.max_context,
        "llama.embedding_length": config.hidden_size,
        "llama.feed_forward_length": config.ffn_size,
        "llama.attention.head_count": config.head_count,
        "llama.attention.head_count_kv": config.kv_head_count,
        "llama.rope.freq_base": config.rope_theta,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_epsilon,
        "llama.rope.dimension_count": config.head_dim,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": texts,
        "tokenizer.ggml.token_type": [3] * controls + [1] * (len(texts) - controls),
        "tokenizer.ggml.merges": [f"{left} {right}" for left, right in pairs],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.padding_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
        "tokenizer.chat_template": TEMPLATE,
    }


def gguf_tensors() -> dict[str, tuple[int, tuple[int, ...], bytes]]:
    """Return name to (type number, numpy shape, data) of all tensors as float32."""
    model = open_grouped()
    names = {"token_embd.weight": TOKEN_EMBEDDINGS, "output_norm.weight": OUTPUT_NORM}
    for layer in range(model.config.layer_count):
        for ours, theirs in GGUF_PARTS.items():
            names[f"blk.{layer}.{theirs}.weight"] = layer_name(layer, ours)
    weights = {theirs: model.read_f32(ours) for theirs, ours in names.items()}
    return {name: (0, array.shape, array.tobytes()) for name, array in weights.items()}


def pack_gguf(values=None, tensors=None, *, version=3):
    """Return the bytes of a GGUF file."""
    values = gguf_values() if values is None else values
    tensors = gguf_tensors() if tensors is None else tensors
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values))
    for key, value in values.items():
        head += _text(key) + _value(value)
    offset, data = 0, b""
    for name, (kind, shape, raw) in tensors.items():
        head += _text(name) + struct.pack("<I", len(shape))
        head += b"".join(struct.pack("<Q", size) for size in reversed(shape))
        head += struct.pack("<IQ", kind, offset)
        data += raw + bytes(-len(raw) % 32)
        offset = len(data)
    return head + bytes(-len(head) % 32) + data


def _text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value):
    match value:
        case bool():
            return struct.pack("<IB", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _text(value)
        case [int(), *_]:
            return struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
        case _:
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_text, value))


def write_hub_folder(folder, *, dtype="F32", config=None, tokenizer=None, weight_map=None):
    """Write a safetensors folder of the same model, query and key rows in halves."""
    model = open_grouped()
    settings = hub_config() | (config or {})
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer or hub_tokenizer()))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    names = {"model.embed_tokens.weight": TOKEN_EMBEDDINGS, "model.norm.weight": OUTPUT_NORM}
    for layer in range(model.config.layer_count):
        for ours, theirs in HUB_PARTS.items():
            names[f"model.layers.{layer}.{theirs}.weight"] = layer_name(layer, ours)
    weights = {theirs: _in_halves(model, ours) for theirs, ours in names.items()}
    if weight_map is None:
        (folder / "model.safetensors").write_bytes(pack_safetensors(weights, dtype))
        return
    files = {name: f"model-{index % 2}.safetensors" for index, name in enumerate(weights)}
    index = {"weight_map": files | weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    for file in set(files.values()):
        part = {name: array for name, array in weights.items() if files[name] == file}
        (folder / file).write_bytes(pack_safetensors(part, dtype))


def hub_config() -> dict[str, object]:
    """Return the config.json of the model."""
    config = open_grouped().config
    return {
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": config.hidden_size,
        "num_hidden_layers": config.layer_count,
        "num_attention_heads": config.head_count,
        "num_key_value_heads": config.kv_head_count,
        "intermediate_size": config.ffn_size,
        "max_position_embeddings": config.max_context,
        "rope_theta": config.rope_theta,
        "rms_norm_eps": config.rms_norm_epsilon,
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
    }


def hub_tokenizer() -> dict[str, object]:
    """Return the tokenizer.json of the model."""
    texts, pairs, controls = vocabulary_texts()
    return {
        "model": {
            "type": "BPE",
            "vocab": {text: index for index, text in enumerate(texts)},
            "merges": [f"{left} {right}" for left, right in pairs],
        },
        "added_tokens": [
            {"id": index, "content": texts[index], "special": True} for index in range(controls)
        ],
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
            ],
        },
    }


def pack_safetensors(weights, dtype="F32"):
    """Return the bytes of a safetensors file."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, array in weights.items():
        raw = _as_dtype(array, dtype)
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": offsets}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def _as_dtype(array, dtype):
    if dtype == "BF16":
        return (array.view("<u4") >> 16).astype("<u2").tobytes()
    return array.astype({"F32": "<f4", "F16": "<f2", "F64": "<f8"}[dtype]).tobytes()


def _in_halves(model, name):
    """Undo adjacent pairs: within a head, even rows first, then odd rows."""
    array = model.read_f32(name)
    if not name.endswith((".wq.weight", ".wk.weight")):
        return array
    heads = array.reshape(-1, model.config.head_dim // 2, 2, array.shape[1])
    return np.ascontiguousarray(heads.transpose(0, 2, 1, 3)).reshape(array.shape)
