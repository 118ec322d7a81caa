"""Every op set with every kind of cache, over one small model with random weights.

Takes a name of `ENGINES`. Gives a ready decoder; the kernels run where a runtime for them is there.
"""

from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from kernels.decoder import Decoder
from kernels.kv_cache import CacheFormat
from kernels.layers import EINSUM
from kernels.simd.kv_storage import KINDS
from tests.kernels.loaded_decoder import load_decoder
from tests.kernels.random_tensors import SMALL, RandomTensors

CONFIG = replace(SMALL, hidden_size=48, head_dim=8, layer_count=2, max_context=160)
HAS_RUNTIME = find_spec("wasmtime") is not None
ENGINES = ("numpy", "einsum", *(("simd f32", "simd int16", "simd int8") if HAS_RUNTIME else ()))
"""The first two are numpy's two ways of multiplying."""


@cache
def open_engine(name: str) -> Decoder:
    """Load the model once for each engine."""
    model = RandomTensors(CONFIG)
    match name:
        case "numpy":
            return load_decoder(model)
        case "einsum":
            return load_decoder(model, EINSUM)
        case _:
            kind = KINDS[cast(CacheFormat, name.removeprefix("simd "))]
            loaded = import_module("tests.kernels.simd.loaded_simd")
            decoder: Decoder = loaded.load_simd_decoder(model, kind)
            return decoder
