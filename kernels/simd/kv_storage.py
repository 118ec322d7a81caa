"""Keep the keys and values of all layers in the module's memory.

Takes a port, a model's shape and the kind: float32, or codes with one scale a row.
Gives storage for `kernels.kv_cache.KvCache` and the record that the kernels read.
Does not know tokens.
"""

import weakref
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kernels.kv_cache import CacheFormat, LayerRows, Rows
from kernels.model_config import ModelConfig
from kernels.simd.kv_order import order_keys, order_values, stored_keys, stored_values
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

    def read_layer(self, layer: int, count: int) -> LayerRows:
        """Copy the first `count` positions of a layer."""
        keys, values, *scales = (
            self._gather(address, width, count)
            for address, width in zip(
                self._blocks[layer], _row_bytes(self._config, self.kind), strict=True
            )
            if width
        )
        if not scales:
            return LayerRows(_as_f32(keys)[:, :count], _as_f32(values)[:, :count])
        codes = f"<i{keys.shape[2] // self._config.head_dim}"
        return LayerRows(
            order_keys(keys.view(codes))[:, :count],
            order_values(values.view(codes))[:, :count],
            _as_f32(scales[0])[:, :count, 0],
            _as_f32(scales[1])[:, :count, 0],
        )

    def write_layer(self, layer: int, rows: LayerRows) -> None:
        """Put rows where the first positions are; what lies behind them becomes scratch."""
        count = rows.keys.shape[1]
        padded = [_pad(array, -(-count // _STEP) * _STEP) for array in rows.arrays]
        if self.kind != CacheKind.F32:
            padded[0], padded[1] = stored_keys(padded[0]), stored_values(padded[1])
        widths = _row_bytes(self._config, self.kind)
        for array, address, width in zip(padded, self._blocks[layer], widths, strict=False):
            self._scatter(np.ascontiguousarray(array).view(np.uint8), address, width)

    def _gather(self, address: int, width: int, count: int) -> npt.NDArray[np.uint8]:
        """Copy whole steps of positions from the beginning of each head: `[K, S, width]`."""
        heads, positions = self._config.kv_head_count, -(-count // _STEP) * _STEP
        target = np.empty((heads, positions, width), dtype=np.uint8)
        near = self._port.allocate(target.nbytes)
        size = positions * width
        self._port.call("copy_rows", near, size, address, self.room * width, size, heads)
        self._port.read(near, target)
        self._port.release(near)
        return target

    def _scatter(self, source: npt.NDArray[np.uint8], address: int, width: int) -> None:
        """Copy whole steps of positions to the beginning of each head."""
        near = self._port.allocate(source.nbytes)
        self._port.write(near, source)
        size = source.nbytes // self._config.kv_head_count
        heads = self._config.kv_head_count
        self._port.call("copy_rows", address, self.room * width, near, size, size, heads)
        self._port.release(near)

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


def _as_f32(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    return data.view("<f4")


def _pad(rows: Rows, positions: int) -> Rows:
    """Fill `[K, S, ...]` up with zeros to so many positions."""
    padded = np.zeros((len(rows), positions, *rows.shape[2:]), dtype=rows.dtype)
    padded[:, : rows.shape[1]] = rows
    return padded


def _release_all(port: KernelPort, addresses: set[int]) -> None:
    for address in addresses:
        port.release(address)
