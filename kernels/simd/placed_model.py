"""Place a model's weights in the module's memory.

Takes a port and a source of tensors. Gives progress and then the address of the record that the
kernels read. Does not know what is computed with it.
"""

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from kernels.model_config import ModelConfig
from kernels.model_names import OUTPUT, OUTPUT_NORM, TOKEN_EMBEDDINGS, layer_name
from kernels.model_shape import StoredShape
from kernels.ops import LoadProgress, TensorSource
from kernels.simd.panels import place_matrix, place_vector, plan_matrix
from kernels.simd.port import AnyArray, KernelPort, aligned
from kernels.simd.records import LayerRecord, MatrixRecord, ModelRecord, pack, record_bytes
from kernels.simd.rotary_frequencies import rotary_frequencies

_F32_BYTES, _F64_BYTES = 4, 8


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """Weights that are in place: the record's address, and the bytes that all of it takes."""

    record: int
    weight_bytes: int


@dataclass(frozen=True, slots=True)
class _Tables:
    """The two matrices as wide as the vocabulary; one and the same when the output is tied."""

    embedding: MatrixRecord
    output: MatrixRecord


def count_weight_bytes(config: ModelConfig, tensors: Iterable[StoredShape]) -> int:
    """Count what placing these tensors allocates, tables and records included."""
    frequencies = aligned(_F64_BYTES * (config.head_dim // 2))
    records = aligned(config.layer_count * record_bytes(LayerRecord)) + aligned(
        record_bytes(ModelRecord)
    )
    return frequencies + records + sum(map(_count_tensor_bytes, tensors))


def _count_tensor_bytes(tensor: StoredShape) -> int:
    if len(tensor.shape) == 1:
        return aligned(_F32_BYTES * tensor.shape[0])
    return aligned(plan_matrix(tensor.dtype, tensor.shape, tensor.block_size).stored_bytes)


def place_steps(
    port: KernelPort, model: TensorSource
) -> Generator[LoadProgress, None, PlacedModel]:
    """Place tensor by tensor, the largest first: its copy is freed while memory is small."""
    before = port.used_bytes
    total = model.config.layer_count + 2
    tables = _place_tables(port, model)
    yield LoadProgress(1, total, TOKEN_EMBEDDINGS)
    layers = []
    for index in range(model.config.layer_count):
        layers.append(_place_layer(port, model, index))
        yield LoadProgress(index + 2, total, f"layers.{index}")
    record = _model_record(port, model, tables, layers)
    placed = PlacedModel(_place(port, pack(record)), port.used_bytes - before)
    yield LoadProgress(total, total, OUTPUT_NORM)
    return placed


def _place_tables(port: KernelPort, model: TensorSource) -> _Tables:
    embedding = place_matrix(port, model.read_tensor(TOKEN_EMBEDDINGS))
    if model.config.tied_output:
        return _Tables(embedding, embedding)
    return _Tables(embedding, place_matrix(port, model.read_tensor(OUTPUT)))


def _place_layer(port: KernelPort, model: TensorSource, index: int) -> LayerRecord:
    def vector(part: str) -> int:
        return place_vector(port, model.read_f32(layer_name(index, part)))

    def matrix(part: str) -> MatrixRecord:
        return place_matrix(port, model.read_tensor(layer_name(index, part)))

    return LayerRecord(
        attention_norm=vector("attn_norm"),
        ffn_norm=vector("ffn_norm"),
        wq=matrix("wq"),
        wk=matrix("wk"),
        wv=matrix("wv"),
        wo=matrix("wo"),
        w1=matrix("w1"),
        w3=matrix("w3"),
        w2=matrix("w2"),
    )


def _model_record(
    port: KernelPort, model: TensorSource, tables: _Tables, layers: list[LayerRecord]
) -> ModelRecord:
    config: ModelConfig = model.config
    return ModelRecord(
        hidden_size=config.hidden_size,
        head_count=config.head_count,
        kv_head_count=config.kv_head_count,
        head_dim=config.head_dim,
        ffn_size=config.ffn_size,
        epsilon=float(config.rms_norm_epsilon),
        score_scale=1 / math.sqrt(config.head_dim),
        final_norm=place_vector(port, model.read_f32(OUTPUT_NORM)),
        frequencies=_place(port, rotary_frequencies(config.head_dim, config.rope_theta)),
        layers=_place(port, pack(*layers)),
        embedding=tables.embedding,
        output=tables.output,
    )


def _place(port: KernelPort, data: AnyArray) -> int:
    address = port.allocate(data.nbytes)
    port.write(address, data)
    return address
