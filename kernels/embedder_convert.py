"""Bring all-MiniLM-L6-v2 into the container.

Takes the safetensors file, `config.json` and `vocab.txt` of the model, gives one file with 8-bit
matrices. Does not know where they come from.
"""

import json

from kernels.arrays import F32
from kernels.byte_source import ByteSink, ByteSource
from kernels.dtypes import DType, rows_and_columns
from kernels.embedder_file import write_embedder
from kernels.embedder_names import EncoderConfig
from kernels.errors import ErrorCode, kernel_error
from kernels.safetensors_file import open_safetensors

_FIELDS = {
    "vocab_size": "vocab_size",
    "hidden_size": "hidden_size",
    "layer_count": "num_hidden_layers",
    "head_count": "num_attention_heads",
    "ffn_size": "intermediate_size",
    "max_context": "max_position_embeddings",
}


def convert_embedder(
    weights: ByteSource,
    config_text: str,
    vocabulary: str,
    sink: ByteSink,
    *,
    dtype: DType = DType.Q8_0,
) -> None:
    """Write the container.

    Raises:
        KernelError: `unsupported_source` for another kind of model, `missing_tensor`.
    """
    tensors = open_safetensors(weights)

    def read_rows(name: str) -> F32:
        tensor = tensors.get(name)
        if tensor is None:
            text = f"The source has no tensor {name}; expected all-MiniLM-L6-v2."
            raise kernel_error(ErrorCode.MISSING_TENSOR, name, text)
        return tensor.read(0, rows_and_columns(tensor.shape)[0]).reshape(tensor.shape)

    write_embedder(sink, read_config(config_text), vocabulary, read_rows, dtype=dtype)


def read_config(text: str) -> EncoderConfig:
    """Read the model's `config.json`."""
    unusable = "config.json does not describe an encoder; take that of all-MiniLM-L6-v2."
    try:
        fields = dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "config", unusable) from error
    if fields.get("model_type") != "bert" or fields.get("hidden_act") != "gelu":
        message = "The source is no BERT encoder with GELU; expected all-MiniLM-L6-v2."
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "model_type", message)
    try:
        numbers = {ours: int(fields[theirs]) for ours, theirs in _FIELDS.items()}
        return EncoderConfig(**numbers, norm_epsilon=float(fields["layer_norm_eps"]))
    except (ValueError, KeyError, TypeError) as error:
        raise kernel_error(ErrorCode.UNSUPPORTED_SOURCE, "config", unusable) from error
