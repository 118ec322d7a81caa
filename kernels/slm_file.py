"""Open a `.slm` file and read its tensors one by one.

Takes a byte source. Gives the configuration, the checked directory, the tokenizer section, the
manifest inside the file and each tensor on request. Nothing is allocated before its size has been
compared with the file's. Does not know how text is encoded or how a model computes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import ByteSource, read_bytes
from kernels.dtypes import DType, StoredTensor, rows_and_columns, scale_kind, scale_shape
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.manifest import Manifest
from kernels.model_config import ModelConfig
from kernels.model_names import count_parameters
from kernels.slm_checksum import checksum_of
from kernels.slm_directory import TensorEntry, read_directory
from kernels.slm_header import CheckedHeader, header_error, read_header
from kernels.slm_layout import ALIGNMENT, ENTRY_BYTES, HEADER_OFFSETS
from kernels.slm_trailer import EmbeddedManifest, find_embedded_manifest
from kernels.tokenizer_section import SectionHeader, read_section_header

ChecksumVerdict: TypeAlias = Literal["verified", "not verifiable"]


@dataclass(frozen=True, slots=True)
class SlmFile:
    """An open model file whose structure has been checked.

    Attributes:
        source: The bytes; kept, because tensors are read on request.
        config: The header's shape.
        entries: Tensor name to directory entry, in the order of `model_names.tensor_shapes`.
        tokenizer_section: Raw bytes for `tokenizer.load_tokenizer`.
        manifest: The manifest inside the file, or None.
        checksum: "verified" by this project's rule, or "not verifiable": the file may be sound
            but was written under a rule that is not public.
        warnings: What was ignored, in sentences.
        is_known: An earlier load has read all of this very file, so its numbers are sound.
    """

    source: ByteSource
    config: ModelConfig
    entries: Mapping[str, TensorEntry]
    tokenizer_section: bytes
    manifest: Manifest | None
    checksum: ChecksumVerdict
    warnings: tuple[str, ...]
    is_known: bool = False

    @property
    def file_bytes(self) -> int:
        """Size of the file."""
        return self.source.size

    @property
    def parameters(self) -> int:
        """Number of weights in the directory."""
        return sum(entry.parameters for entry in self.entries.values())

    @property
    def dtype(self) -> DType:
        """The stored type that holds most weights."""
        totals = dict.fromkeys(DType, 0)
        for entry in self.entries.values():
            totals[entry.dtype] += entry.parameters
        return max(totals, key=lambda dtype: (totals[dtype], -dtype))

    def read_tensor(self, name: str) -> StoredTensor:
        """Read one tensor as it is stored.

        Raises:
            KernelError: `missing_tensor`; `invalid_scale` or `invalid_weight` with the offset of
                the first number that is not finite (or, for a scale, not positive).
        """
        entry = self._entry(name)
        return self._read_rows(entry, 0, rows_and_columns(entry.shape)[0], entry.shape)

    def read_f32(self, name: str) -> F32:
        """Read one tensor as float32 in its logical shape."""
        return self.read_tensor(name).to_f32()

    def read_rows(self, name: str, start: int, stop: int) -> StoredTensor:
        """Read rows `start` to `stop` of one tensor as they are stored."""
        entry = self._entry(name)
        return self._read_rows(entry, start, stop, (stop - start, entry.shape[-1]))

    def read_rows_f32(self, name: str, start: int, stop: int) -> F32:
        """Read rows `start` to `stop` of one tensor as float32 [rows, columns]."""
        return self.read_rows(name, start, stop).to_f32()

    def _entry(self, name: str) -> TensorEntry:
        try:
            return self.entries[name]
        except KeyError as error:
            text = f"The model has no tensor {name}."
            raise kernel_error(ErrorCode.MISSING_TENSOR, name, text) from error

    def _read_rows(
        self, entry: TensorEntry, start: int, stop: int, shape: tuple[int, ...]
    ) -> StoredTensor:
        rows, columns = rows_and_columns(entry.shape)
        payload_kind = _PAYLOAD_KINDS[entry.dtype]
        row_bytes = entry.byte_length // rows
        width = row_bytes // payload_kind.itemsize
        payload = np.empty((stop - start, width), payload_kind)  # [rows, columns, or half of it]
        self.source.read_into(entry.byte_offset + start * row_bytes, payload.data.cast("B"))
        if entry.dtype == DType.F32:
            if not self.is_known:
                _check_weights(entry, payload, start)
            return StoredTensor(entry.dtype, shape, payload.reshape(shape), None, 0)
        shape_of_scales = scale_shape(entry.dtype, stop - start, columns, entry.block_size)
        stored = np.empty(shape_of_scales, scale_kind(entry.dtype))  # [rows, blocks(, 2)]
        offset = entry.scale_offset + start * entry.scale_length // rows
        self.source.read_into(offset, stored.data.cast("B"))
        scales = stored.astype("<f4", copy=False)
        if not self.is_known:
            _check_scales(entry, scales, offset)
        return StoredTensor(entry.dtype, shape, payload, scales, entry.block_size)


MIN_SPECIAL_TOKENS = 4
"""The byte tokenizer has its four special ids."""

_PAYLOAD_KINDS: dict[DType, np.dtype[Any]] = {
    DType.F32: np.dtype("<f4"),
    DType.Q8_0: np.dtype(np.int8),
    DType.Q4_0: np.dtype(np.uint8),
    DType.Q4_1: np.dtype(np.uint8),
}


def open_model(source: ByteSource, *, known_checksum: ChecksumVerdict | None = None) -> SlmFile:
    """Check a file's structure and checksum and return it for reading.

    Args:
        source: The file.
        known_checksum: What was found when this very file was loaded whole before; the caller
            vouches for it by the file's SHA-256. None computes it and checks every number.

    Raises:
        KernelError: With the code, the field and the offset of the first rule that is broken.
    """
    header = read_header(source)
    entries = read_directory(source, header)
    embedded = find_embedded_manifest(source)
    _check_regions(source, header, entries, embedded)
    section = read_bytes(source, header.raw.tokenizer_offset, header.raw.tokenizer_length)
    _check_tokenizer(header, _read_tokenizer_header(section, header.raw.tokenizer_offset))
    _check_manifest(header.config, embedded)
    return SlmFile(
        source=source,
        config=header.config,
        entries=entries,
        tokenizer_section=section,
        manifest=embedded.manifest if embedded else None,
        checksum=known_checksum or _judge_checksum(source, header, is_ours=embedded is not None),
        warnings=header.warnings,
        is_known=known_checksum is not None,
    )


def _read_tokenizer_header(section: bytes, offset: int) -> SectionHeader:
    """Read a section's first fields, with error offsets counted from the start of the file."""
    try:
        return read_section_header(section)
    except KernelError as error:
        error.offset = offset + (error.offset or 0)
        raise


