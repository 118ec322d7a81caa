"""pip, asked as a child process, with its many words cut to one reason.

Takes pip arguments; gives nothing, or the reason of the failure. Uses the pip of the running
Python and the user's own pip settings, so that mirrors and proxies work as they do elsewhere.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from py_core.serving.cdn import SourceUnavailableError

_PATIENCE_S: Final = 15.0
# Settings of the user's that speak of installing into a Python, which never happens here.
_OUR_SETTINGS: Final = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}


def run_pip(arguments: list[str], *, report: Callable[[str], None], doing: str) -> None:
    """Run pip to its end, saying every quarter minute that it still works.

    Raises:
        SourceUnavailableError: pip is missing or failed; carries its last error line.
    """
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--no-cache-dir"]
    with subprocess.Popen(
        command,
        env=os.environ | _OUR_SETTINGS,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as child:
        try:
            errors = _wait(child, report=report, doing=doing)
        except BaseException:
            child.kill()  # interrupts too: pip must not outlive the start that asked for it
            raise
    if child.returncode != 0:
        raise SourceUnavailableError(_reason(errors.decode(errors="replace")))


def _wait(child: subprocess.Popen[bytes], *, report: Callable[[str], None], doing: str) -> bytes:
    waited_s = 0.0
    while True:
        try:
            return child.communicate(timeout=_PATIENCE_S)[1]
        except subprocess.TimeoutExpired:
            waited_s += _PATIENCE_S
            report(f"{doing}: still at it after {waited_s:.0f} s")


def _reason(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    marked = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if any("No module named pip" in line for line in lines):
        return "this Python has no pip: install it, or use one that has"
    return "pip: " + ([*marked, *lines[-1:]] or ["failed without a word"])[0]
