"""A decoder over the numpy operations with its weights loaded.

Takes any tensor source. Gives a ready decoder.
"""

from collections.abc import Sequence

from kernels.decoder import Decoder
from kernels.generate import Token, generate_steps
from kernels.kv_cache import KvCache
from kernels.layers import Products
from kernels.numpy_ops import NumpyOps
from kernels.ops import TensorSource
from kernels.sampler import SamplerSettings


def load_decoder(source: TensorSource, products: Products | None = None) -> Decoder:
    """Load all weights and give the decoder."""
    ops = NumpyOps(source.config, products)
    for _ in ops.load(source):
        pass
    return Decoder(source.config, ops)


def generate_ids(
    decoder: Decoder,
    prompt_ids: Sequence[int],
    max_tokens: int,
    *,
    settings: SamplerSettings | None = None,
    cache: KvCache | None = None,
) -> list[int]:
    """Generate to the end and give the produced ids."""
    steps = generate_steps(
        decoder,
        cache or decoder.new_cache(),
        prompt_ids,
        settings or SamplerSettings(),
        max_tokens=max_tokens,
    )
    return [step.id for step in steps if isinstance(step, Token)]
