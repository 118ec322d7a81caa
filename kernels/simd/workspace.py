"""The buffers between calls of the kernels, and the rows of hidden states that lie in them.

Takes a port and a model's shape. Gives addresses for a block's input and output, and copies of
results. Rows are copied in only when they are not those that the last call gave out; what is given
out is a copy, so it stays true. Does not know weights.
"""

import numpy as np

from kernels.arrays import F32, I32
from kernels.model_config import ModelConfig
from kernels.simd.port import KernelPort, aligned
from kernels.simd.scratch import TOKEN_LIMIT, Scratch, scratch_bytes


def count_workspace_bytes(config: ModelConfig, positions: int, *, seats: int = 1) -> int:
    """Count all buffers between and inside calls, without the row of logits."""
    rows = 2 * aligned(4 * TOKEN_LIMIT * config.hidden_size)
    return rows + aligned(4 * TOKEN_LIMIT) + scratch_bytes(config, positions, seats)


class Workspace:
    """Memory for calls of up to `TOKEN_LIMIT` tokens."""

    def __init__(self, port: KernelPort, config: ModelConfig, *, positions: int = 0) -> None:
        self._port = port
        self._config = config
        self.scratch = Scratch(port, config)
        self.scratch.fit(positions)
        rows = 4 * TOKEN_LIMIT * config.hidden_size
        # A block reads one and writes the other, so that its input is there to be used again.
        self._sides = (port.allocate(rows), port.allocate(rows))
        self._ids = port.allocate(4 * TOKEN_LIMIT)
        self._side = 0
        self._last: F32 | None = None
        self.logits = port.allocate(4 * config.vocab_size)
        """Address of one row of logits."""

    @property
    def source(self) -> int:
        """Where the next block reads."""
        return self._sides[self._side]

    @property
    def target(self) -> int:
        """Where the next block writes."""
        return self._sides[1 - self._side]

    def put(self, hidden: F32) -> None:
        """Make rows `[T, H]` the next block's input."""
        if hidden is not self._last:
            self._port.write(self.source, np.ascontiguousarray(hidden))

    def put_ids(self, ids: I32) -> int:
        """Give the address of token ids."""
        self._port.write(self._ids, np.ascontiguousarray(ids, dtype="<i4"))
        return self._ids

    def take(self, tokens: int) -> F32:
        """Give the rows that a block has written, which are the next block's input."""
        self._side = 1 - self._side
        hidden = np.empty((tokens, self._config.hidden_size), dtype=np.float32)
        self._port.read(self.source, hidden)
        self._last = hidden
        return hidden

    def retake(self, tokens: int) -> F32:
        """Give the rows that were changed in place."""
        self._side = 1 - self._side
        return self.take(tokens)

    def take_logits(self) -> F32:
        """Give the row of logits `[V]`."""
        logits = np.empty(self._config.vocab_size, dtype=np.float32)
        self._port.read(self.logits, logits)
        return logits
