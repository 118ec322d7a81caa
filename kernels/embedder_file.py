"""Read and write a text encoder in the `.slm` container: model type 2, a vocabulary, its tensors.

Takes a byte source and gives tensors by name, or takes tensors and gives bytes. Header, directory,
checksum and alignment are those of `slm_layout`; what differs from a decoder is the model type, a
tokenizer section "WPC1" that holds the vocabulary's lines, the layer norm's epsilon in the field
of the other norm, and a rotary base of 0. Does not know what the tensors compute.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from kernels.arrays import F32
from kernels.byte_source import ByteSink, ByteSource, BytesSource, read_bytes
from kernels.dtypes import DType, StoredTensor, quantise, rows_and_columns
from kernels.embedder_names import EncoderConfig, encoder_tensors
from kernels.errors import ErrorCode, kernel_error
from kernels.slm_checksum import checksum_of
from kernels.slm_layout import (
    ENTRY,
    ENTRY_BYTES,
    HEADER,
    HEADER_BYTES,
    HEADER_OFFSETS,
    MAGIC,
    VERSION,
    RawEntry,
    RawHeader,
    align,
    name_hash,
    payload_bytes,
    scale_bytes,
)

MODEL_TYPE_ENCODER = 2
SECTION: Final = struct.Struct("<4sII")
SECTION_MAGIC = b"WPC1"
SECTION_VERSION = 1


@dataclass(frozen=True, slots=True)
class EmbedderFile:
    """An open encoder whose checksum and structure are right."""

    source: ByteSource
    config: EncoderConfig
    vocabulary: str
    entries: Mapping[str, RawEntry]

    def read_tensor(self, name: str) -> StoredTensor:
        """Read one tensor as it is stored."""
        entry = self.entries[name]
        shape = tuple((entry.dim_0, entry.dim_1)[: entry.rank])
        dtype = DType(entry.dtype)
        rows, columns = rows_and_columns(shape)
        kind = np.dtype("<f4") if dtype == DType.F32 else np.dtype(np.int8)
        payload = np.empty((rows, columns), kind)
        self.source.read_into(entry.byte_offset, payload.data.cast("B"))
        if dtype == DType.F32:
            return StoredTensor(dtype, shape, payload.reshape(shape), None, 0)
        scales = np.empty((rows, columns // entry.block_size), dtype="<f4")
        self.source.read_into(entry.scale_offset, scales.data.cast("B"))
        return StoredTensor(dtype, shape, payload, scales, entry.block_size)

    def read_f32(self, name: str) -> F32:
        """Read one tensor as float32 in its shape."""
        return self.read_tensor(name).to_f32()


def open_embedder(source: ByteSource) -> EmbedderFile:
    """Check a file and return it for reading.

    Raises:
        KernelError: `invalid_model_magic`, `invalid_header` (also for a changed byte anywhere),
            `invalid_tensor_directory` or `missing_tensor`.
    """
    raw = _read_header(source)
    config = EncoderConfig(
        vocab_size=raw.vocab_size,
        hidden_size=raw.hidden_size,
        layer_count=raw.layer_count,
        head_count=raw.head_count,
        ffn_size=raw.ffn_size,
        max_context=raw.max_context,
        norm_epsilon=raw.rms_norm_epsilon,
    )
    return EmbedderFile(
        source, config, _read_vocabulary(source, raw), _read_entries(source, raw, config)
    )


def write_embedder(
    sink: ByteSink,
    config: EncoderConfig,
    vocabulary: str,
    read_rows: Callable[[str], F32],
    *,
    dtype: DType = DType.Q8_0,
) -> None:
    """Write a file: matrices in `dtype` with a scale for each row, vectors as float32."""
    section = _pack_vocabulary(vocabulary, config.vocab_size)
    plans = [(name, shape, _choose(dtype, shape)) for name, shape in encoder_tensors(config)]
    directory_offset = align(HEADER_BYTES + len(section))
    data_offset = align(directory_offset + len(plans) * ENTRY_BYTES)
    entries, end = _place(plans, data_offset)
    image = bytearray(end)
    image[HEADER_BYTES : HEADER_BYTES + len(section)] = section
    directory = b"".join(ENTRY.pack(*entry) for entry in entries)
    image[directory_offset : directory_offset + len(directory)] = directory
    for (name, _, chosen), entry in zip(plans, entries, strict=True):
        _fill(image, entry, chosen, read_rows(name))
    header = _pack_header(config, len(section), directory_offset, len(plans), data_offset)
    image[:HEADER_BYTES] = header.pack(checksum=0)
    image[:HEADER_BYTES] = header.pack(checksum=checksum_of(BytesSource(bytes(image))))
    sink.write(bytes(image))


@dataclass(frozen=True, slots=True)
class _Header:
    raw: RawHeader

    def pack(self, *, checksum: int) -> bytes:
        return HEADER.pack(*self.raw._replace(checksum=checksum))


def _pack_header(
    config: EncoderConfig, section_bytes: int, directory: int, tensor_count: int, data: int
) -> _Header:
    return _Header(
        RawHeader(
            magic=MAGIC,
            version=VERSION,
            header_length=HEADER_BYTES,
            model_type=MODEL_TYPE_ENCODER,
            flags=0,
            vocab_size=config.vocab_size,
            special_token_count=0,
            hidden_size=config.hidden_size,
            layer_count=config.layer_count,
            head_count=config.head_count,
            kv_head_count=config.head_count,
            head_dim=config.head_dim,
            ffn_size=config.ffn_size,
            max_context=config.max_context,
            rope_theta=0.0,
            rms_norm_epsilon=config.norm_epsilon,
            tokenizer_offset=HEADER_BYTES,
            tokenizer_length=section_bytes,
            tensor_directory_offset=directory,
            tensor_count=tensor_count,
            tensor_data_offset=data,
            checksum=0,
        )
    )


def _choose(dtype: DType, shape: tuple[int, ...]) -> DType:
    return dtype if len(shape) > 1 else DType.F32


def _place(
    plans: list[tuple[str, tuple[int, ...], DType]], data_offset: int
) -> tuple[list[RawEntry], int]:
    entries, end = [], data_offset
    for name, shape, dtype in plans:
        block = 0 if dtype == DType.F32 else shape[-1]
        offset, length = end, payload_bytes(dtype, shape)
        scales = scale_bytes(dtype, shape, block) if block else 0
        scale_offset = align(offset + length) if scales else 0
        end = align(scale_offset + scales if scales else offset + length)
        entry = RawEntry(
            name_hash=name_hash(name),
            dtype=int(dtype),
            rank=len(shape),
            dim_0=shape[0],
            dim_1=shape[1] if len(shape) > 1 else 0,
            dim_2=0,
            dim_3=0,
            byte_offset=offset,
            byte_length=length,
            scale_offset=scale_offset,
            block_size=block,
        )
        entries.append(entry)
    return entries, end


def _fill(image: bytearray, entry: RawEntry, dtype: DType, weights: F32) -> None:
    rows = weights.reshape(rows_and_columns(weights.shape))
    payload, scales = quantise(dtype, rows, entry.block_size)
    data = payload.tobytes()
    image[entry.byte_offset : entry.byte_offset + len(data)] = data
    if scales is not None:
        data = scales.astype("<f4").tobytes()
        image[entry.scale_offset : entry.scale_offset + len(data)] = data


def _read_header(source: ByteSource) -> RawHeader:
    start = read_bytes(source, 0, min(source.size, HEADER_BYTES))
    if len(start) < HEADER_BYTES or not start.startswith(MAGIC):
        text = "The embedder does not begin with an SLM1 header; fetch or convert it again."
        raise kernel_error(ErrorCode.INVALID_MODEL_MAGIC, "magic", text, offset=0)
    raw = RawHeader._make(HEADER.unpack(start))
    if raw.model_type != MODEL_TYPE_ENCODER:
        text = f"The file has model type {raw.model_type}, not 2; choose an embedder."
        raise kernel_error(
            ErrorCode.INVALID_HEADER, "model_type", text, offset=HEADER_OFFSETS["model_type"]
        )
    if checksum_of(source) != raw.checksum:
        text = "The checksum does not match: bytes of the embedder have changed; fetch it again."
        raise kernel_error(
            ErrorCode.INVALID_HEADER, "checksum", text, offset=HEADER_OFFSETS["checksum"]
        )
    return raw


def _pack_vocabulary(vocabulary: str, vocab_size: int) -> bytes:
    lines = vocabulary.rstrip("\n").split("\n")
    if len(lines) != vocab_size:
        text = f"The vocabulary has {len(lines)} pieces but the model {vocab_size}."
        raise kernel_error(ErrorCode.INVALID_TOKENIZER, "vocab_size", text)
    data = "\n".join(lines).encode()
    return SECTION.pack(SECTION_MAGIC, SECTION_VERSION, len(data)) + data


def _read_vocabulary(source: ByteSource, raw: RawHeader) -> str:
    section = read_bytes(source, raw.tokenizer_offset, raw.tokenizer_length)
    magic, version, length = SECTION.unpack_from(section)
    if (magic, version) != (SECTION_MAGIC, SECTION_VERSION):
        text = "The embedder's vocabulary is of an unknown kind; convert it again."
        raise kernel_error(ErrorCode.INVALID_TOKENIZER, "magic", text, offset=raw.tokenizer_offset)
    return section[SECTION.size : SECTION.size + length].decode()


def _read_entries(source: ByteSource, raw: RawHeader, config: EncoderConfig) -> dict[str, RawEntry]:
    data = read_bytes(source, raw.tensor_directory_offset, raw.tensor_count * ENTRY_BYTES)
    found = {item.name_hash: item for item in map(RawEntry._make, ENTRY.iter_unpack(data))}
    entries = {}
    for name, shape in encoder_tensors(config):
        entry = found.get(name_hash(name))
        if entry is None:
            text = f"The embedder has no tensor {name}; convert it again."
            raise kernel_error(ErrorCode.MISSING_TENSOR, name, text)
        dims = (entry.dim_0, entry.dim_1)[: entry.rank]
        end = entry.byte_offset + entry.byte_length
        if dims != shape or end > source.size:
            text = f"Tensor {name} of the embedder is not {list(shape)}; convert it again."
            raise kernel_error(ErrorCode.INVALID_TENSOR_DIRECTORY, name, text)
        entries[name] = entry
    return entries
