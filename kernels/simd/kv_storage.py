"""Keep the keys and values of all layers in the module's memory.

Takes a port, a model's shape and the kind: float32, or codes with one scale a row.
Gives storage for `kernels.kv_cache.KvCache` and the record that the kernels read.
Does not know tokens.
"""

import weakref
from collections.abc import Mapping

from kernels.kv_cache import CacheFormat
from kernels.model_config import ModelConfig
from kernels.simd.port import KernelPort, aligned
from kernels.simd.records import CacheKind, CacheLayerRecord, CacheRecord, pack

_STEP = 8
"""Capacities are rounded up to this: kernels take four or eight positions at once."""

KINDS: Mapping[CacheFormat, CacheKind] = {
    "f32": CacheKind.F32,
    "int16": CacheKind.INT16,
    "int8": CacheKind.INT8,
}
"""The kind of each format."""
FORMATS: Mapping[CacheKind, CacheFormat] = {kind: name for name, kind in KINDS.items()}

_RECORD_BYTES = 16
_CODE_STEP = 8
"""Rows of codes are read eight values at a time."""
_CODE_BYTES: Mapping[CacheKind, int] = {CacheKind.INT16: 2, CacheKind.INT8: 1}


def choose_kind(config: ModelConfig, wish: CacheKind) -> CacheKind:
    """Give the kind that is wished for, or float32 where a head's width does not suit codes."""
    return CacheKind.F32 if config.head_dim % _CODE_STEP else wish


def count_table_bytes(config: ModelConfig) -> int:
    """Count what a storage allocates besides its rows: the records that name them."""
    return aligned(_RECORD_BYTES * config.layer_count) + aligned(_RECORD_BYTES)


def bytes_per_token(config: ModelConfig, kind: CacheKind) -> int:
    """Count the bytes that one position takes over all layers."""
    return config.layer_count * config.kv_head_count * sum(_row_bytes(config, kind))


class SimdKvStorage:
    """Rows per layer and key/value head, `[K, capacity, D]`, in the module's memory."""

    def __init__(
        self, port: KernelPort, config: ModelConfig, capacity: int, kind: CacheKind
    ) -> None:
        self.kind = kind
        self._port = port
        self._config = config
        self._capacity = 0
        self._blocks = [(0, 0, 0, 0)] * config.layer_count
        self._table = port.allocate(_RECORD_BYTES * config.layer_count)
        self.record = port.allocate(_RECORD_BYTES)
        """Address of the record that `attention_block` takes."""
        self._addresses = {self._table, self.record}
        weakref.finalize(self, _release_all, port, self._addresses)
        self.grow(capacity)

    @property
    def format(self) -> CacheFormat:
        """How the rows are kept."""
        return FORMATS[self.kind]

    @property
    def capacity(self) -> int:
        """Token positions that fit without growing."""
        return self._capacity

    @property
    def room(self) -> int:
        """Positions that the kernels may touch: the capacity, rounded up."""
        return -(-self._capacity // _STEP) * _STEP

    @property
    def bytes_per_token(self) -> int:
        """Bytes that one position takes over all layers."""
        return bytes_per_token(self._config, self.kind)

    def grow(self, capacity: int) -> None:
        """Make room for `capacity` positions, one block at a time, and keep what is stored."""
        old_room, self._capacity = self.room, capacity
        for layer, old in enumerate(self._blocks):
            grown = [
                self._grow_block(address, width, old_room)
                for address, width in zip(old, _row_bytes(self._config, self.kind), strict=True)
            ]
            self._blocks[layer] = (grown[0], grown[1], grown[2], grown[3])
        layers = pack(*(CacheLayerRecord(*blocks) for blocks in self._blocks))
        self._port.write(self._table, layers)
        self._port.write(self.record, pack(CacheRecord(self.kind, self.room, self._table)))

    def _grow_block(self, old: int, width: int, old_room: int) -> int:
        """Give a larger block [K, room, width bytes] that begins each head with its old rows."""
        heads = self._config.kv_head_count
        if width == 0:
            return 0
        address = self._port.allocate(heads * self.room * width)
        self._addresses.add(address)
        if old:
            steps = (self.room * width, old, old_room * width)
            self._port.call("copy_rows", address, *steps, old_room * width, heads)
            self._addresses.discard(old)
            self._port.release(old)
        return address


def _row_bytes(config: ModelConfig, kind: CacheKind) -> tuple[int, int, int, int]:
    """Give the bytes of a key row, a value row and their scales, of one head."""
    if kind == CacheKind.F32:
        return 4 * config.head_dim, 4 * config.head_dim, 0, 0
    row_bytes = _CODE_BYTES[kind] * config.head_dim
    return row_bytes, row_bytes, 4, 4


def _release_all(port: KernelPort, addresses: set[int]) -> None:
    for address in addresses:
        port.release(address)
