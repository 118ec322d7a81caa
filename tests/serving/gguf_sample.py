"""A tiny GGUF file, written by the format's own library.

Takes a path; writes a llama model of one layer, a byte vocabulary and one merge, with noise for
weights.
"""

from pathlib import Path

import gguf
import numpy as np

from kernels.byte_alphabet import BYTE_OF_LETTER

HIDDEN, FFN, HEADS, HEAD_DIM = 32, 64, 2, 16


def write_gguf(path: Path) -> None:
    """Write the file."""
    tokens = ["<end>", *BYTE_OF_LETTER, "th"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] + [1] * (len(tokens) - 1))
    writer.add_token_merges(["t h"])
    writer.add_eos_token_id(0)
    generator = np.random.Generator(np.random.PCG64(1))
    shapes = {
        "token_embd.weight": (len(tokens), HIDDEN),
        "output_norm.weight": (HIDDEN,),
        "blk.0.attn_norm.weight": (HIDDEN,),
        "blk.0.ffn_norm.weight": (HIDDEN,),
        **{f"blk.0.attn_{part}.weight": (HIDDEN, HIDDEN) for part in ("q", "k", "v", "output")},
        **{f"blk.0.ffn_{part}.weight": (FFN, HIDDEN) for part in ("gate", "up")},
        "blk.0.ffn_down.weight": (HIDDEN, FFN),
    }
    for name, shape in shapes.items():
        writer.add_tensor(name, generator.standard_normal(shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
