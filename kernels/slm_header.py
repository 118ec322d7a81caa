"""The first 108 bytes of a `.slm` file, read and checked field by field.

Takes a byte source. Gives the raw header, the configuration and the warnings.
Each refusal names the field and its offset. Does not read anything behind the header.
"""

from dataclasses import dataclass

from kernels.byte_source import ByteSource, read_bytes
from kernels.errors import ErrorCode, KernelError, kernel_error
from kernels.model_config import ModelConfig, find_config_fault
from kernels.slm_layout import (
    ALIGNMENT,
    ENTRY_BYTES,
    HEADER,
    HEADER_BYTES,
    HEADER_OFFSETS,
    MAGIC,
    MODEL_TYPE,
    TIED_OUTPUT_FLAG,
    VERSION,
    RawHeader,
)

MAX_TENSORS = 1 << 16
"""More directory entries than this (7,281 layers) are taken for damage, not for a model."""

_BAD = ErrorCode.INVALID_HEADER


@dataclass(frozen=True, slots=True)
class CheckedHeader:
    """A header whose every field keeps its rule; regions are inside the file."""

    raw: RawHeader
    config: ModelConfig
    warnings: tuple[str, ...]


def read_header(source: ByteSource) -> CheckedHeader:
    """Read and check the header.

    Raises:
        KernelError: `invalid_model_magic`, `unsupported_model_version`, `invalid_length` for a
            file shorter than a header, `invalid_tensor_directory` for its three fields, else
            `invalid_header`.
    """
    raw = _read_raw(source)
    _check_identity(raw, source.size)
    config = _config_from(raw)
    if fault := find_config_fault(config):
        raise header_error(_BAD, fault.field, f"{fault.rule}, found {getattr(raw, fault.field)}")
    _check_tokenizer_region(raw, source.size)
    _check_directory_region(raw, source.size)
    if raw.checksum == 0:
        raise header_error(_BAD, "checksum", "must not be 0")
    return CheckedHeader(raw, config, _find_warnings(raw))


def header_error(code: ErrorCode, field: str, rule: str) -> KernelError:
    """Build the refusal of one header field."""
    text = f"Header field {field} {rule}; the file is damaged or not SLM1, so fetch it again."
    return kernel_error(code, field, text, offset=HEADER_OFFSETS[field])


def _read_raw(source: ByteSource) -> RawHeader:
    start = read_bytes(source, 0, min(source.size, HEADER_BYTES))
    if len(start) >= len(MAGIC) and not start.startswith(MAGIC):
        text = "The file does not begin with SLM1; choose a .slm model or convert this one."
        raise kernel_error(ErrorCode.INVALID_MODEL_MAGIC, "magic", text, offset=0)
    if len(start) < HEADER_BYTES:
        text = (
            f"The file has {source.size} bytes but the header alone {HEADER_BYTES}; fetch it again."
        )
        raise kernel_error(ErrorCode.INVALID_LENGTH, "file_bytes", text, offset=source.size)
    return RawHeader._make(HEADER.unpack(start))


def _check_identity(raw: RawHeader, file_bytes: int) -> None:
    if raw.version != VERSION:
        raise header_error(
            ErrorCode.UNSUPPORTED_MODEL_VERSION,
            "version",
            f"must be {VERSION}, found {raw.version}",
        )
    if not HEADER_BYTES <= raw.header_length <= file_bytes:
        raise header_error(
            _BAD,
            "header_length",
            f"must be from {HEADER_BYTES} to the file's {file_bytes}, found {raw.header_length}",
        )
    if raw.model_type != MODEL_TYPE:
        raise header_error(_BAD, "model_type", f"must be {MODEL_TYPE}, found {raw.model_type}")


def _config_from(raw: RawHeader) -> ModelConfig:
    return ModelConfig(
        vocab_size=raw.vocab_size,
        special_token_count=raw.special_token_count,
        hidden_size=raw.hidden_size,
        layer_count=raw.layer_count,
        head_count=raw.head_count,
        kv_head_count=raw.kv_head_count,
        head_dim=raw.head_dim,
        ffn_size=raw.ffn_size,
        max_context=raw.max_context,
        rope_theta=raw.rope_theta,
        rms_norm_epsilon=raw.rms_norm_epsilon,
        tied_output=bool(raw.flags & TIED_OUTPUT_FLAG),
    )


def _check_tokenizer_region(raw: RawHeader, file_bytes: int) -> None:
    if raw.tokenizer_offset < raw.header_length:
        raise header_error(
            _BAD,
            "tokenizer_offset",
            f"must not be inside the header of {raw.header_length} bytes, "
            f"found {raw.tokenizer_offset}",
        )
    if raw.tokenizer_offset > file_bytes:
        raise header_error(
            _BAD, "tokenizer_offset", f"is behind the end of the file at {file_bytes}"
        )
    if raw.tokenizer_length > file_bytes - raw.tokenizer_offset:
        raise header_error(
            _BAD, "tokenizer_length", f"goes past the end of the file at {file_bytes}"
        )


def _check_directory_region(raw: RawHeader, file_bytes: int) -> None:
    code = ErrorCode.INVALID_TENSOR_DIRECTORY
    for field in ("tensor_directory_offset", "tensor_data_offset"):
        value = getattr(raw, field)
        if value % ALIGNMENT:
            raise header_error(code, field, f"must be a multiple of {ALIGNMENT}, found {value}")
        if value > file_bytes:
            raise header_error(code, field, f"is behind the end of the file at {file_bytes}")
    if raw.tensor_count > MAX_TENSORS:
        raise header_error(code, "tensor_count", f"is over {MAX_TENSORS}")
    if raw.tensor_count * ENTRY_BYTES > file_bytes - raw.tensor_directory_offset:
        raise header_error(code, "tensor_count", f"{raw.tensor_count} does not fit the file")


def _find_warnings(raw: RawHeader) -> tuple[str, ...]:
    unknown = raw.flags & ~TIED_OUTPUT_FLAG
    if unknown:
        return (f"Header flags {unknown:#x} are unknown to this reader and were ignored.",)
    return ()
