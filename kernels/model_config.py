"""The shape of a model, with the field names of the `.slm` header.

Takes the twelve numbers of the header. Gives a frozen record, and the first fault in it.
Does not know where they were read from: the reader adds offsets, a converter its own words.
"""

import math
from dataclasses import dataclass

BYTE_VOCABULARY = 260
"""Smallest vocabulary of the byte tokenizer: 256 bytes and four special ids."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What the header says about the transformer."""

    vocab_size: int  # V
    special_token_count: int
    hidden_size: int  # H = A x D
    layer_count: int  # L
    head_count: int  # A
    kv_head_count: int  # K, divides A
    head_dim: int  # D, even: rotary turns pairs
    ffn_size: int  # F
    max_context: int  # C, tokens
    rope_theta: float  # base of the rotary frequencies
    rms_norm_epsilon: float  # added to the mean square, inside the root
    tied_output: bool  # logits use tok_embeddings.weight

    @property
    def kv_size(self) -> int:
        """Width of one key or value row: K x D."""
        return self.kv_head_count * self.head_dim

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of float32 keys and values that one token adds over all layers."""
        return 2 * self.layer_count * self.kv_size * 4


@dataclass(frozen=True, slots=True)
class ConfigFault:
    """The first field that breaks a rule, and the rule as half a sentence."""

    field: str
    rule: str


def find_config_fault(config: ModelConfig) -> ConfigFault | None:
    """Return the first broken rule of a configuration, or None.

    The rules are those of the SLM1 header: counts nonzero, head_count x head_dim = hidden_size,
    kv_head_count divides head_count, head_dim even, theta and epsilon finite and positive.
    """
    for field in _COUNTS:
        if getattr(config, field) < 1:
            return ConfigFault(field, "must be at least 1")
    if config.head_count * config.head_dim != config.hidden_size:
        return ConfigFault("head_dim", "times head_count must equal hidden_size")
    if config.head_count % config.kv_head_count:
        return ConfigFault("kv_head_count", "must divide head_count")
    if config.head_dim % 2:
        return ConfigFault("head_dim", "must be even, since rotary positions turn pairs")
    for field in ("rope_theta", "rms_norm_epsilon"):
        value = getattr(config, field)
        if not (math.isfinite(value) and value > 0):
            return ConfigFault(field, "must be finite and above 0")
    return None


_COUNTS = (
    "vocab_size",
    "hidden_size",
    "layer_count",
    "head_count",
    "kv_head_count",
    "head_dim",
    "ffn_size",
    "max_context",
)
