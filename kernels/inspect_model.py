"""Describe a `.slm` file: header, tensors, tokenizer, hash, memory.

Takes a path. Gives plain data for `--json`, and the same as lines of text.
Every tensor is read once, so an inspected file is known to be sound. Does not change anything.
"""

import json
from dataclasses import asdict
from pathlib import Path

from kernels.byte_source import FileSource, sha256_of
from kernels.memory_plan import Engine, plan_memory
from kernels.model_shape import read_model_shape
from kernels.slm_directory import TensorEntry
from kernels.slm_file import SlmFile, open_model
from kernels.tokenizer import Tokenizer, load_tokenizer

Report = dict[str, object]


def inspect_file(path: Path) -> Report:
    """Return the facts of a model file.

    Raises:
        KernelError: When the file, a tensor or the tokenizer is not sound.
    """
    with FileSource(path) as source:
        model = open_model(source)
        tokenizer = load_tokenizer(model.tokenizer_section, model.manifest)
        for name in model.entries:
            model.read_tensor(name)
        return {
            "file": path.name,
            "file_bytes": model.file_bytes,
            "sha256": sha256_of(source),
            "checksum": model.checksum,
            "parameters": model.parameters,
            "dtype": model.dtype.label,
            "header": asdict(model.config),
            "tokenizer": _describe_tokenizer(tokenizer),
            "manifest": json.loads(model.manifest.to_json()) if model.manifest else None,
            "memory": _describe_memory(model),
            "tensors": [_describe_tensor(entry) for entry in model.entries.values()],
            "warnings": list(model.warnings),
        }


def write_report(report: Report, *, as_json: bool) -> str:
    """Return the report as one JSON object, or as indented lines for a person."""
    if as_json:
        return json.dumps(report, ensure_ascii=False)
    return "\n".join(_lines(report, ""))


def _lines(values: Report, indent: str) -> list[str]:
    lines = []
    for key, value in values.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{key}")
            lines.extend(_lines(value, indent + "  "))
        elif key == "tensors" and isinstance(value, list):
            lines.append(f"{indent}{key} {len(value)}")
            lines.extend(f"{indent}  {_tensor_line(tensor)}" for tensor in value)
        else:
            lines.append(f"{indent}{key:<22} {json.dumps(value, ensure_ascii=False)}")
    return lines


def _tensor_line(tensor: Report) -> str:
    return (
        f"{tensor['name']!s:<28} {tensor['dtype']!s:<5} {tensor['shape']!s:<14} "
        f"block {tensor['block_size']!s:<5} at {tensor['byte_offset']} + {tensor['byte_length']}"
    )


def _describe_tensor(entry: TensorEntry) -> Report:
    return {
        "name": entry.name,
        "dtype": entry.dtype.label,
        "shape": list(entry.shape),
        "block_size": entry.block_size,
        "byte_offset": entry.byte_offset,
        "byte_length": entry.byte_length,
        "scale_offset": entry.scale_offset,
    }


def _describe_tokenizer(tokenizer: Tokenizer) -> Report:
    return {
        "kind": tokenizer.kind,
        "vocab_size": tokenizer.vocab_size,
        "special": asdict(tokenizer.special),
        "control_tokens": tokenizer.control_ids,
        "identity": tokenizer.identity,
    }


def _describe_memory(model: SlmFile) -> Report:
    plan = plan_memory(read_model_shape(model.source), Engine("numpy"))
    return {**asdict(plan), "kv_bytes_total": plan.kv_bytes_total}
