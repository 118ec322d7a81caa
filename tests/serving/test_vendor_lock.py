"""The committed lock, and locks that are not well formed."""

import json
import re

import pytest

from py_core.serving.failure import ServingError
from py_core.serving.vendor_lock import (
    CdnSource,
    PackageSource,
    TextSource,
    pyodide_lock_bytes,
    read_vendor_lock,
)
from tests.serving.small_checkout import ROOT

LOCK = ROOT / "web" / "vendor.lock.json"


def test_every_outside_byte_is_pinned_by_size_and_hash():
    """Runtime, carriers and model: nothing is fetched by name alone."""
    lock = read_vendor_lock(LOCK)
    pinned = [*lock.files, *(package.wheel for package in lock.packages.values())]
    for model in lock.models:
        pinned += [model.origin, model.converted, model.manifest]
    assert all(re.fullmatch("[0-9a-f]{64}", file.pin.sha256) for file in pinned)
    assert all(file.pin.size > 0 for file in pinned)


def test_every_file_of_the_runtime_can_be_had_without_the_cdn():
    """The Python registry alone is enough, since it is where the user's Python comes from."""
    lock = read_vendor_lock(LOCK)
    for file in lock.files:
        others = [source for source in file.sources if not isinstance(source, CdnSource)]
        assert others, file.path
        for source in others:
            assert isinstance(source, TextSource) or source.package in lock.packages


def test_the_runtimes_own_lock_lists_exactly_the_wheels_beside_it():
    """Pyodide checks its wheels against this cut, so both must say the same."""
    lock = read_vendor_lock(LOCK)
    listed = json.loads(LOCK.read_bytes())["pyodide_lock"]["packages"].values()
    wheels = {
        file.path.removeprefix("pyodide/"): file.pin.sha256
        for file in lock.files
        if file.path.endswith(".whl")
    }
    assert {entry["file_name"]: entry["sha256"] for entry in listed} == wheels


def test_the_runtimes_own_lock_is_the_same_text_in_any_order():
    """Its pin is computed, so its bytes must not depend on how the JSON was written."""
    assert pyodide_lock_bytes({"b": 1, "a": 2}) == pyodide_lock_bytes({"a": 2, "b": 1})


def test_a_package_source_without_member_is_the_wheel_itself():
    """That is how pyodide-http comes: as the registry has it."""
    sources = [source for file in read_vendor_lock(LOCK).files for source in file.sources]
    assert PackageSource("pyodide-http", None) in sources


@pytest.mark.parametrize(
    "path", ["../out", "a/../../out", "/etc/passwd", "a//b", "", "C:/x", "a\\..\\b", "a/./b"]
)
def test_a_path_that_leaves_its_folder_is_refused(path, tmp_path):
    """The lock decides where files are written, so it is not believed blindly."""
    data = json.loads(LOCK.read_bytes())
    data["files"][0]["path"] = path
    bad = tmp_path / "lock.json"
    bad.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ServingError, match="leaves its folder"):
        read_vendor_lock(bad)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": "tinyloom-vendor-lock/2"}'])
def test_what_is_no_lock_is_one_clear_line(text, tmp_path):
    """Any JSON, or none, ends in a line that names the file."""
    bad = tmp_path / "lock.json"
    bad.write_text(text, encoding="utf-8")
    with pytest.raises(ServingError, match=r"lock\.json: expected a lock of format"):
        read_vendor_lock(bad)


def test_a_missing_lock_is_one_clear_line(tmp_path):
    """The committed file is named."""
    with pytest.raises(ServingError, match=r"none\.json: expected the committed lock; found No"):
        read_vendor_lock(tmp_path / "none.json")
