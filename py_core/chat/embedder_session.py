"""The embedder of this tab: off, loading, ready or failed; its vectors; the cosines of a question.

Takes a file and documents, embeds in idle time, gives scores that retrieval adds to its own. It is
never needed: without it, and where anything of it fails, records are found by words alone.
Does not know requests, nor when there is time.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kernels.arrays import I32
from kernels.byte_source import ByteSource
from kernels.embedder import Embedder
from kernels.errors import KernelError
from kernels.ops import LoadProgress
from kernels.similarity import VectorScores
from py_core.chat.embedder_home import EmbedderHome, count_embedder_bytes, load_embedder_steps
from py_core.chat.memory_room import MemoryRoom
from py_core.chat.pacing import Pacer, StopSignal, drain_paced
from py_core.chat.vector_shelf import VectorShelf, cut_batches
from py_core.retrieval.document import Document
from py_core.retrieval.embedding_work import embed_missing, find_vector_key
from py_core.retrieval.text_index import TextIndex
from py_core.store.heads import Head
from py_core.store.ledger import Ledger

EmbedderStep: TypeAlias = LoadProgress
EmbedderStage = Literal["off", "loading", "ready", "failed"]
FailureReason = Literal["", "file_refused", "memory_short", "stopped"]

_SHORT = "The memory is too short for the embedder; records are found by words alone."


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """Where the embedder is, and why it is not ready."""

    stage: EmbedderStage
    reason: FailureReason = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class EmbedderOrigin:
    """What the shell knows of the file."""

    name: str
    file_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _Loaded:
    origin: EmbedderOrigin
    embedder: Embedder
    op_set: str
    shelf: VectorShelf


@dataclass(frozen=True, slots=True)
class _Places:
    """The row of each document of an index, as long as nothing has changed."""

    index_places: object
    shelf_version: int
    rows: I32


class EmbedderSession:
    """At most one embedder."""

    def __init__(self, home: EmbedderHome, room: MemoryRoom, ledger: Ledger) -> None:
        """Start without one.

        Args:
            home: Where the encoder can run.
            room: The memory that models and embedder share.
            ledger: Keeps the vectors, and says which records there are.
        """
        self._home, self._room, self._ledger = home, room, ledger
        self._loaded: _Loaded | None = None
        self._places: _Places | None = None
        self.state = EmbedderState("off")

    @property
    def op_set(self) -> str:
        """What the encoder computes with, empty without one."""
        return self._loaded.op_set if self._loaded else ""

    @property
    def name(self) -> str:
        """The name of the embedder, empty without one."""
        return self._loaded.origin.name if self._loaded else ""

    @property
    def weight_bytes(self) -> int:
        """Bytes of the loaded weights."""
        return self._loaded.embedder.encoder.weight_bytes if self._loaded else 0

    @property
    def vector_count(self) -> int:
        """Records that have a vector."""
        return len(self._loaded.shelf) if self._loaded else 0

    async def load(
        self,
        source: ByteSource,
        origin: EmbedderOrigin,
        *,
        pacer: Pacer,
        stop: StopSignal,
        on_step: Callable[[EmbedderStep], None],
    ) -> EmbedderState:
        """Load a file in the place of the one before; the state says how it went."""
        self.free()
        if not self._room.has_room(count_embedder_bytes(source.size)):
            self.state = EmbedderState("failed", "memory_short", _SHORT)
            return self.state
        self.state = EmbedderState("loading")
        try:
            found = await drain_paced(self._load_steps(source), on_step, pacer=pacer, stop=stop)
        except KernelError as error:
            self.state = EmbedderState("failed", "file_refused", str(error))
        except MemoryError:
            self.state = EmbedderState("failed", "memory_short", _SHORT)
        else:
            self.state = self._begin(origin, found)
        return self.state

    def free(self) -> bool:
        """Let go of the embedder and its vectors in memory; tell whether there was one."""
        loaded, self._loaded, self._places = self._loaded, None, None
        self.state = EmbedderState("off")
        if loaded is None:
            return False
        loaded.embedder.close()
        self._room.hold_beside(0)
        return True

    async def read_kept(self, heads: Sequence[Head], pacer: Pacer, stop: StopSignal) -> int:
        """Take over the vectors of earlier visits; count the rows that cannot be used.

        Raises:
            StorageLostError: the store cannot be read.
        """
        damaged, shelf = 0, self._loaded.shelf if self._loaded else None
        for batch in cut_batches(heads):
            if shelf is None or stop.is_set:
                break
            damaged += await shelf.read_rows([head for head in batch if shelf.lacks(head)])
            await pacer.rest()
        return damaged

    def list_missing(self, heads: Iterable[Head]) -> list[Head]:
        """Give the records without a vector, after letting go of what is gone."""
        if self._loaded is None:
            return []
        self._loaded.shelf.forget_gone()
        return [head for head in heads if self._loaded.shelf.lacks(head)]

    async def embed_idle(
        self, documents: Iterable[Document], pacer: Pacer, stop: StopSignal
    ) -> int:
        """Embed documents without a vector until all have one or `stop` is set; count the new ones.

        What was made is kept, also when it was stopped.

        Raises:
            StorageFullError: there is no room for the vectors; they stay in memory.
            StorageLostError: the store cannot be written.
        """
        if self._loaded is None:
            return 0
        shelf, embedder, made = self._loaded.shelf, self._loaded.embedder, 0
        for batch in cut_batches(list(documents)):
            if stop.is_set or self._loaded is None:
                break
            steps = _embed_owned(batch, embedder, shelf)
            await drain_paced(steps, _ignore, pacer=pacer, stop=stop)
            made += await shelf.write()
        return made

    async def vectors_for(self, query_text: str, index: TextIndex) -> VectorScores | None:
        """Give the cosine of each document with a question; None where none has a vector."""
        if self._loaded is None or not len(self._loaded.shelf):
            return None
        embedder, shelf = self._loaded.embedder, self._loaded.shelf
        rows = self._find_rows(index, shelf)
        query = embedder.embed(query_text)
        return shelf.table.compare(rows, query, multiply=embedder.multiply)

    def _find_rows(self, index: TextIndex, shelf: VectorShelf) -> I32:
        """Give the row of each document number.

        The index makes its places anew whenever it changes, so they tell whether it has.
        """
        known = self._places
        if (
            known is None
            or known.index_places is not index.places
            or known.shelf_version != shelf.version
        ):
            keys = [
                "" if entry is None else shelf.key_of(entry.document_id) for entry in index.entries
            ]
            known = _Places(index.places, shelf.version, shelf.table.find_places(keys))
            self._places = known
        return known.rows

    def _load_steps(
        self, source: ByteSource
    ) -> Generator[LoadProgress, None, tuple[Embedder, str]]:
        return load_embedder_steps(source, self._home)

    def _begin(self, origin: EmbedderOrigin, found: tuple[Embedder, str] | None) -> EmbedderState:
        if found is None:
            return EmbedderState("failed", "stopped", "Loading the embedder was stopped.")
        embedder, op_set = found
        shelf = VectorShelf(self._ledger, origin.sha256[:16], embedder.width)
        self._loaded = _Loaded(origin, embedder, op_set, shelf)
        self._room.hold_beside(embedder.encoder.weight_bytes)
        return EmbedderState("ready")


def _embed_owned(
    documents: Sequence[Document], embedder: Embedder, shelf: VectorShelf
) -> Generator[object, None, None]:
    """Embed one document after the other, and note each as the owner of its vector."""
    for document in documents:
        yield from embed_missing([document], embedder, shelf)
        shelf.own(document, find_vector_key(document))
        yield None


def _ignore(_: object) -> None: ...
