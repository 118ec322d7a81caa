"""Pack what the run inside the browser's Python needs besides the page's own files.

Takes the project folder; gives one archive of tests, fixtures and settings. The browser tests stay
out, since they need a browser.
"""

import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HARNESS = ROOT / "tests" / "browser" / "pyodide"
BUNDLED = ("tests", "fixtures")
BUNDLE_NAME = "bundle.zip"


def write_bundle(folder: Path) -> Path:
    """Write the archive into `folder` and return its path."""
    target = folder / BUNDLE_NAME
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(ROOT / "pyproject.toml", "pyproject.toml")
        archive.write(HARNESS / "run_inside.py", "run_inside.py")
        for path in sorted(path for name in BUNDLED for path in (ROOT / name).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            if path.is_file() and _is_wanted(name):
                archive.write(path, name)
    return target


def _is_wanted(name: str) -> bool:
    return "__pycache__" not in name and not name.startswith("tests/browser/")
