"""Run every test from a fresh clone: `python tests/run.py [pytest arguments]`.

Takes a machine with Python 3.11+ and pip; makes `.venv`, the page's check tools, the prepared site
and the browsers, each only when missing or changed. Gives pytest's output and exit code.
Does not know what the tests contain. Standard library only, since nothing is installed yet.

`--environment-only` stops once `.venv` and the JavaScript tools are in place: the linters need
no more.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
WEB = ROOT / "web"
MIN_PYTHON = (3, 11)
SETUP_FAILED = 2


class SetupError(Exception):
    """A step before pytest failed; the text says which and what to do."""


def say(text: str) -> None:
    """Print one progress line at once, so that it stands before the output of the step."""
    print(f"tests/run.py: {text}", flush=True)


def run_step(what: str, command: Sequence[str | Path], *, cwd: Path = ROOT) -> None:
    """Run one command of the setup.

    Raises:
        SetupError: the command could not start or ended with another code than 0.
    """
    say(what)
    try:
        code = subprocess.run([str(part) for part in command], cwd=cwd, check=False).returncode
    except OSError as error:
        message = f"{what}: could not start {command[0]} ({error})."
        raise SetupError(message) from error
    if code != 0:
        message = f"{what}: `{' '.join(map(str, command))}` ended with code {code}."
        raise SetupError(message)


def is_fresh(stamp: Path, expected: str) -> bool:
    """Tell whether the step that wrote `stamp` ran with these very inputs."""
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == expected


def fingerprint(*inputs: Path) -> str:
    """Hash the input files of a step together with the running Python version."""
    digest = hashlib.sha256(repr(sys.version_info).encode())
    for path in inputs:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def make_environment() -> None:
    """Make `.venv` with the project and its test extra, anew when pyproject.toml changed."""
    stamp = VENV / "installed.stamp"
    expected = fingerprint(ROOT / "pyproject.toml")
    if is_fresh(stamp, expected):
        return
    say(f"making {VENV.name}")
    venv.create(VENV, with_pip=True, clear=True)
    options = ["-qq", "--disable-pip-version-check", "--editable"]
    command = [str(VENV_PYTHON), "-m", "pip", "install", *options, ".[test]"]
    run_step("installing the packages of .[test]", command)
    stamp.write_text(expected, encoding="utf-8")


def install_javascript_tools() -> None:
    """Install the pinned checkers and the Firefox driver below `web/node_modules`.

    Without npm only the tests that need them are skipped, so its absence is no error here.
    """
    npm = shutil.which("npm")
    if npm is None:
        say("no npm on the path: JavaScript checks and the Firefox test are left out")
        return
    stamp = WEB / "node_modules" / "installed.stamp"
    expected = fingerprint(WEB / "package.json", WEB / "package-lock.json")
    if is_fresh(stamp, expected):
        return
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    run_step("installing the packages of web/package-lock.json", command, cwd=WEB)
    stamp.write_text(expected, encoding="utf-8")


def run_tests(pytest_arguments: Sequence[str]) -> int:
    """Prepare the site and the browsers, then hand over to pytest; its last line stays last."""
    run_step("preparing the site", [VENV_PYTHON, "serve.py", "--prepare-only"])
    run_step("looking for browsers", [VENV_PYTHON, "-m", "tests.browser.engines"])
    run_step("collecting wheels", [VENV_PYTHON, "-m", "tests.browser.pyodide_wheels"])
    say("running pytest")
    command = [str(VENV_PYTHON), "-m", "pytest", *pytest_arguments]
    # Threads of numpy that wait for each other stall as soon as a browser needs a core too.
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def main(arguments: Sequence[str]) -> int:
    """Set up what is missing, run pytest and return its exit code, or 2 when the setup failed."""
    if sys.version_info < MIN_PYTHON:
        print(f"tests/run.py: needs Python 3.11 or newer, found {sys.version.split()[0]}.")
        return SETUP_FAILED
    try:
        make_environment()
        install_javascript_tools()
        if list(arguments) == ["--environment-only"]:
            return 0
        return run_tests(arguments)
    except SetupError as error:
        print(f"tests/run.py: {error}", file=sys.stderr, flush=True)
        return SETUP_FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
