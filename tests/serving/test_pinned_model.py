"""The demo model's pins against the converter of this checkout."""

import os
import sys

import pytest

from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.convert_model import Conversion, Converter
from py_core.serving.pinned_bytes import pin_of_file
from py_core.serving.vendor_lock import read_vendor_lock
from tests.serving.small_checkout import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("model", read_vendor_lock(ROOT / "web" / "vendor.lock.json").models)
def test_the_converter_makes_the_pinned_bytes(model, tmp_path):
    """A converted model in the cache hides a converter that has changed; a fresh clone does not."""
    cache = find_cache_folder(os.environ, sys.platform)
    origin = cache / "files" / f"{model.origin.pin.sha256[:12]}-{model.origin.path}"
    if pin_of_file(origin) != model.origin.pin:
        pytest.skip("python serve.py --prepare-only has not fetched the model yet")
    conversion = Conversion(model.dtype, model.label, model.provenance)
    made = tmp_path / model.converted.path
    Converter(ROOT, cache, report=print).convert(origin, made, conversion=conversion)
    assert pin_of_file(made) == model.converted.pin
    assert pin_of_file(tmp_path / model.manifest.path) == model.manifest.pin
