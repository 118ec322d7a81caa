"""The embedder of the semantic search: fetched, converted and offered, or left out in a word."""

import json
import os
import sys
from typing import Any

import pytest

from py_core.serving.cache_folder import find_cache_folder
from py_core.serving.convert_model import Converter
from py_core.serving.pinned_bytes import pin_of_file
from py_core.serving.prepare import Places, prepare
from py_core.serving.vendor_lock import read_vendor_lock
from tests.serving.small_checkout import ROOT, find_leftovers, snapshot
from tests.serving.small_embedder import CARRIER, CONVERTED, add_embedder


class Start:
    """Prepares in this process; gives the model index, and keeps what was said."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.lines: list[str] = []

    def __call__(self, choice: str = "smollm2", *, wants_embedder: bool = True) -> Any:
        """Start once."""
        self.lines.clear()
        report = self.lines.append
        site = prepare(self._places, choice, report=report, wants_embedder=wants_embedder)
        index = site.find("models/index.json")
        assert index is not None
        assert isinstance(index.content, bytes)
        return json.loads(index.content)


@pytest.fixture
def start(checkout, cdn, monkeypatch):
    """Point preparation, and the pip that it runs, at the small sources."""
    for name, value in checkout.environment(cdn.address).items():
        monkeypatch.setenv(name, value)

    return Start(Places(checkout.root, checkout.cache, cdn.address))


def roles(index):
    """Give the file and role of each entry."""
    return [(entry["file"], entry["role"]) for entry in index if "tiny_f32" not in entry["file"]]


def test_the_embedder_is_made_from_its_pinned_files_and_offered_last(checkout, start):
    """It is one more file with a role of its own, and never the page's default model."""
    wanted = add_embedder(checkout)
    index = start()
    assert roles(index) == [("tiny-q8_0.slm", "chat"), (CONVERTED, "embedder")]
    assert index[-1]["size"] == len(wanted)
    assert (checkout.cache / "models" / CONVERTED).read_bytes() == wanted
    assert find_leftovers(checkout.root, checkout.cache) == []


def test_a_second_start_does_no_work_for_it(checkout, start):
    """Nothing is fetched, said or written when it is in place."""
    add_embedder(checkout)
    start()
    before = snapshot(checkout.cache)
    assert roles(start())[-1] == (CONVERTED, "embedder")
    assert start.lines == []
    assert snapshot(checkout.cache) == before


def test_without_any_source_the_page_is_served_without_it(checkout, start):
    """The chat does not need it: one notice says what is missing."""
    add_embedder(checkout)
    (checkout.wheels / CARRIER).unlink()
    assert roles(start()) == [("tiny-q8_0.slm", "chat")]
    notices = [line for line in start.lines if line.startswith("notice: no semantic search")]
    assert len(notices) == 1
    assert "model.safetensors" in notices[0]


def test_a_converter_that_gives_other_bytes_is_refused(checkout, start):
    """The pin of the result decides."""
    add_embedder(checkout)
    path = checkout.root / "web" / "vendor.lock.json"
    lock = json.loads(path.read_text(encoding="utf-8"))
    lock["embedder"]["converted"]["sha256"] = "0" * 64
    path.write_text(json.dumps(lock), encoding="utf-8")
    assert roles(start()) == [("tiny-q8_0.slm", "chat")]
    assert not (checkout.cache / "models" / CONVERTED).exists()


def test_whoever_wants_none_gets_none(checkout, start):
    """The flag and `--model none` fetch nothing for it."""
    add_embedder(checkout)
    assert roles(start(wants_embedder=False)) == [("tiny-q8_0.slm", "chat")]
    assert start("none") == []
    assert not (checkout.cache / "models" / CONVERTED).exists()


def test_fixture_models_come_with_the_fixture_embedder(checkout, start):
    """What is in the checkout needs no network."""
    add_embedder(checkout)
    assert roles(start("fixture")) == []
    folder = checkout.root / "fixtures" / "embedders"
    folder.mkdir()
    content = (ROOT / "fixtures" / "embedders" / "small_encoder.slm").read_bytes()
    (folder / "small_encoder.slm").write_bytes(content)
    assert roles(start("fixture")) == [("small_encoder.slm", "embedder")]


@pytest.mark.slow
def test_the_converter_makes_the_pinned_embedder(tmp_path):
    """A converted file in the cache hides a converter that has changed; a fresh clone does not."""
    cache = find_cache_folder(os.environ, sys.platform)
    embedder = read_vendor_lock(ROOT / "web" / "vendor.lock.json").embedder
    assert embedder is not None
    parts = (embedder.weights, embedder.config, embedder.vocabulary)
    sources = [cache / "files" / f"{part.pin.sha256[:12]}-{part.path}" for part in parts]
    if not all(source.is_file() for source in sources):
        pytest.skip("python serve.py --prepare-only has not fetched the embedder yet")
    made = tmp_path / embedder.converted.path
    Converter(ROOT, cache, report=print).convert_embedder(sources, made, pin=None)
    assert pin_of_file(made) == embedder.converted.pin
