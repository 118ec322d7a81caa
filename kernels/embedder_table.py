"""Vectors by key, as bytes: the exact search of an embedder's results.

Takes unit vectors under a key (the hash of the text), gives the cosine of each asked key with a
question. Grows by doubling; 384 numbers take 388 bytes. Does not know texts or records.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from kernels.arrays import F32, I32
from kernels.dtypes import I8
from kernels.errors import ErrorCode, kernel_error
from kernels.similarity import (
    RowProducts,
    VectorScores,
    multiply_rows,
    quantise_rows,
    score_vectors,
)

_HEADER: Final = struct.Struct("<4sIII")
_MAGIC: Final = b"TLV1"
_KEY_BYTES: Final = 32
_FIRST_ROOM: Final = 256
_SCALE_BYTES: Final = 4
MOST_COLUMNS: Final = 1_040
"""Sums of more products of bytes could leave the whole numbers that float32 holds exactly."""


class EmbedderTable:
    """Rows of bytes with a scale each; a key is 64 hexadecimal digits."""

    def __init__(self, width: int) -> None:
        """Begin empty."""
        if not 0 < width <= MOST_COLUMNS:
            text = f"A vector has 1 to {MOST_COLUMNS} numbers, not {width}."
            raise kernel_error(ErrorCode.INVALID_SETTING, "width", text)
        self.width = width
        self._rows: I8 = np.empty((_FIRST_ROOM, width), dtype=np.int8)
        self._scales: F32 = np.empty(_FIRST_ROOM, dtype=np.float32)
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        """Count the vectors."""
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        """Tell whether a key has its vector."""
        return key in self._places

    def put(self, key: str, vector: F32) -> None:
        """Keep a vector [W]; one that is there already is the same by its key."""
        if key in self._places:
            return
        place = self._next_place()
        rows, scales = quantise_rows(vector.reshape(1, self.width))
        self._rows[place], self._scales[place] = rows[0], scales[0]
        self._places[key] = place

    def read_row(self, key: str) -> bytes:
        """Give a vector as it is kept: its scale, then its bytes."""
        place = self._places[key]
        return bytes(self._scales[place].astype("<f4").tobytes() + self._rows[place].tobytes())

    def put_row(self, key: str, data: bytes) -> None:
        """Keep what `read_row` gave.

        Raises:
            KernelError: `invalid_length`: embed the text again.
        """
        if len(data) != _SCALE_BYTES + self.width:
            text = "A stored vector is cut off or of another embedder; embed the text again."
            raise kernel_error(ErrorCode.INVALID_LENGTH, "row", text)
        if key in self._places:
            return
        place = self._next_place()
        self._scales[place] = np.frombuffer(data, "<f4", 1)[0]
        self._rows[place] = np.frombuffer(data, np.int8, offset=_SCALE_BYTES)
        self._places[key] = place

    def keep_only(self, keys: Iterable[str]) -> int:
        """Let go of all vectors under other keys; count them."""
        wanted = [key for key in dict.fromkeys(keys) if key in self._places]
        gone = len(self._places) - len(wanted)
        if gone:
            places = np.array([self._places[key] for key in wanted], dtype=np.int64)
            self._rows, self._scales = self._rows[places], self._scales[places]
            self._places = {key: place for place, key in enumerate(wanted)}
            self._make_room()
        return gone

    def find_places(self, keys: Sequence[str]) -> I32:
        """Give the row of each key, -1 where there is none: [N]."""
        return np.fromiter((self._places.get(key, -1) for key in keys), np.int32, len(keys))

    def compare(
        self, places: I32, query: F32, *, multiply: RowProducts = multiply_rows
    ) -> VectorScores:
        """Give the cosine of each row with a question's unit vector [W]; unknown rows have 0."""
        codes, scale = quantise_rows(query.reshape(1, self.width))
        size = len(self._places)
        rows, scales = self._rows[:size], self._scales[:size]
        scores = score_vectors(rows, scales, codes[0], float(scale[0]), multiply=multiply)
        return VectorScores(np.append(scores, 0.0)[places], places >= 0)

    def to_bytes(self) -> bytes:
        """Write all vectors."""
        size = len(self._places)
        keys = b"".join(bytes.fromhex(key) for key in self._places)
        head = _HEADER.pack(_MAGIC, 1, self.width, size)
        return head + keys + self._scales[:size].tobytes() + self._rows[:size].tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> "EmbedderTable":
        """Read what `to_bytes` wrote.

        Raises:
            KernelError: `invalid_length` or `invalid_header`: embed the texts again.
        """
        if len(data) < _HEADER.size or not data.startswith(_MAGIC):
            text = "The stored vectors do not begin with TLV1; embed the texts again."
            raise kernel_error(ErrorCode.INVALID_HEADER, "magic", text, offset=0)
        _, version, width, size = _HEADER.unpack_from(data)
        if version != 1 or len(data) != _HEADER.size + size * (_KEY_BYTES + 4 + width):
            text = "The stored vectors are cut off or of another version; embed the texts again."
            raise kernel_error(ErrorCode.INVALID_LENGTH, "size", text, offset=4)
        table = cls(width)
        keys_end = _HEADER.size + size * _KEY_BYTES
        scales_end = keys_end + size * 4
        starts = range(_HEADER.size, keys_end, _KEY_BYTES)
        table._places = {data[at : at + _KEY_BYTES].hex(): n for n, at in enumerate(starts)}
        table._scales = np.frombuffer(data[keys_end:scales_end], dtype="<f4").astype(np.float32)
        table._rows = np.frombuffer(data[scales_end:], dtype=np.int8).reshape(size, width).copy()
        table._make_room()
        return table

    def _next_place(self) -> int:
        place = len(self._places)
        if place == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._scales = np.concatenate([self._scales, np.empty_like(self._scales)])
        return place

    def _make_room(self) -> None:
        missing = _FIRST_ROOM - len(self._rows)
        if missing > 0:
            self._rows = np.concatenate([self._rows, np.zeros((missing, self.width), np.int8)])
            self._scales = np.concatenate([self._scales, np.ones(missing, np.float32)])
