"""Write a `.slm` file from front to back, one tensor at a time.

Takes a configuration, a tokenizer section, plans of all tensors and maybe a manifest.
Gives bytes to a sink, strictly in order, so that a file, a hash or a browser's store can take
them. At most one chunk of rows is in memory. Does not know where the weights come from.

With a manifest the file gets the trailer, and the trailer's balance word makes the announced
checksum true: one pass. Without one (plain SLM1) the weights are produced twice, first for the
checksum that stands in the header.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import ByteSink, BytesLike
from kernels.dtypes import DType, find_block_fault, quantise, rows_and_columns
from kernels.errors import ErrorCode, kernel_error
from kernels.manifest import Manifest
from kernels.model_config import ModelConfig, find_config_fault
from kernels.model_names import count_parameters, tensor_shapes
from kernels.slm_checksum import WORD_BYTES, Checksum, find_balance
from kernels.slm_layout import (
    BALANCE_OFFSET,
    ENTRY,
    ENTRY_BYTES,
    HEADER,
    HEADER_BYTES,
    MAGIC,
    MODEL_TYPE,
    TIED_OUTPUT_FLAG,
    TRAILER_BYTES,
    VERSION,
    RawEntry,
    RawHeader,
    align,
    name_hash,
    payload_bytes,
    scale_bytes,
)
from kernels.slm_trailer import pack_trailer
from kernels.tokenizer_section import read_section_header

CHUNK_WEIGHTS = 1 << 20
"""Weights encoded at once: 4 MiB of float32."""


class TensorRows(Protocol):
    """Float32 weights that can be produced row by row, as often as asked."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape."""

    def read(self, start: int, stop: int) -> F32:
        """Return rows `start` to `stop` as float32 [rows, columns]."""


@dataclass(frozen=True, slots=True)
class TensorPlan:
    """One tensor to be written; block_size is 0 for f32."""

    name: str
    dtype: DType
    block_size: int
    rows: TensorRows


@dataclass(frozen=True, slots=True)
class WriteProgress:
    """Tensor `name` is done, as number `done` of `total`."""

    done: int
    total: int
    name: str


def write_model(
    sink: ByteSink,
    config: ModelConfig,
    tokenizer_section: bytes,
    tensors: Sequence[TensorPlan],
    manifest: Manifest | None = None,
) -> None:
    """Write a whole file; see `write_steps`."""
    for _ in write_steps(sink, config, tokenizer_section, tensors, manifest):
        pass


def write_steps(
    sink: ByteSink,
    config: ModelConfig,
    tokenizer_section: bytes,
    tensors: Sequence[TensorPlan],
    manifest: Manifest | None = None,
) -> Generator[WriteProgress, None, None]:
    """Write a file, pausing after each tensor so that the caller may show progress or stop.

    Raises:
        KernelError: `invalid_length` for a bad configuration, `missing_tensor`, `shape_mismatch`,
            `invalid_header` for a vocabulary that differs from the tokenizer's,
            `invalid_tensor_directory` for a bad block size, `invalid_weight`, `invalid_manifest`.
    """
    _check(config, tokenizer_section, tensors, manifest)
    layout = _Layout(config, tokenizer_section, tensors)
    if manifest is None:
        total = 2 * len(tensors)
        rehearsal = _Stream(None)
        yield from _write_weights(rehearsal, layout, range(total))
        rehearsal.pad_to(align(layout.end))
        stream = _Stream(sink, checksum=rehearsal.checksum.total())
        yield from _write_weights(stream, layout, range(len(tensors), total))
        stream.pad_to(align(layout.end))
        return
    text = replace(manifest, sha256=None, file_bytes=None).to_json().encode()
    stream = _Stream(sink, checksum=_announce(layout, text))
    yield from _write_weights(stream, layout, range(len(tensors)))
    stream.pad_to(align(layout.end))
    _write_manifest(stream, text)


class _Layout:
    """All positions, known before the first weight is."""

    def __init__(
        self, config: ModelConfig, tokenizer_section: bytes, tensors: Sequence[TensorPlan]
    ) -> None:
        self.config = config
        self.section = tokenizer_section
        self.tensors = tensors
        self.directory_offset = align(HEADER_BYTES + len(tokenizer_section))
        self.data_offset = align(self.directory_offset + len(tensors) * ENTRY_BYTES)
        self.end = self.data_offset
        self.entries = [self._place(plan) for plan in tensors]

    def _place(self, plan: TensorPlan) -> RawEntry:
        shape = plan.rows.shape
        length = payload_bytes(plan.dtype, shape)
        scale_length = scale_bytes(plan.dtype, shape, plan.block_size)
        offset = self.end
        scale_offset = align(offset + length) if scale_length else 0
        self.end = align(scale_offset + scale_length if scale_length else offset + length)
        dims = (*shape, 0, 0, 0)  # unused dimensions are 0
        return RawEntry(
            name_hash=name_hash(plan.name),
            dtype=int(plan.dtype),
            rank=len(shape),
            dim_0=dims[0],
            dim_1=dims[1],
            dim_2=dims[2],
            dim_3=dims[3],
            byte_offset=offset,
            byte_length=length,
            scale_offset=scale_offset,
            block_size=plan.block_size if scale_length else 0,
        )

    def header(self, checksum: int) -> bytes:
        """Return the 108 bytes of the header."""
        config = self.config
        raw = RawHeader(
            magic=MAGIC,
            version=VERSION,
            header_length=HEADER_BYTES,
            model_type=MODEL_TYPE,
            flags=TIED_OUTPUT_FLAG if config.tied_output else 0,
            vocab_size=config.vocab_size,
            special_token_count=config.special_token_count,
            hidden_size=config.hidden_size,
            layer_count=config.layer_count,
            head_count=config.head_count,
            kv_head_count=config.kv_head_count,
            head_dim=config.head_dim,
            ffn_size=config.ffn_size,
            max_context=config.max_context,
            rope_theta=config.rope_theta,
            rms_norm_epsilon=config.rms_norm_epsilon,
            tokenizer_offset=HEADER_BYTES,
            tokenizer_length=len(self.section),
            tensor_directory_offset=self.directory_offset,
            tensor_count=len(self.tensors),
            tensor_data_offset=self.data_offset,
            checksum=checksum,
        )
        return HEADER.pack(*raw)

    def directory(self) -> bytes:
        """Return all directory entries."""
        return b"".join(ENTRY.pack(*entry) for entry in self.entries)


