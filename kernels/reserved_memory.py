"""Let the interpreter's memory grow once, by what is needed, before many parts are allocated.

Takes a number of bytes. A WebAssembly memory that grows bit by bit grows by a fifth each time and
keeps what it has too much; asked for all at once it grows by just that. Gives nothing.
"""

import numpy as np

MARGIN_BYTES = 2 << 20
"""For the small objects of loading."""

SMALLEST_BYTES = 8 << 20
"""Less than this mostly fits into what is free already."""


def reserve(size: int) -> None:
    """Make `size` bytes free in one piece.

    Raises:
        MemoryError: the memory cannot grow that far.
    """
    if size >= SMALLEST_BYTES:
        np.empty(size + MARGIN_BYTES, dtype=np.uint8)
