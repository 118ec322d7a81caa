"""Saved rows come back bit by bit, for the same identity and ids, or not at all."""

import numpy as np
import pytest

from kernels.engine_identity import name_engine
from kernels.generate import Prefilled, generate_steps
from kernels.kv_snapshot import count_snapshot_bytes, restore_snapshot, take_snapshot
from kernels.sampler import SamplerSettings
from tests.kernels.small_engines import CONFIG, ENGINES, HAS_RUNTIME, open_engine

SYSTEM = [3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9]
FIRST, SECOND = [2, 3, 8, 46, 11, 30], [2, 40, 17, 6, 21]
LONG = [(5 * at + 3) % CONFIG.vocab_size for at in range(70)]


def run(decoder, cache, ids, *, cut=11, max_tokens=12):
    """Generate greedily; give the ids and how many tokens the prefill found in the cache."""
    steps = generate_steps(decoder, cache, ids, SamplerSettings(), max_tokens=max_tokens, cut=cut)
    found, reused = [], 0
    for step in steps:
        if isinstance(step, Prefilled):
            reused = step.reused
        elif hasattr(step, "id"):
            found.append(step.id)
    return found, reused


def rows_of(cache, count):
    """Give all bytes of the first rows."""
    layers = [cache.storage.read_layer(layer, count) for layer in range(CONFIG.layer_count)]
    return b"".join(array.tobytes() for layer in layers for array in layer.arrays)


def saved(decoder, system=SYSTEM):
    """Hold a first turn and save its system prefix."""
    cache = decoder.new_cache()
    run(decoder, cache, [*system, *FIRST], cut=len(system))
    return take_snapshot(cache, CONFIG, len(system), identity="this")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("system", [SYSTEM, LONG, SYSTEM[:1]], ids=["11", "70", "1"])
def test_restored_and_recomputed_rows_are_the_same_bits(engine, system):
    """What an earlier visit saved equals what this one would compute: rows, answer, last row."""
    decoder = open_engine(engine)
    data = saved(decoder, system)
    fresh, restored = decoder.new_cache(), decoder.new_cache(1)
    assert restore_snapshot(restored, CONFIG, data, identity="this", ids=system) is None
    assert restored.ids == tuple(system)
    expected, _ = run(decoder, fresh, [*system, *SECOND], cut=len(system))
    answer, reused = run(decoder, restored, [*system, *SECOND], cut=len(system))
    assert reused == len(system)
    assert answer == expected
    assert rows_of(restored, restored.length) == rows_of(fresh, fresh.length)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_snapshot_holds_the_rows_of_its_ids_and_nothing_of_what_followed(engine):
    """Two first turns with the same system text and other words give equal bytes."""
    decoder = open_engine(engine)
    other = decoder.new_cache()
    run(decoder, other, [*SYSTEM, *SECOND, *LONG])
    assert take_snapshot(other, CONFIG, len(SYSTEM), identity="this") == saved(decoder)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_announced_size_is_the_size_of_the_rows(engine):
    """The limit on what is saved is checked before anything is copied."""
    decoder = open_engine(engine)
    cache = decoder.new_cache()
    run(decoder, cache, SYSTEM)
    size = count_snapshot_bytes(cache, len(SYSTEM))
    assert size == len(rows_of(cache, len(SYSTEM)))
    assert size < len(saved(decoder)) < size + 400


@pytest.mark.parametrize("engine", ENGINES)
def test_bytes_of_another_identity_or_text_are_foreign(engine):
    """Neither the hash of the bytes nor their size makes them fit."""
    decoder = open_engine(engine)
    data, cache = saved(decoder), decoder.new_cache()
    other_text = [*SYSTEM[:-1], SYSTEM[-1] + 1]
    assert restore_snapshot(cache, CONFIG, data, identity="other", ids=SYSTEM) == "foreign"
    assert restore_snapshot(cache, CONFIG, data, identity="this", ids=other_text) == "foreign"
    assert restore_snapshot(cache, CONFIG, data, identity="this", ids=SYSTEM[:-1]) == "foreign"
    assert cache.length == 0


@pytest.mark.skipif(not HAS_RUNTIME, reason="the kernels cannot run beside this Python")
def test_bytes_of_another_kind_of_cache_are_foreign():
    """Float rows never become codes, even under a wrong identity."""
    cache = open_engine("simd int8").new_cache()
    data = saved(open_engine("simd f32"))
    assert restore_snapshot(cache, CONFIG, data, identity="this", ids=SYSTEM) == "foreign"


def test_any_changed_bit_or_missing_byte_is_found():
    """Damage is never used, and the cache stays as it was."""
    decoder = open_engine("numpy")
    data, cache = saved(decoder), decoder.new_cache()
    run(decoder, cache, SECOND)
    before = (cache.ids, rows_of(cache, cache.length))
    draw = np.random.default_rng(3)
    for at in [0, 9, 20, len(data) - 1, *draw.integers(0, len(data), 60)]:
        broken = bytearray(data)
        broken[at] ^= 1 << int(draw.integers(8))
        fault = restore_snapshot(cache, CONFIG, bytes(broken), identity="this", ids=SYSTEM)
        assert fault in {"damaged", "unreadable"}
    for size in (0, 7, 40, len(data) // 2, len(data) - 1):
        fault = restore_snapshot(cache, CONFIG, data[:size], identity="this", ids=SYSTEM)
        assert fault in {"damaged", "unreadable"}
    assert (cache.ids, rows_of(cache, cache.length)) == before


def test_the_code_that_computes_is_part_of_the_identity():
    """Rows of another build are other rows; the same build has one name."""
    assert name_engine("simd") != name_engine("numpy")
    assert name_engine("numpy").split()[1] == np.__version__
    assert len(name_engine("simd").split()[1]) == 64
