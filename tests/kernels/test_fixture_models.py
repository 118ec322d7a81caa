"""The committed models are exactly what the seeds give, here and in the browser."""

import hashlib
import json

import pytest

from kernels.fixture_models import CHECKSUM_LIST, write_fixtures
from kernels.manifest import parse_manifest
from tests.kernels.slm_bytes import MODELS, read_all

PUBLISHED = [
    # file, parameters, bytes (notes on SLM1, section 5; None where nothing is published)
    ("tiny_f32.slm", 4824, 20_352),
    ("tiny_tied_f32.slm", 2744, 11_968),
    ("tiny_q8_0.slm", 4824, None),
    ("tiny_q4_0.slm", 4824, None),
    ("tiny_bpe_f32.slm", 4856, None),
]


def test_making_the_models_again_gives_the_committed_bytes(tmp_path):
    """Every file, its manifest and the list of hashes, byte for byte."""
    write_fixtures(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    committed = {path.name: path.read_bytes() for path in MODELS.iterdir()}
    assert made == committed


def test_the_list_of_hashes_fits_the_files():
    """SHA-256 of each model and each manifest."""
    hashes = json.loads((MODELS / CHECKSUM_LIST).read_text())
    found = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in MODELS.iterdir()
        if path.name != CHECKSUM_LIST
    }
    assert hashes == found


@pytest.mark.parametrize(("file", "parameters", "file_bytes"), PUBLISHED)
def test_tiny_models_have_the_published_counts(file, parameters, file_bytes):
    """4,824 and 2,744 parameters, 20,352 and 11,968 bytes."""
    data = (MODELS / file).read_bytes()
    model = read_all(data)
    assert model.parameters == parameters
    assert file_bytes is None or len(data) == file_bytes
    assert (model.config.max_context, model.manifest) == (16, None)


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.slm")), ids=lambda path: path.name)
def test_each_model_opens_and_its_manifest_tells_the_truth(path):
    """Hash, size, parameters and dtype are those of the file; the checksum is verified."""
    data = path.read_bytes()
    model = read_all(data)
    manifest = parse_manifest(path.with_name(path.name + ".json").read_bytes())
    assert model.checksum == "verified"
    assert manifest.sha256 == hashlib.sha256(data).hexdigest()
    assert (manifest.file_bytes, manifest.parameters) == (len(data), model.parameters)
    assert manifest.dtype == model.dtype.label
