"""Vectors by key: growing, forgetting, storing."""

import hashlib

import numpy as np
import pytest

from kernels.embedder_table import EmbedderTable
from kernels.errors import KernelError

WIDTH = 16


def key(number: int) -> str:
    """Give a key."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def unit(number: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    """Give a unit vector."""
    vector = np.random.default_rng(number).normal(size=WIDTH).astype(np.float32)
    return vector / np.linalg.norm(vector)


def filled(count: int) -> EmbedderTable:
    """Give a table of so many vectors."""
    table = EmbedderTable(WIDTH)
    for number in range(count):
        table.put(key(number), unit(number))
    return table


def test_a_text_is_most_like_itself():
    """Also past the first allocation."""
    table = filled(600)
    places = table.find_places([key(n) for n in range(600)])
    scores = table.compare(places, unit(555))
    assert int(scores.cosines.argmax()) == 555
    assert scores.largest == pytest.approx(1.0, abs=0.01)


def test_unknown_keys_are_marked():
    """They have no cosine and say so."""
    table = filled(2)
    scores = table.compare(table.find_places([key(1), key(77)]), unit(1))
    assert scores.known.tolist() == [True, False]
    assert scores.cosines[1] == 0


def test_forgotten_vectors_are_gone():
    """What is left keeps its own."""
    table = filled(5)
    assert table.keep_only([key(3), key(9)]) == 4
    assert key(0) not in table
    places = table.find_places([key(3)])
    assert table.compare(places, unit(3)).largest == pytest.approx(1.0, abs=0.01)
    table.put(key(8), unit(8))
    assert len(table) == 2


def test_a_stored_table_is_the_same_table():
    """Keys and scores survive."""
    table = filled(7)
    again = EmbedderTable.from_bytes(table.to_bytes())
    places = table.find_places([key(n) for n in range(7)])
    assert again.find_places([key(n) for n in range(7)]).tolist() == places.tolist()
    wanted = table.compare(places, unit(2)).cosines.tolist()
    assert again.compare(places, unit(2)).cosines.tolist() == wanted


@pytest.mark.parametrize("damage", [b"", b"TLV1", b"nonsense" * 9])
def test_damaged_bytes_are_refused(damage: bytes):
    """The caller embeds again."""
    with pytest.raises(KernelError):
        EmbedderTable.from_bytes(damage)
    with pytest.raises(KernelError):
        EmbedderTable.from_bytes(filled(3).to_bytes()[:-1])
