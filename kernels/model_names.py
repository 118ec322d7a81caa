"""The tensor names of a `.slm` model and the shape that each must have.

Takes a configuration. Gives names in the order in which this project writes them.
Does not know dtypes, offsets or files.
"""

from collections.abc import Iterator

from kernels.model_config import ModelConfig

TOKEN_EMBEDDINGS = "tok_embeddings.weight"
OUTPUT_NORM = "norm.weight"
OUTPUT = "output.weight"

TENSORS_PER_LAYER = 9


def layer_name(layer: int, part: str) -> str:
    """Return the name of one tensor of a layer, counted from 0: `layers.0.wq.weight`."""
    return f"layers.{layer}.{part}.weight"


def layer_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return part name to shape of one layer; rows are outputs, so y = x @ W.T."""
    hidden, ffn, kv_size = config.hidden_size, config.ffn_size, config.kv_size
    return {
        "attn_norm": (hidden,),  # [H]
        "wq": (hidden, hidden),  # [H, H]
        "wk": (kv_size, hidden),  # [K*D, H]
        "wv": (kv_size, hidden),  # [K*D, H]
        "wo": (hidden, hidden),  # [H, H]
        "ffn_norm": (hidden,),  # [H]
        "w1": (ffn, hidden),  # [F, H] gate
        "w2": (hidden, ffn),  # [H, F] down
        "w3": (ffn, hidden),  # [F, H] up
    }


def count_tensors(config: ModelConfig) -> int:
    """Return how many tensors a complete file has: 3 + 9L, or 2 + 9L when tied."""
    return TENSORS_PER_LAYER * config.layer_count + (2 if config.tied_output else 3)


def tensor_shapes(config: ModelConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield every required name with its shape; a tied model needs no `output.weight`.

    Lazy on purpose: a damaged header may claim four billion layers.
    """
    yield TOKEN_EMBEDDINGS, (config.vocab_size, config.hidden_size)  # [V, H]
    for layer in range(config.layer_count):
        for part, shape in layer_shapes(config).items():
            yield layer_name(layer, part), shape
    yield OUTPUT_NORM, (config.hidden_size,)  # [H]
    if not config.tied_output:
        yield OUTPUT, (config.vocab_size, config.hidden_size)  # [V, H]


def count_parameters(config: ModelConfig) -> int:
    """Return the number of weights of a complete model, without building the list of names."""
    hidden = config.hidden_size
    per_layer = 2 * hidden + hidden * (2 * hidden + 2 * config.kv_size + 3 * config.ffn_size)
    tables = 1 if config.tied_output else 2
    return config.layer_count * per_layer + hidden + tables * config.vocab_size * hidden
