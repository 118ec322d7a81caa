"""From a fresh clone to a site that can be served.

Takes the checkout, the cache, the wanted model and the sources; gives a `Site`. Says one line for
each file when something had to be fetched, and nothing when all was there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from py_core.serving.cdn import Cdn
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


def prepare(places: Places, choice: str, *, report: Callable[[str], None]) -> Site:
    """Bring every pinned file and the chosen model to their places.

    Where all is there, nothing is written and no lock is taken, so that a read-only checkout and
    a start beside a long download both work.

    Raises:
        ServingError: something is missing and no source has it, or the disk refused.
    """
    lock = read_vendor_lock(places.root / "web" / "vendor.lock.json")
    chosen = choose_model(choice, lock, places.cache / "models")
    if not (_has_runtime(places, lock) and _is_ready(chosen)):
        with only_start(places.cache, report=report):
            _make_ready(places, lock, chosen, report)
    served = list_served(choice, chosen, places.root / "fixtures" / "models")
    return Site(places.root, lock, served)


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
    places: Places, lock: VendorLock, chosen: ChosenModel | None, report: Callable[[str], None]
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
        if chosen is not None and not _is_ready(chosen):
            _make_model(
                chosen, fetcher, Converter(places.root, places.cache, report=report), report
            )
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
