"""Write a `.slm` file from front to back, one tensor at a time.

Takes a configuration, a tokenizer section, plans of all tensors and maybe a manifest.
Gives bytes to a sink, strictly in order, so that a file, a hash or a browser's store can take
them. At most one chunk of rows is in memory. Does not know where the weights come from.

With a manifest the file gets the trailer, and the trailer's balance word makes the announced
checksum true: one pass. Without one (plain SLM1) the weights are produced twice, first for the
checksum that stands in the header.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import ByteSink, BytesLike
from kernels.dtypes import I8, U8, quantise, rows_and_columns, scale_kind
from kernels.errors import ErrorCode, kernel_error
from kernels.manifest import Manifest
from kernels.model_config import ModelConfig
from kernels.slm_checksum import WORD_BYTES, Checksum, find_balance
from kernels.slm_layout import (
    BALANCE_OFFSET,
    align,
)
from kernels.slm_plan import FileLayout, StoredRows, TensorPlan, check_plan, embedded_text
from kernels.slm_trailer import pack_trailer

CHUNK_WEIGHTS = 1 << 20
"""Weights encoded at once: 4 MiB of float32."""


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
    check_plan(config, tokenizer_section, tensors, manifest)
    layout = FileLayout(config, tokenizer_section, tensors)
    if manifest is None:
        total = 2 * len(tensors)
        rehearsal = _Stream(None)
        yield from _write_weights(rehearsal, layout, range(total))
        rehearsal.pad_to(align(layout.end))
        stream = _Stream(sink, checksum=rehearsal.checksum.total())
        yield from _write_weights(stream, layout, range(len(tensors), total))
        stream.pad_to(align(layout.end))
        return
    text = embedded_text(manifest)
    stream = _Stream(sink, checksum=_announce(layout, text))
    yield from _write_weights(stream, layout, range(len(tensors)))
    stream.pad_to(align(layout.end))
    _write_manifest(stream, text)


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
    stream: _Stream, layout: FileLayout, numbers: range
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
        payload, scales = _encode(plan, start, min(start + chunk_rows, row_count))
        stream.write(payload.data.cast("B"))
        if scales is not None:
            scale_parts.append(scales.astype(scale_kind(plan.dtype)).tobytes())
    return b"".join(scale_parts)


def _encode(plan: TensorPlan, start: int, stop: int) -> tuple[F32 | I8 | U8, F32 | None]:
    """Encode rows; those that are stored in the wanted type already pass as they are."""
    rows = plan.rows
    if isinstance(rows, StoredRows) and rows.stored_as == (plan.dtype, plan.block_size):
        return rows.read_stored(start, stop)
    weights = rows.read(start, stop)  # [rows, columns]
    if not np.isfinite(weights).all():
        text = f"Tensor {plan.name} holds a weight that is not finite; it cannot be written."
        raise kernel_error(ErrorCode.INVALID_WEIGHT, plan.name, text)
    return quantise(plan.dtype, weights, plan.block_size)


def _write_manifest(stream: _Stream, text: bytes) -> None:
    manifest_offset = stream.position
    stream.write(text)
    stream.pad_to(align(stream.position))
    index = (stream.position + BALANCE_OFFSET) // WORD_BYTES
    blank = pack_trailer(manifest_offset, len(text), balance=0)
    stream.checksum.update(blank)
    balance = find_balance(stream.checksum.sum_so_far(), stream.announced, index)
    stream.write_as(pack_trailer(manifest_offset, len(text), balance=balance), summed=b"")


def _announce(layout: FileLayout, manifest_text: bytes) -> int:
    """Choose the checksum that the balance word will make true: that of all but the weights."""
    checksum = Checksum()
    for part in (layout.header(0), layout.section, layout.directory(), manifest_text):
        checksum.update(part)
    return checksum.total()
