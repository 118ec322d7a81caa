"""Where everything will lie in a `.slm` file, known before the first weight is.

Takes a configuration, a tokenizer section, plans of all tensors and maybe a manifest, and refuses
what would not be readable again. Gives positions, header and directory bytes, and the file's size.
Does not produce weights and does not write.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from kernels.arrays import F32
from kernels.dtypes import I8, U8, DType, find_block_fault
from kernels.errors import ErrorCode, kernel_error
from kernels.manifest import Manifest
from kernels.model_config import ModelConfig, find_config_fault
from kernels.model_names import count_parameters, tensor_shapes
from kernels.slm_layout import (
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
from kernels.tokenizer_section import read_section_header


class TensorRows(Protocol):
    """Float32 weights that can be produced row by row, as often as asked."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape."""

    def read(self, start: int, stop: int) -> F32:
        """Return rows `start` to `stop` as float32 [rows, columns]."""


@runtime_checkable
class StoredRows(Protocol):
    """Rows that lie somewhere in a type that `.slm` has too, and pass through without loss."""

    @property
    def stored_as(self) -> tuple[DType, int] | None:
        """The stored type and block size, or None where only float32 can be had."""

    def read_stored(self, start: int, stop: int) -> tuple[F32 | I8 | U8, F32 | None]:
        """Return payload and scales of rows, as `StoredTensor` describes them."""


@dataclass(frozen=True, slots=True)
class TensorPlan:
    """One tensor to be written; block_size is 0 for f32."""

    name: str
    dtype: DType
    block_size: int
    rows: TensorRows


def count_file_bytes(
    config: ModelConfig,
    tokenizer_section: bytes,
    tensors: Sequence[TensorPlan],
    manifest: Manifest | None = None,
) -> int:
    """Return the size that the written file will have, before any weight is produced."""
    end = align(FileLayout(config, tokenizer_section, tensors).end)
    if manifest is None:
        return end
    return align(end + len(embedded_text(manifest))) + TRAILER_BYTES


class FileLayout:
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


def embedded_text(manifest: Manifest) -> bytes:
    """Return the manifest without what it can only say from outside the file."""
    return replace(manifest, sha256=None, file_bytes=None).to_json().encode()


def check_plan(
    config: ModelConfig,
    tokenizer_section: bytes,
    tensors: Sequence[TensorPlan],
    manifest: Manifest | None,
) -> None:
    """Refuse what a reader would refuse.

    Raises:
        KernelError: As `slm_writer.write_steps` lists them.
    """
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
