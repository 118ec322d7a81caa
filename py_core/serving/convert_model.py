"""A `.slm` file and its manifest, made by `python -m kernels convert` in a child process.

Takes a model source; gives the converted file under its final name, whole and checked, or not at
all. Does not import `kernels`: the running Python may lack numpy.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from py_core.serving.failure import ServingError, explained
from py_core.serving.native_numpy import find_numpy
from py_core.serving.pinned_bytes import PART_SUFFIX, Pin, make_folder, pin_of_file


def manifest_beside(model: Path) -> Path:
    """Give the name of the manifest that belongs to a `.slm` file."""
    return model.with_name(f"{model.name}.json")


def is_described(model: Path) -> bool:
    """Tell whether a converted file is the one that its manifest was written for."""
    try:
        manifest = json.loads(manifest_beside(model).read_bytes())
    except (OSError, ValueError):
        return False
    pin = pin_of_file(model)
    return pin is not None and isinstance(manifest, dict) and manifest.get("sha256") == pin.sha256


@dataclass(frozen=True, slots=True)
class Conversion:
    """What to make of a source.

    Attributes:
        dtype: stored type of the matrices.
        name: what the manifest calls the model; None leaves that to the converter.
        origin: where the weights come from, in words; None as above.
        pins: what each made file must be, by file name.
    """

    dtype: str
    name: str | None = None
    origin: str | None = None
    pins: Mapping[str, Pin] = field(default_factory=dict)

    def as_arguments(self) -> list[str]:
        """Write the command line options of the converter."""
        name = [] if self.name is None else ["--name", self.name]
        origin = [] if self.origin is None else ["--origin", self.origin]
        return ["--dtype", self.dtype, "--keep", *name, *origin]


class Converter:
    """The converters of one checkout, working in one cache."""

    def __init__(self, root: Path, cache: Path, *, report: Callable[[str], None]) -> None:
        """Remember where things are; numpy is looked for when it is first needed."""
        self._root = root
        self._cache = cache
        self._report = report

    def convert(self, source: Path, target: Path, *, conversion: Conversion) -> None:
        """Convert `source` to `target`, a `.slm` file, with its manifest beside it.

        Raises:
            ServingError: numpy cannot be had, the converter refused or failed, the bytes are not
                the pinned ones, or the disk refused. Nothing of it is kept then.
        """
        numpy = find_numpy(self._cache, report=self._report)
        self._report(f"converting the model to {target.name}, once")
        make_folder(target.parent)
        with explained(target.parent, "space and permission to write in it"):
            aside = Path(tempfile.mkdtemp(PART_SUFFIX, ".converting.", target.parent))
        try:
            made = aside / target.name
            self._run(numpy, ["convert", str(source), str(made), *conversion.as_arguments()])
            for name, pin in conversion.pins.items():
                _check(aside / name, pin)
            # The model last: where it stands, its manifest stands too.
            _move(manifest_beside(made), manifest_beside(target))
            _move(made, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def convert_embedder(self, sources: Sequence[Path], target: Path, *, pin: Pin | None) -> None:
        """Convert a text encoder: weights, configuration and vocabulary to one `.slm` file.

        Args:
            sources: the three files in this order.
            target: the file to make.
            pin: what it must be; None while the lock is being written.

        Raises:
            ServingError: as for `convert`.
        """
        numpy = find_numpy(self._cache, report=self._report)
        self._report(f"converting the embedder to {target.name}, once")
        make_folder(target.parent)
        with explained(target.parent, "space and permission to write in it"):
            aside = Path(tempfile.mkdtemp(PART_SUFFIX, ".converting.", target.parent))
        try:
            made = aside / target.name
            self._run(numpy, ["convert-embedder", *map(str, sources), str(made)])
            if pin is not None:
                _check(made, pin)
            _move(made, target)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def _run(self, numpy: Path | None, arguments: list[str]) -> None:
        folders = [str(self._root), *([str(numpy)] if numpy else [])]
        ended = subprocess.run(
            [sys.executable, "-m", "kernels", *arguments],
            cwd=self._root,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if ended.returncode != 0:
            lines = ended.stderr.decode(errors="replace").strip().splitlines()
            raise ServingError(
                arguments[1],
                expected="a model that the converter reads, and room for the result",
                found=lines[-1] if lines else f"exit code {ended.returncode}",
                remedy="Choose another file with --model, or free memory and disk space",
            )


def _check(made: Path, pin: Pin) -> None:
    found = pin_of_file(made)
    if found != pin:
        raise ServingError(
            made.name,
            expected=f"{pin} from the converter",
            found=str(found or "no file"),
            remedy="kernels and web/vendor.lock.json differ: restore both with git checkout",
        )


def _move(made: Path, target: Path) -> None:
    with explained(target, "space and permission to write it"):
        with made.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(made, target)
