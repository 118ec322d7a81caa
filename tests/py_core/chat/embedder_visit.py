"""One visit of a page with an embedder, over a database that outlives it."""

from pathlib import Path

from kernels.byte_source import BytesSource
from py_core.chat.embedder_session import EmbedderOrigin, EmbedderSession
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.memory_shelf import MEMORY_KINDS
from py_core.chat.pacing import Pacer, StopSignal
from py_core.memory.changes import Remember
from py_core.retrieval.document import read_document
from py_core.retrieval.text_index import TextIndex
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ledger import Ledger
from tests.py_core.fake_host import FakeHost

FILE = (Path(__file__).parents[3] / "fixtures" / "embedders" / "small_encoder.slm").read_bytes()
ORIGIN = EmbedderOrigin("Small encoder", len(FILE), "c" * 64)
NOW = "2026-07-10T12:00:00+00:00"
TEXTS = ("My cat is called Miso.", "The release moved to May.", "I live in Lisbon.")


class Visit:
    """One visit of a page: a session over a database that outlives it."""

    def __init__(self, database: MemoryDatabase) -> None:
        self.host = FakeHost()
        self.ledger = Ledger(database)
        self.keeper = MemoryKeeper(self.ledger, "ws-1")
        self.room = MemoryRoom(self.host)
        self.session = EmbedderSession(self.host, self.room, self.ledger)

    async def load(self, data: bytes = FILE, origin: EmbedderOrigin = ORIGIN):
        """Load a file to its end."""
        return await self.session.load(
            BytesSource(data),
            origin,
            pacer=Pacer(self.host),
            stop=StopSignal(),
            on_step=lambda step: None,
        )

    async def remember(self, text: str) -> str:
        """Keep a text and give its id."""
        applied = await self.keeper.apply(Remember(text), NOW)
        return applied.verdict.kept[0].record_id

    async def embed(self, stop: StopSignal | None = None) -> int:
        """Do the idle work; give how many vectors were written."""
        await self.ledger.refresh()
        pacer, signal = Pacer(self.host), stop or StopSignal()
        heads = [head for head in self.ledger.heads.values() if head.kind in MEMORY_KINDS]
        self.damaged = await self.session.read_kept(heads, pacer, signal)
        missing = self.session.list_missing(heads)
        records = await self.keeper.read_serving([head.record_id for head in missing])
        return await self.session.embed_idle(map(read_document, records), pacer, signal)

    async def index(self) -> TextIndex:
        """Index all that may be found."""
        index = TextIndex()
        for record in await self.keeper.read_serving():
            index.put(read_document(record))
        return index

    async def cosines(self, question: str) -> dict[str, float]:
        """Give record id to cosine, of those with a vector."""
        index = await self.index()
        scores = await self.session.vectors_for(question, index)
        if scores is None:
            return {}
        return {
            entry.document_id: float(scores.cosines[number])
            for number, entry in enumerate(index.entries)
            if entry is not None and scores.known[number]
        }
