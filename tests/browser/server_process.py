"""The server as a person starts it: a process of its own that can be killed.

Takes a checkout and a model's name; gives the address that `serve.py` prints. A server inside
this process would go on answering open connections, so only this one is ever truly gone.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(r"Tinyloom is at (http://127\.0\.0\.1:(\d+)/)")


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running `serve.py`."""

    process: subprocess.Popen[str]
    address: str
    port: int

    def kill(self) -> None:
        """End it at once; its connections break."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serve_process(
    root: Path = ROOT, *, model: str = "fixture", port: int = 0
) -> Iterator[ServerProcess]:
    """Start `serve.py` of a checkout and end it, if it still runs, on the way out."""
    command = [sys.executable, "serve.py", "--no-open", "--port", str(port), "--model", model]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            printed = []
            for line in process.stdout:
                printed.append(line)
                if found := ADDRESS.search(line):
                    yield ServerProcess(process, found[1], int(found[2]))
                    return
            message = f"serve.py printed no address:\n{''.join(printed)}"
            raise AssertionError(message)
        finally:
            process.kill()