def _check_tokenizer(header: CheckedHeader, tokenizer: SectionHeader) -> None:
    if tokenizer.vocab_size != header.config.vocab_size:
        raise header_error(
            ErrorCode.INVALID_HEADER,
            "vocab_size",
            f"must be the tokenizer's {tokenizer.vocab_size}",
        )
    special = header.config.special_token_count
    if tokenizer.kind == "BTOK" and special < MIN_SPECIAL_TOKENS:
        raise header_error(
            ErrorCode.INVALID_HEADER, "special_token_count", f"must be {MIN_SPECIAL_TOKENS} or more"
        )


def _check_regions(
    source: ByteSource,
    header: CheckedHeader,
    entries: dict[str, TensorEntry],
    embedded: EmbeddedManifest | None,
) -> None:
    """Refuse regions that share bytes, and bytes that belong to no region."""
    regions = sorted(_list_regions(header, entries, embedded, source.size))
    for (_, stop, before), (start, _, field) in pairwise(regions):
        if start < stop:
            text = f"{field} begins at byte {start} inside {before}, which ends at {stop}."
            raise kernel_error(ErrorCode.INVALID_TENSOR_DIRECTORY, field, text, offset=start)
    end = regions[-1][1]
    if source.size - end >= ALIGNMENT:
        text = f"The model ends at byte {end} but the file at {source.size}; fetch it again."
        raise kernel_error(ErrorCode.INVALID_LENGTH, "file_bytes", text, offset=end)


