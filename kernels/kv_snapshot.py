"""Write the first rows of a cache as bytes, and put them back.

Takes a cache, how many tokens, and the identity under which the rows hold. Gives bytes that only a
cache of that identity takes back, for those very ids, and only if not one bit has changed.
Does not know where the bytes are kept, nor what the ids say.

    magic (8)   header size (u32)   header JSON   rows layer by layer   sha256 of all before (32)
"""

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import numpy as np

from kernels.kv_cache import KvCache, LayerRows, Rows
from kernels.model_config import ModelConfig

SnapshotFault: TypeAlias = Literal["unreadable", "damaged", "foreign"]
"""Why bytes are not taken: no snapshot, changed since, or of another model, setting or text."""

_MAGIC = b"tinykv1\n"
_SIZE = struct.Struct("<I")
_DIGEST_BYTES = 32
_SCALE_BYTES = 4


def count_snapshot_bytes(cache: KvCache, count: int) -> int:
    """Tell how large a snapshot will be, without its header."""
    return count * cache.storage.bytes_per_token


def take_snapshot(cache: KvCache, config: ModelConfig, count: int, *, identity: str) -> bytes:
    """Write the rows of the first `count` tokens, which must be exact."""
    header = json.dumps(
        {"identity": identity, "ids": list(cache.ids[:count])}, separators=(",", ":")
    ).encode()
    parts = [_MAGIC, _SIZE.pack(len(header)), header]
    for layer in range(config.layer_count):
        rows = cache.storage.read_layer(layer, count)
        parts += [np.ascontiguousarray(array).tobytes() for array in rows.arrays]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def restore_snapshot(
    cache: KvCache, config: ModelConfig, data: bytes, *, identity: str, ids: Sequence[int]
) -> SnapshotFault | None:
    """Make a cache hold exactly the rows of a snapshot; on a fault it stays as it was.

    Raises:
        MemoryError: there is no room for so many tokens.
        KernelError: `context_exceeded` when the ids do not fit the context.
    """
    wanted: dict[str, object] = {"identity": identity, "ids": list(ids)}
    size = count_snapshot_bytes(cache, len(ids))
    found = _check(data, wanted, size)
    if isinstance(found, str):
        return found
    cache.reserve(len(ids))
    cache.truncate(0)
    for layer, rows in enumerate(_cut(data, found, cache, config, len(ids))):
        cache.storage.write_layer(layer, rows)
    cache.commit(ids)
    return None


def _check(data: bytes, wanted: dict[str, object], size: int) -> int | SnapshotFault:
    """Give where the rows begin, or what is wrong."""
    start = len(_MAGIC) + _SIZE.size
    if len(data) < start + _DIGEST_BYTES or not data.startswith(_MAGIC):
        return "unreadable"
    body = memoryview(data)[:-_DIGEST_BYTES]
    if hashlib.sha256(body).digest() != data[-_DIGEST_BYTES:]:
        return "damaged"
    rows = start + _SIZE.unpack_from(data, len(_MAGIC))[0]
    try:
        header = json.loads(data[start:rows])
    except ValueError:
        return "unreadable"
    return rows if header == wanted and len(body) - rows == size else "foreign"


def _cut(
    data: bytes, at: int, cache: KvCache, config: ModelConfig, count: int
) -> Iterator[LayerRows]:
    """Read the rows of one layer after the other."""
    heads, width = config.kv_head_count, config.head_dim
    row_bytes = cache.storage.bytes_per_token // (config.layer_count * heads)
    codes = f"<i{(row_bytes - 2 * _SCALE_BYTES) // (2 * width)}"

    def read(dtype: str, *shape: int) -> Rows:
        nonlocal at
        array = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
        at += array.nbytes
        return array

    for _ in range(config.layer_count):
        if cache.storage.format == "f32":
            yield LayerRows(read("<f4", heads, count, width), read("<f4", heads, count, width))
        else:
            yield LayerRows(
                read(codes, heads, count, width),
                read(codes, heads, count, width),
                read("<f4", heads, count),
                read("<f4", heads, count),
            )
