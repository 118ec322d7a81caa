"""Run a text encoder, and the exact search of its vectors, in the kernel module.

Takes a port and an embedder file. Gives the operations of `kernels.encoder.TextEncoder` and of
`kernels.similarity.RowProducts`. The same ids give the same bits wherever the module runs.
Does not know texts.
"""

from collections.abc import Generator, Iterator, Sequence

import numpy as np

from kernels.arrays import F32, F64
from kernels.dtypes import I8
from kernels.embedder import TEXT_LIMIT_TOKENS, Embedder
from kernels.embedder_file import EmbedderFile
from kernels.embedder_names import EncoderConfig
from kernels.encoder import TokenRows, last_of
from kernels.errors import ErrorCode, kernel_error
from kernels.ops import LoadProgress
from kernels.simd.encoder_room import PlacedEncoder, place_encoder_steps, place_room
from kernels.simd.port import KernelPort
from kernels.wordpiece import read_vocabulary

_BLOCKS = ("encoder_attention", "encoder_feed_forward")


class SimdEncoder:
    """One loaded encoder; a text that is half done may wait while another one is encoded."""

    def __init__(
        self, port: KernelPort, config: EncoderConfig, rows: TokenRows, placed: PlacedEncoder
    ) -> None:
        """Take placed weights and make room for one text."""
        self.config = config
        self._port = port
        self._rows = rows
        self._encoder = placed.record
        self.token_limit = min(TEXT_LIMIT_TOKENS, config.max_context)
        room = place_room(port, config, self.token_limit)
        self._hidden = room.hidden
        self._vector = port.allocate(4 * config.hidden_size)
        self._room = port.allocate(64)
        port.write(self._room, room.pack())
        self.weight_bytes = placed.weight_bytes + rows.stored_bytes
        self._inside: object | None = None
        """Whose rows lie in the room now."""

    def encode(self, ids: Sequence[int]) -> F32:
        """Give the vector of one text: ids [T] to [H], length 1."""
        return last_of(self.encode_steps(ids))

    def encode_steps(self, ids: Sequence[int]) -> Iterator[F32]:
        """Give the mean so far after each half of a layer.

        Raises:
            KernelError: `context_exceeded` for more ids than the model takes.
        """
        tokens, text = len(ids), object()
        if tokens > self.token_limit:
            message = (
                f"A text of {tokens} tokens is longer than the {self.token_limit} of the embedder."
            )
            raise kernel_error(ErrorCode.CONTEXT_EXCEEDED, "ids", message)
        hidden = self._rows.look_up(ids)  # [T, H]
        self._enter(text, hidden)
        self._port.call("encoder_begin", self._encoder, self._room, tokens)
        self._port.read(self._hidden, hidden)
        for layer in range(self.config.layer_count):
            for block in _BLOCKS:
                self._enter(text, hidden)
                self._port.call(block, self._encoder, self._room, tokens, layer)
                self._port.read(self._hidden, hidden)
                yield self._take_vector(tokens)

    def multiply_rows(self, rows: I8, query: I8) -> F64:
        """Give the dot product of every row of bytes with a question: [N], whole numbers."""
        wide, sums = query.astype("<i2"), np.empty(len(rows), dtype="<i4")
        found = self._port.allocate(sums.nbytes)
        try:
            lent = (self._port.lend(np.ascontiguousarray(rows)), len(rows), rows.shape[1])
            self._port.call("score_rows", *lent, self._port.lend(wide), found)
            self._port.read(found, sums)
        finally:
            self._port.take_back()
            self._port.release(found)
        return sums.astype(np.float64)

    def close(self) -> None:
        """Let go of the module and of all memory."""
        self._port.close()

    def _enter(self, text: object, hidden: F32) -> None:
        if self._inside is not text:
            self._port.write(self._hidden, hidden)
            self._inside = text

    def _take_vector(self, tokens: int) -> F32:
        vector = np.empty(self.config.hidden_size, dtype=np.float32)
        self._port.call("encoder_end", self._encoder, self._room, tokens, self._vector)
        self._port.read(self._vector, vector)
        return vector


def find_encoder_fault(config: EncoderConfig) -> str | None:
    """Tell why the kernels cannot run a shape, as half a sentence, or None."""
    for field in ("hidden_size", "head_dim", "ffn_size"):
        if getattr(config, field) % 4:
            return f"{field} {getattr(config, field)} is no multiple of 4"
    return None


def load_simd_embedder_steps(
    file: EmbedderFile, port: KernelPort
) -> Generator[LoadProgress, None, Embedder]:
    """Load an embedder into the module's memory; the port is closed together with it.

    Raises:
        KernelError: `invalid_setting` for a shape that the kernels cannot run.
        MemoryError: there is no room for it.
    """
    if fault := find_encoder_fault(file.config):
        text = f"the simd engine cannot run this embedder: {fault}; use the numpy engine"
        raise kernel_error(ErrorCode.INVALID_SETTING, "op_set", text)
    rows = TokenRows(file)
    placed = yield from place_encoder_steps(port, file)
    encoder = SimdEncoder(port, file.config, rows, placed)
    return Embedder(read_vocabulary(file.vocabulary), encoder, encoder.multiply_rows)
