"""Tiny models as `.slm` bytes, made from a seed in milliseconds."""

import io
from pathlib import Path

import numpy as np

from kernels.btok import pack_btok
from kernels.dtypes import DType
from kernels.manifest import ChatTemplate, Manifest
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters, tensor_shapes
from kernels.model_source import ArrayRows
from kernels.slm_plan import TensorPlan
from kernels.slm_writer import write_model


def make_model(
    *, context_tokens: int = 256, seed: int = 5, chatml: bool = True, has_manifest: bool = True
) -> bytes:
    """Build a random byte-level model with two layers and grouped key/value heads."""
    config = ModelConfig(
        vocab_size=260,
        special_token_count=4,
        hidden_size=16,
        layer_count=2,
        head_count=4,
        kv_head_count=2,
        head_dim=4,
        ffn_size=24,
        max_context=context_tokens,
        rope_theta=10_000.0,
        rms_norm_epsilon=1e-5,
        tied_output=True,
    )
    generator = np.random.Generator(np.random.PCG64(seed))
    plans = [
        TensorPlan(
            name,
            DType.F32,
            0,
            ArrayRows(generator.standard_normal(shape).astype(np.float32)),
        )
        for name, shape in tensor_shapes(config)
    ]
    template = ChatTemplate("chatml", "Help.", "<start>", "<end>") if chatml else ChatTemplate()
    manifest = Manifest(
        name="random",
        origin=f"made from seed {seed}",
        licence="CC0-1.0",
        parameters=count_parameters(config),
        dtype="f32",
        chat_template=template,
        control_tokens={"<start>": 256, "<end>": 257} if chatml else {},
    )
    sink = io.BytesIO()
    write_model(sink, config, pack_btok(), plans, manifest if has_manifest else None)
    return sink.getvalue()


MODELS = Path(__file__).parents[2] / "fixtures" / "models"

FIXTURE_16 = (MODELS / "tiny_f32.slm").read_bytes()
"""The smallest class: plain text, 16 tokens of context."""