class _Stream:
    """A sink that knows its position and sums what passes, the checksum field as zero."""

    def __init__(self, sink: ByteSink | None, *, checksum: int = 0) -> None:
        self._sink = sink
        self.announced = checksum
        self.checksum = Checksum()
        self.position = 0

    def write(self, data: BytesLike) -> None:
        self.write_as(data, summed=data)

    def write_as(self, data: BytesLike, *, summed: BytesLike) -> None:
        self.checksum.update(summed)
        self.position += len(data)
        if self._sink is not None:
            self._sink.write(data)

    def pad_to(self, offset: int) -> None:
        self.write(bytes(offset - self.position))


def _write_weights(
    stream: _Stream, layout: _Layout, numbers: range
) -> Generator[WriteProgress, None, None]:
    """Write header, tokenizer, directory and tensors; `numbers` counts the progress."""
    stream.write_as(layout.header(stream.announced), summed=layout.header(0))
    stream.write(layout.section)
    stream.pad_to(layout.directory_offset)
    stream.write(layout.directory())
    for number, plan, entry in zip(numbers, layout.tensors, layout.entries, strict=False):
        stream.pad_to(entry.byte_offset)
        scales = _write_payload(stream, plan)
        if scales:
            stream.pad_to(entry.scale_offset)
            stream.write(scales)
        yield WriteProgress(number + 1, numbers.stop, plan.name)


def _write_payload(stream: _Stream, plan: TensorPlan) -> bytes:
    """Encode chunk by chunk; scales stand behind the payload, so they are kept until then."""
    row_count, columns = rows_and_columns(plan.rows.shape)
    chunk_rows = max(1, CHUNK_WEIGHTS // columns)
    scale_parts = []
    for start in range(0, row_count, chunk_rows):
        weights = plan.rows.read(start, min(start + chunk_rows, row_count))  # [rows, columns]
        if not np.isfinite(weights).all():
            text = f"Tensor {plan.name} holds a weight that is not finite; it cannot be written."
            raise kernel_error(ErrorCode.INVALID_WEIGHT, plan.name, text)
        payload, scales = quantise(plan.dtype, weights, plan.block_size)
        stream.write(payload.data.cast("B"))
        if scales is not None:
            scale_parts.append(scales.astype("<f4").tobytes())
    return b"".join(scale_parts)


def _write_manifest(stream: _Stream, text: bytes) -> None:
    manifest_offset = stream.position
    stream.write(text)
    stream.pad_to(align(stream.position))
    index = (stream.position + BALANCE_OFFSET) // WORD_BYTES
    blank = pack_trailer(manifest_offset, len(text), balance=0)
    position = stream.position
    stream.checksum.update(blank)
    balance = find_balance(stream.checksum.sum_so_far(), stream.announced, index)
    stream.write_as(pack_trailer(manifest_offset, len(text), balance=balance), summed=b"")
    if stream.position - position != TRAILER_BYTES:
        raise AssertionError(stream.position)


def _announce(layout: _Layout, manifest_text: bytes) -> int:
    """Choose the checksum that the balance word will make true: that of all but the weights."""
    checksum = Checksum()
    for part in (layout.header(0), layout.section, layout.directory(), manifest_text):
        checksum.update(part)
    return checksum.total()


def _check(
    config: ModelConfig,
    tokenizer_section: bytes,
    tensors: Sequence[TensorPlan],
    manifest: Manifest | None,
) -> None:
    if fault := find_config_fault(config):
        text = f"The model's {fault.field} {fault.rule}."
        raise kernel_error(ErrorCode.INVALID_LENGTH, fault.field, text)
    vocab_size = read_section_header(tokenizer_section).vocab_size
    if vocab_size != config.vocab_size:
        text = f"The tokenizer has {vocab_size} ids but the model {config.vocab_size}."
        raise kernel_error(ErrorCode.INVALID_HEADER, "vocab_size", text)
    if manifest is not None and manifest.parameters != count_parameters(config):
        text = f"The manifest counts {manifest.parameters} parameters, not those of the model."
        raise kernel_error(ErrorCode.INVALID_MANIFEST, "manifest.parameters", text)
    _check_tensors(config, {plan.name: plan for plan in tensors})


def _check_tensors(config: ModelConfig, plans: dict[str, TensorPlan]) -> None:
    for name, shape in tensor_shapes(config):
        if (plan := plans.get(name)) is None:
            text = f"Tensor {name} is missing."
            raise kernel_error(ErrorCode.MISSING_TENSOR, name, text)
        if plan.rows.shape != shape:
            text = f"Tensor {name} must be {list(shape)}, found {list(plan.rows.shape)}."
            raise kernel_error(ErrorCode.SHAPE_MISMATCH, name, text)
        if rule := find_block_fault(plan.dtype, shape[-1], plan.block_size):
            text = f"Block size {plan.block_size} of {name} {rule}; choose another."
            raise kernel_error(ErrorCode.INVALID_TENSOR_DIRECTORY, f"{name}.block_size", text)
