"""Lay out the records of `source/model.h`: 32-bit little-endian words, pointers as addresses.

Takes named fields; gives bytes. The order of fields is that of the C structs.
Does not know where the addresses come from.
"""

import struct
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
import numpy.typing as npt


class Kind(IntEnum):
    """How a matrix is laid out for the kernels."""

    F32 = 1
    Q8 = 2
    Q4_SYMMETRIC = 3
    Q4_MINIMUM = 4


class CacheKind(IntEnum):
    """How keys and values are kept."""

    F32 = 0
    INT8 = 1
    INT16 = 2  # codes of 12 bits


@dataclass(frozen=True, slots=True)
class MatrixRecord:
    """`Matrix`: panels of eight rows."""

    kind: int
    rows: int
    columns: int
    block_columns: int
    blocks: int
    panels: int
    panel_bytes: int
    panel: int

    @property
    def stored_bytes(self) -> int:
        """Bytes of all panels."""
        return self.panels * self.panel_bytes


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """`Layer`: two norms, seven matrices."""

    attention_norm: int
    ffn_norm: int
    wq: MatrixRecord
    wk: MatrixRecord
    wv: MatrixRecord
    wo: MatrixRecord
    w1: MatrixRecord
    w3: MatrixRecord
    w2: MatrixRecord


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """`Model`."""

    hidden_size: int
    head_count: int
    kv_head_count: int
    head_dim: int
    ffn_size: int
    epsilon: float
    score_scale: float
    final_norm: int
    frequencies: int
    layers: int
    embedding: MatrixRecord
    output: MatrixRecord


@dataclass(frozen=True, slots=True)
class CacheLayerRecord:
    """`CacheLayer`."""

    keys: int
    values: int
    key_scales: int
    value_scales: int


@dataclass(frozen=True, slots=True)
class CacheRecord:
    """`Cache`."""

    kind: int
    capacity: int
    layers: int


@dataclass(frozen=True, slots=True)
class ScratchRecord:
    """`Scratch`, with the fields of `Activations` in their place."""

    team: int
    position_limit: int
    seat_bytes: int
    seats: int
    codes: int
    steps: int
    scales: int
    sums: int
    unsigned_starts: int
    signed_starts: int
    blocks: int
    normed: int
    queries: int
    keys: int
    values: int
    mixed: int
    gate: int
    up: int
    turns: int
    scores: int


Record = MatrixRecord | LayerRecord | ModelRecord | CacheLayerRecord | CacheRecord | ScratchRecord


def record_bytes(kind: type[Record]) -> int:
    """Give the bytes of a record: a word a field, and eight words a matrix."""
    matrix_words = len(fields(MatrixRecord))
    words = (matrix_words if field.type is MatrixRecord else 1 for field in fields(kind))
    return 4 * sum(words)


def pack(*records: Record) -> npt.NDArray[np.uint8]:
    """Give the bytes of records, one after the other."""
    return np.frombuffer(b"".join(_pack_one(record) for record in records), dtype=np.uint8)


def _pack_one(record: Record) -> bytes:
    parts = []
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, MatrixRecord):
            parts.append(_pack_one(value))
        else:
            parts.append(struct.pack("<f" if isinstance(value, float) else "<I", value))
    return b"".join(parts)