def _list_regions(
    header: CheckedHeader,
    entries: dict[str, TensorEntry],
    embedded: EmbeddedManifest | None,
    file_bytes: int,
) -> list[tuple[int, int, str]]:
    raw = header.raw
    directory_end = raw.tensor_directory_offset + raw.tensor_count * ENTRY_BYTES
    regions = [
        (0, raw.header_length, "header"),
        (raw.tokenizer_offset, raw.tokenizer_offset + raw.tokenizer_length, "tokenizer"),
        (raw.tensor_directory_offset, directory_end, "tensor_directory"),
    ]
    for entry in entries.values():
        stop = entry.byte_offset + entry.byte_length
        regions.append((entry.byte_offset, stop, f"{entry.name}.payload"))
        if entry.scale_length:
            stop = entry.scale_offset + entry.scale_length
            regions.append((entry.scale_offset, stop, f"{entry.name}.scales"))
    if embedded:
        regions.append((embedded.offset, file_bytes, "manifest"))
    return regions


def _check_manifest(config: ModelConfig, embedded: EmbeddedManifest | None) -> None:
    if embedded and embedded.manifest.parameters != count_parameters(config):
        text = (
            f"The manifest counts {embedded.manifest.parameters} parameters, the header "
            f"{count_parameters(config)}; convert the model again."
        )
        raise kernel_error(
            ErrorCode.INVALID_MANIFEST, "manifest.parameters", text, offset=embedded.offset
        )


def _judge_checksum(source: ByteSource, header: CheckedHeader, *, is_ours: bool) -> ChecksumVerdict:
    if checksum_of(source) == header.raw.checksum:
        return "verified"
    if is_ours:
        text = "The checksum does not match: bytes of the file have changed; fetch it again."
        raise kernel_error(
            ErrorCode.INVALID_HEADER, "checksum", text, offset=HEADER_OFFSETS["checksum"]
        )
    return "not verifiable"


def _check_weights(entry: TensorEntry, weights: F32, start_row: int) -> None:
    # The extremes are NaN or infinite exactly when a weight is; no array of flags is needed.
    with np.errstate(invalid="ignore"):
        if np.isfinite(weights.min()) and np.isfinite(weights.max()):
            return
    index = int(np.flatnonzero(~np.isfinite(weights.ravel()))[0])
    offset = entry.byte_offset + 4 * (start_row * entry.shape[-1] + index)
    text = f"Tensor {entry.name} holds a weight that is not finite; fetch the model again."
    raise kernel_error(ErrorCode.INVALID_WEIGHT, entry.name, text, offset=offset)


def _check_scales(entry: TensorEntry, scales: F32, offset: int) -> None:
    good = np.isfinite(scales)
    if entry.dtype == DType.Q4_1:
        good[:, :, 0] &= scales[:, :, 0] >= 0  # [..., 1] is the minimum, of any sign
        rule = "that is not finite, or below 0"
    else:
        good &= scales > 0
        rule = "that is not finite and above 0"
    if good.all():
        return
    index = int(np.flatnonzero(~good.ravel())[0])
    text = f"Tensor {entry.name} has a scale {rule}; fetch it again."
    raise kernel_error(
        ErrorCode.INVALID_SCALE,
        f"{entry.name}.scales",
        text,
        offset=offset + np.dtype(scale_kind(entry.dtype)).itemsize * index,
    )
