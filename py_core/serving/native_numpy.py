"""A numpy for the converter, on a Python that may have none.

Takes the cache; gives the folder to put on the child's module path, or None if this Python's own
numpy will do. Its bytes are not in the lock, for they differ on every platform; what the converter
makes with it is pinned, and that decides.
"""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from py_core.serving.cdn import SourceUnavailableError
from py_core.serving.failure import ServingError, explained
from py_core.serving.pinned_bytes import PART_SUFFIX, make_folder
from py_core.serving.pip_run import run_pip

_VERSION: Final = "2.4.3"  # the one in the page
_OLDEST: Final = (2, 3)


def find_numpy(cache: Path, *, report: Callable[[str], None]) -> Path | None:
    """Find a numpy of 2.3 or newer, installing one into the cache if this Python has none.

    A folder, not a virtual environment: some systems ship Python without the means to make one,
    and pip may always install into a folder of its own.

    Raises:
        ServingError: pip cannot bring it.
    """
    if _has_own_numpy():
        return None
    tag = f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}"
    folder = cache / f"numpy-{_VERSION}-{tag}"
    if not _works(folder):
        shutil.rmtree(folder, ignore_errors=True)
        _install(folder, report)
    return folder


def _has_own_numpy() -> bool:
    try:
        version = importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError:
        return False
    major, minor = version.split(".")[:2]
    return (int(major), int(minor)) >= _OLDEST


def _works(folder: Path) -> bool:
    """Import it in a child: a damaged folder must not look like a damaged model."""
    command = [sys.executable, "-c", "import numpy"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return (
        folder.is_dir()
        and not subprocess.run(
            command, env=environment, capture_output=True, check=False
        ).returncode
    )


def _install(folder: Path, report: Callable[[str], None]) -> None:
    requirement = f"numpy=={_VERSION}"
    doing = f"{requirement} (for the converter) with pip"
    report(f"fetching {doing}")
    make_folder(folder.parent)
    with explained(folder, "space and permission to write it"):
        aside = tempfile.mkdtemp(PART_SUFFIX, f".{folder.name}.", folder.parent)
        try:
            arguments = ["install", "--no-deps", "--only-binary=:all:", "--target", aside]
            run_pip([*arguments, requirement], report=report, doing=doing)
            os.replace(aside, folder)
        except SourceUnavailableError as error:
            raise ServingError(
                requirement,
                expected="numpy 2.3 or newer to convert the model",
                found=str(error),
                remedy="Connect to the network, or run pip install numpy, and start again",
            ) from error
        finally:
            shutil.rmtree(aside, ignore_errors=True)
