"""Collect the pure wheels that run pytest inside the browser's Python.

Takes the pinned list `tests/browser/pyodide/requirements.txt`; gives a folder with those wheels,
downloaded by pip once and checked by hash. Does not know what the tests need of our own code.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "tests" / "browser" / "pyodide" / "requirements.txt"
WHEELS = ROOT / ".prepared" / "pyodide_test_wheels"


def collect(requirements: Path = REQUIREMENTS, target: Path = WHEELS) -> Path:
    """Download the listed wheels unless `target` already holds exactly this list.

    Raises:
        subprocess.CalledProcessError: pip could not get a wheel, or its hash is another.
    """
    stamp = target / "collected.stamp"
    expected = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == expected:
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    options = ["--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    # Any Python, any platform: only wheels without compiled code qualify.
    options += ["--python-version", "3.14", "--implementation", "py"]
    options += ["--abi", "none", "--platform", "any"]
    command = [sys.executable, "-m", "pip", "download", *options]
    subprocess.run([*command, "-r", str(requirements), "-d", str(target)], check=True)
    stamp.write_text(expected, encoding="utf-8")
    return target


if __name__ == "__main__":
    collect()
