"""From a fresh clone to a site that can be served.

Takes the checkout, the cache, the wanted model and the sources; gives a `Site`. Says one line for
each file it had to move, and nothing when nothing was missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from py_core.serving.cdn import Cdn
from py_core.serving.fetch import Fetcher
from py_core.serving.package_wheels import PackageWheels
from py_core.serving.pinned_bytes import pin_of_file, remove_parts
from py_core.serving.site import Site
from py_core.serving.start_lock import only_start
from py_core.serving.vendor_lock import VendorLock, read_vendor_lock


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


def prepare(places: Places, *, report: Callable[[str], None]) -> Site:
    """Bring every pinned file to its place.

    Raises:
        ServingError: something is missing and no source has it, or the disk refused.
    """
    lock = read_vendor_lock(places.root / "web" / "vendor.lock.json")
    if _is_complete(places, lock):
        return Site(places.root, lock)
    with only_start(places.cache, report=report):
        remove_parts(places.cache)
        wheels = PackageWheels(lock.packages, places.cache / "downloads", report=report)
        cdn = Cdn(places.cdn or lock.cdn)
        fetcher = Fetcher(places.cache, cdn, wheels, report=report)
        _fill_vendor(places, lock, fetcher, report)
        wheels.discard()
    return Site(places.root, lock)


def _is_complete(places: Places, lock: VendorLock) -> bool:
    return all(pin_of_file(places.vendor / file.path) == file.pin for file in lock.files)


def _fill_vendor(
    places: Places, lock: VendorLock, fetcher: Fetcher, report: Callable[[str], None]
) -> None:
    count = len(lock.files)
    for number, file in enumerate(lock.files, start=1):
        source = fetcher.place(file, places.vendor / file.path)
        how = f"from {source}" if source else "already here"
        report(f"[{number:>2}/{count}] {file.path}  {file.pin.size / 1e6:.2f} MB  {how}")
