"""The built kernel modules, as files of this package.

Takes a name; gives bytes. Does not know who runs them.
"""

from pathlib import Path

SINGLE = "kernels.wasm"
"""For one thread, on any memory."""

THREADS = "kernels_threads.wasm"
"""The same code for a memory that threads share."""

MODULES = (SINGLE, THREADS)


def read_module(name: str) -> bytes:
    """Read one of `MODULES`."""
    return (Path(__file__).parent / name).read_bytes()
