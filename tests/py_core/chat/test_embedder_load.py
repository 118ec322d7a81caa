"""Loading the embedder: refused, stopped, too large, and counted."""

import asyncio

import pytest

from kernels.byte_source import BytesSource
from py_core.chat.pacing import Pacer, StopSignal
from py_core.store.in_memory import MemoryDatabase
from tests.py_core.chat.embedder_visit import FILE, ORIGIN, Visit


@pytest.fixture
def database() -> MemoryDatabase:
    """An empty store."""
    return MemoryDatabase()


def test_a_refused_file_fails_and_says_why(database):
    """A changed byte is found by the checksum; nothing is loaded."""

    async def script():
        visit = Visit(database)
        broken = FILE[:-5] + bytes([FILE[-5] ^ 1]) + FILE[-4:]
        state = await visit.load(broken)
        assert (state.stage, state.reason) == ("failed", "file_refused")
        assert "checksum" in state.text
        assert await visit.cosines("cat") == {}
        assert (await visit.load()).stage == "ready"

    asyncio.run(script())


def test_short_memory_is_told_before_anything_is_read(database):
    """The limit counts what is in use already."""

    async def script():
        visit = Visit(database)
        visit.host.limit_bytes = visit.host.heap_bytes() + 1000
        state = await visit.load()
        assert (state.stage, state.reason) == ("failed", "memory_short")

    asyncio.run(script())


def test_a_stopped_load_leaves_nothing(database):
    """The signal ends it between two steps."""

    async def script():
        visit, stop = Visit(database), StopSignal()
        stop.set()
        state = await visit.session.load(
            BytesSource(FILE), ORIGIN, pacer=Pacer(visit.host), stop=stop, on_step=lambda _: None
        )
        assert (state.stage, state.reason) == ("failed", "stopped")
        assert visit.room.beside_bytes == 0

    asyncio.run(script())


def test_the_embedder_counts_as_memory_in_use(database):
    """A plan for a model sees it, and sees it go."""

    async def script():
        visit = Visit(database)
        await visit.load()
        assert visit.room.beside_bytes == visit.session.weight_bytes > 0
        visit.session.free()
        assert visit.room.beside_bytes == 0

    asyncio.run(script())
