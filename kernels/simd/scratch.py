"""Memory for the steps inside one call of the kernels.

Takes a port and a model's shape. Gives the record that the kernels read, kept large enough for the
cache in use. Does not know weights or tokens.
"""

from kernels.model_config import ModelConfig
from kernels.simd.panels import BLOCK, PANEL_ROWS
from kernels.simd.port import KernelPort, aligned
from kernels.simd.records import ScratchRecord, pack

TOKEN_LIMIT = 128
"""Tokens of one call; a multiple of the four that a tile takes."""

FIRST_POSITIONS = 8
"""Room for attention when a model is loaded; it grows with the cache."""

_RECORD_BYTES = 128
_SHARE = 1
"""Beside its scores each head keeps the number that makes its weights add up to one."""
_CHUNK_BYTES = 3 * 512  # codes of one chunk of attention weights, of three query heads


class Scratch:
    """Buffers of a loaded model, and the record that names them."""

    def __init__(self, port: KernelPort, config: ModelConfig) -> None:
        self._port = port
        self._config = config
        self._fixed = {name: port.allocate(size) for name, size in _sizes(config).items()}
        self._by_positions: list[int] = []
        self.position_limit = 0
        self._team = 0
        self.record = port.allocate(_RECORD_BYTES)
        """Address of the record; it stays when the buffers change."""
        self.fit(FIRST_POSITIONS)

    def fit(self, positions: int) -> None:
        """Make room for attention over so many positions; a multiple of four."""
        if positions <= self.position_limit:
            return
        for address in self._by_positions:
            self._port.release(address)
        self.position_limit = positions
        seat_bytes = _seat_bytes(self._config, positions) * self._port.seats
        scores_bytes = 4 * self._config.head_count * (positions + _SHARE)
        self._by_positions = [self._port.allocate(size) for size in (seat_bytes, scores_bytes)]
        self._write()

    def use_team(self, team: int) -> None:
        """Let calls be shared by a team; 0 for this thread alone."""
        if team != self._team:
            self._team = team
            self._write()

    def _write(self) -> None:
        seats, scores = self._by_positions
        record = ScratchRecord(
            team=self._team,
            position_limit=self.position_limit,
            seat_bytes=_seat_bytes(self._config, self.position_limit),
            seats=seats,
            blocks=_blocks(self._config),
            scores=scores,
            **self._fixed,
        )
        self._port.write(self.record, pack(record))


def scratch_bytes(config: ModelConfig, positions: int, seats: int) -> int:
    """Count all buffers for attention over so many positions."""
    room = max(positions, FIRST_POSITIONS)
    fixed = sum(map(aligned, _sizes(config).values())) + aligned(_RECORD_BYTES)
    scores = aligned(4 * config.head_count * (room + _SHARE))
    return fixed + aligned(seats * _seat_bytes(config, room)) + scores


def _sizes(config: ModelConfig) -> dict[str, int]:
    """Give the bytes of each buffer whose size does not depend on the cache."""
    blocks = TOKEN_LIMIT * _blocks(config)
    row = 4 * TOKEN_LIMIT
    return {
        "codes": 2 * BLOCK * blocks,
        "steps": 2 * BLOCK * blocks,
        "scales": 4 * blocks,
        "sums": 4 * blocks,
        "unsigned_starts": 4 * blocks,
        "signed_starts": 4 * blocks,
        "normed": row * config.hidden_size,
        "queries": row * config.hidden_size,
        "keys": row * config.kv_size,
        "values": row * config.kv_size,
        "mixed": row * config.hidden_size,
        "gate": row * config.ffn_size,
        "up": row * config.ffn_size,
        "turns": row * 2 * config.head_dim,
    }


def _blocks(config: ModelConfig) -> int:
    """Give the blocks of the widest row of activations."""
    return -(-max(config.hidden_size, config.ffn_size) // BLOCK)


def _seat_bytes(config: ModelConfig, positions: int) -> int:
    """Give what a seat needs at a time: an open panel, or the scores of one group of heads."""
    panel = _blocks(config) * (2 * BLOCK * PANEL_ROWS + 2 * 4 * PANEL_ROWS)
    group = config.head_count // config.kv_head_count
    scores = _CHUNK_BYTES + 4 * (positions + _SHARE) * group
    return -(-max(panel, scores) // 64) * 64
