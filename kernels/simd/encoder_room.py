"""Memory of the encoder in the module: its weights, and buffers for one text.

Takes a port and an embedder file. Gives the addresses of the two records that the kernels read.
Does not know tokens.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from kernels.embedder_file import EmbedderFile
from kernels.embedder_names import LINEAR_NAMES, NORM_NAMES, EncoderConfig, layer_tensor
from kernels.ops import LoadProgress
from kernels.simd.encoder_records import (
    EncoderLayerRecord,
    EncoderRoomRecord,
    NormAddress,
    pack_encoder,
)
from kernels.simd.panels import BLOCK, PANEL_ROWS, place_matrix, place_vector
from kernels.simd.port import KernelPort, aligned

_F32_BYTES = 4
_SCORES_MORE = 8
"""Softmax fills a row of scores up to a multiple of eight."""


@dataclass(frozen=True, slots=True)
class PlacedEncoder:
    """Weights that are in place: the record's address, and the bytes that all of it takes."""

    record: int
    weight_bytes: int


def place_encoder_steps(
    port: KernelPort, file: EmbedderFile
) -> Generator[LoadProgress, None, PlacedEncoder]:
    """Place layer by layer."""
    before, total = port.used_bytes, file.config.layer_count
    layers = []
    for index in range(total):
        layers.append(_place_layer(port, file, index).pack())
        yield LoadProgress(index + 1, total, layer_tensor(index, ""))
    size = len(layers[0])
    address = port.allocate(size * total)
    port.write(address, np.concatenate(layers))
    norm = _place_norm(port, file, "embeddings.LayerNorm")
    record = pack_encoder(file.config, norm, address)
    placed = port.allocate(len(record))
    port.write(placed, record)
    return PlacedEncoder(placed, port.used_bytes - before)


def place_room(port: KernelPort, config: EncoderConfig, tokens: int) -> EncoderRoomRecord:
    """Allocate the buffers for texts of up to `tokens` tokens."""
    return EncoderRoomRecord(
        blocks=_blocks(config),
        **{name: port.allocate(size) for name, size in _sizes(config, tokens).items()},
    )


def count_room_bytes(config: EncoderConfig, tokens: int) -> int:
    """Count the buffers."""
    return sum(map(aligned, _sizes(config, tokens).values()))


def _place_layer(port: KernelPort, file: EmbedderFile, index: int) -> EncoderLayerRecord:
    names = {name: layer_tensor(index, name) for name in LINEAR_NAMES}
    return EncoderLayerRecord(
        matrices={
            name: place_matrix(port, file.read_tensor(f"{full}.weight"))
            for name, full in names.items()
        },
        biases={
            name: place_vector(port, file.read_f32(f"{full}.bias")) for name, full in names.items()
        },
        norms={name: _place_norm(port, file, layer_tensor(index, name)) for name in NORM_NAMES},
    )


def _place_norm(port: KernelPort, file: EmbedderFile, name: str) -> NormAddress:
    return NormAddress(
        place_vector(port, file.read_f32(f"{name}.weight")),
        place_vector(port, file.read_f32(f"{name}.bias")),
    )


def _sizes(config: EncoderConfig, tokens: int) -> dict[str, int]:
    rows = -(-tokens // 4) * 4  # a tile takes four
    blocks, row = rows * _blocks(config), _F32_BYTES * rows
    panel = _blocks(config) * (2 * BLOCK * PANEL_ROWS + 2 * _F32_BYTES * PANEL_ROWS)
    return {
        "codes": 2 * BLOCK * blocks,
        "steps": 2 * BLOCK * blocks,
        "scales": _F32_BYTES * blocks,
        "sums": _F32_BYTES * blocks,
        "unsigned_starts": _F32_BYTES * blocks,
        "signed_starts": _F32_BYTES * blocks,
        "panel": panel,
        **dict.fromkeys(("hidden", "queries", "keys", "values", "mixed"), row * config.hidden_size),
        "wide": row * config.ffn_size,
        "scores": _F32_BYTES * (rows + _SCORES_MORE),
    }


def _blocks(config: EncoderConfig) -> int:
    """Give the blocks of the widest row of activations."""
    return -(-max(config.hidden_size, config.ffn_size) // BLOCK)
