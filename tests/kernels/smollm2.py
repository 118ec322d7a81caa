"""The real model and its reference answers, where they are on this machine.

Takes the per-user cache (`TINYLOOM_CACHE` or the platform's place). Gives the weights of the GGUF
file as float32, and `fixtures/reference/smollm2_golden.json`. Skips with a reason when the file is
not there: `python serve.py --prepare-only` fetches it.
"""

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kernels.arrays import F32
from kernels.byte_source import BytesSource
from kernels.convert import read_model_source
from kernels.decoder import Decoder
from kernels.dtypes import DType, StoredTensor, rows_and_columns
from kernels.model_source import ModelSource
from kernels.tokenizer import Tokenizer, load_tokenizer
from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.pinned_bytes import pin_of_file
from tests.kernels.loaded_decoder import load_decoder

GOLDEN_PATH = Path(__file__).parents[2] / "fixtures" / "reference" / "smollm2_golden.json"


@cache
def read_golden() -> dict[str, Any]:
    """Read the reference answers."""
    golden: dict[str, Any] = json.loads(GOLDEN_PATH.read_text(encoding="utf-8"))
    return golden


class SourceTensors:
    """The tensors of a model on its way into a `.slm`, for loading without one."""

    def __init__(self, source: ModelSource) -> None:
        self.config = source.config
        self._source = source

    def read_f32(self, name: str) -> F32:
        """Dequantise one whole tensor."""
        rows = self._source.tensors[name]
        return rows.read(0, rows_and_columns(rows.shape)[0]).reshape(rows.shape)

    def read_tensor(self, name: str) -> StoredTensor:
        """Give one tensor as a float32 file would store it."""
        weights = self.read_f32(name)
        return StoredTensor(DType.F32, weights.shape, weights, None, 0)


@cache
def find_file() -> Path | None:
    """Find the GGUF with the pinned hash in the cache."""
    wanted = read_golden()["source"]
    folder = find_cache_folder(os.environ, sys.platform)
    for path in sorted(folder.rglob("*.gguf")):
        pin = pin_of_file(path)
        if pin is not None and pin.sha256 == wanted["sha256"]:
            return path
    return None


@cache
def _open_source() -> ModelSource | None:
    path = find_file()
    return read_model_source(BytesSource(path.read_bytes())) if path else None


def open_source() -> ModelSource:
    """Open the file, or skip the test that asks."""
    source = _open_source()
    if source is None:
        pytest.skip("SmolLM2 is not in the cache; `python serve.py --prepare-only` brings it")
    return source


def open_tensors() -> SourceTensors:
    """Give the weights, or skip."""
    return SourceTensors(open_source())


@cache
def load_f32_decoder() -> Decoder:
    """Load the model once for all tests of a run."""
    return load_decoder(open_tensors())


@cache
def load_tokenizer_of_model() -> Tokenizer:
    """Load the model's tokenizer."""
    source = open_source()
    return load_tokenizer(source.tokenizer_section, source.manifest)
