"""A small text encoder with seeded weights, for pages that are tried without the real one.

Takes nothing; gives the container's bytes, the same on every machine. Letters and digits are its
pieces, and layers change little, so that texts of other letters have other vectors. There is no
meaning in them.
"""

import string
from pathlib import Path
from typing import Final

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import BytesLike
from kernels.embedder_file import write_embedder
from kernels.embedder_names import EncoderConfig, encoder_tensors
from kernels.wordpiece import CLOSING, CONTINUATION, OPENING, PADDING, UNKNOWN

_SEED: Final = 20
_WORD_SPREAD, _SPREAD = 0.5, 0.05
_SIGNS: Final = string.ascii_lowercase + string.digits
PIECES: Final = (
    *(PADDING, UNKNOWN, OPENING, CLOSING),
    *_SIGNS,
    *(CONTINUATION + sign for sign in _SIGNS),
    *".,:;!?'-",
)
CONFIG: Final = EncoderConfig(
    vocab_size=len(PIECES),
    hidden_size=64,
    layer_count=2,
    head_count=2,
    ffn_size=128,
    max_context=256,
    norm_epsilon=1e-12,
)


class _Collected:
    def __init__(self) -> None:
        self.data = b""

    def write(self, data: BytesLike, /) -> None:
        self.data += bytes(data)


def make_fixture_embedder() -> bytes:
    """Give the file's bytes."""
    draw = np.random.Generator(np.random.PCG64(_SEED))
    weights = {name: _draw(draw, name, shape) for name, shape in encoder_tensors(CONFIG)}
    sink = _Collected()
    write_embedder(sink, CONFIG, "\n".join(PIECES), weights.__getitem__)
    return sink.data


def _draw(draw: np.random.Generator, name: str, shape: tuple[int, ...]) -> F32:
    """Give plain norms, no biases, and uniform numbers: bits of the generator, and nothing else."""
    if name.endswith("bias"):
        return np.zeros(shape, np.float32)
    if name.endswith("LayerNorm.weight"):
        return np.ones(shape, np.float32)
    spread = _WORD_SPREAD if "word_embeddings" in name else _SPREAD
    return ((draw.random(shape) - 0.5) * 2 * spread).astype(np.float32)


def write_fixture_embedder(path: Path) -> None:
    """Write the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(make_fixture_embedder())
