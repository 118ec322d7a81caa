"""Names and shapes of the tensors of a text encoder in the container.

Takes an encoder's configuration, gives names in file order. The source file's names are used as
they are, with the layer number inside. Does not know where tensors lie.

Shape letters as in `kernels`, and P positions = max_context.
"""

from collections.abc import Iterator
from dataclasses import dataclass

EMBEDDING_TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")
LINEAR_NAMES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
NORM_NAMES = ("attention.output.LayerNorm", "output.LayerNorm")


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Shape of an encoder; the words are those of the container's header."""

    vocab_size: int
    hidden_size: int
    layer_count: int
    head_count: int
    ffn_size: int
    max_context: int
    norm_epsilon: float

    @property
    def head_dim(self) -> int:
        """Width of one head."""
        return self.hidden_size // self.head_count


def encoder_tensors(config: EncoderConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Give the name and shape of every tensor, in file order."""
    H, F = config.hidden_size, config.ffn_size
    yield "embeddings.word_embeddings.weight", (config.vocab_size, H)
    yield "embeddings.position_embeddings.weight", (config.max_context, H)
    yield "embeddings.token_type_embeddings.weight", (2, H)
    yield "embeddings.LayerNorm.weight", (H,)
    yield "embeddings.LayerNorm.bias", (H,)
    for layer in range(config.layer_count):
        for name in LINEAR_NAMES:
            rows, columns = _linear_shape(name, H, F)
            yield layer_tensor(layer, f"{name}.weight"), (rows, columns)
            yield layer_tensor(layer, f"{name}.bias"), (rows,)
        for name in NORM_NAMES:
            yield layer_tensor(layer, f"{name}.weight"), (H,)
            yield layer_tensor(layer, f"{name}.bias"), (H,)


def layer_tensor(layer: int, name: str) -> str:
    """Give the full name of a layer's tensor."""
    return f"encoder.layer.{layer}.{name}"


def _linear_shape(name: str, H: int, F: int) -> tuple[int, int]:
    if name == "intermediate.dense":
        return F, H
    return (H, F) if name == "output.dense" else (H, H)
