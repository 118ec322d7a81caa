"""The embedder beside the ledger: what is embedded, kept, found again and forgotten."""

import asyncio
from dataclasses import replace

import pytest

from py_core.chat.embedder_session import EmbedderState
from py_core.chat.pacing import Pacer, StopSignal
from py_core.memory.changes import Correct, Forget
from py_core.retrieval.document import read_document
from py_core.retrieval.embedding_work import write_embedded_text
from py_core.store.edits import name_vector
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ports import Area, Put
from tests.py_core.chat.embedder_visit import NOW, ORIGIN, TEXTS, Visit


@pytest.fixture
def database() -> MemoryDatabase:
    """An empty store."""
    return MemoryDatabase()


async def read_rows(database: MemoryDatabase) -> dict[str, str | None]:
    """Give all rows of search as they are stored."""
    return {row.key: row.text for row in (await database.changes_since(Area.SEARCH, 0)).rows}


async def fill(database: MemoryDatabase) -> tuple[Visit, list[str]]:
    """Remember three texts and embed them."""
    visit = Visit(database)
    names = [await visit.remember(text) for text in TEXTS]
    await visit.load()
    assert await visit.embed() == len(TEXTS)
    return visit, names


def test_a_text_is_nearest_to_itself(database):
    """The vectors reach retrieval by document number."""

    async def script():
        visit, names = await fill(database)
        for record in await visit.keeper.read_serving(names):
            found = await visit.cosines(write_embedded_text(read_document(record)))
            assert set(found) == set(names)
            assert max(found, key=found.__getitem__) == record.record_id
            assert found[record.record_id] > 0.999

    asyncio.run(script())


def test_without_an_embedder_there_are_no_vectors(database):
    """Off, and after freeing: words alone."""

    async def script():
        visit, _ = await fill(database)
        assert visit.session.free()
        assert visit.session.state == EmbedderState("off")
        assert await visit.cosines("cat") == {}
        assert not visit.session.free()

    asyncio.run(script())


def test_the_next_visit_finds_the_vectors_and_embeds_nothing(database):
    """What was embedded once is kept with its record."""

    async def script():
        first, names = await fill(database)
        before = await first.cosines("where do I live")
        second = Visit(database)
        await second.load()
        assert await second.embed() == 0
        assert second.damaged == 0
        assert await second.cosines("where do I live") == before
        assert set(before) == set(names)

    asyncio.run(script())


DAMAGES = {
    "empty": lambda text: "",
    "cut off": lambda text: text[:-8],
    "older version": lambda text: text.replace("tinyloom-vector/1", "tinyloom-vector/0"),
    "one changed sign": lambda text: text[:-9] + ("A" if text[-9] != "A" else "B") + text[-8:],
    "other text": lambda text: "x" * len(text),
    "more text": lambda text: text + " more",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_row_is_left_out_and_made_anew(database, damage):
    """One vector is embedded again, the others are used as they are."""

    async def script():
        first, names = await fill(database)
        wanted = await first.cosines("May")
        key = name_vector(names[1])
        row = (await database.read(Area.SEARCH, [key]))[key]
        await database.commit(first.ledger.revision, [Put(Area.SEARCH, key, damage(row))])
        second = Visit(database)
        await second.load()
        assert await second.embed() == 1
        assert second.damaged == 1
        assert await second.cosines("May") == wanted
        assert (await database.read(Area.SEARCH, [key]))[key] == row

    asyncio.run(script())


def test_vectors_of_another_embedder_are_not_used(database):
    """Vectors of two models cannot be compared."""

    async def script():
        await fill(database)
        visit = Visit(database)
        await visit.load(origin=replace(ORIGIN, sha256="d" * 64))
        assert await visit.embed() == len(TEXTS)

    asyncio.run(script())


def test_deleting_a_record_erases_its_vector_in_the_same_commit(database):
    """No row of the store holds what a deleted text was turned into, embedder on or off."""

    async def script():
        visit, names = await fill(database)
        rows = await read_rows(database)
        vector = rows[name_vector(names[0])]
        visit.session.free()
        revision = (await database.changes_since(Area.SEARCH, 0)).revision
        await visit.keeper.apply(Forget((names[0],)), NOW)
        after = await read_rows(database)
        assert after[name_vector(names[0])] is None
        assert vector not in after.values()
        assert after[name_vector(names[1])] == rows[name_vector(names[1])]
        erased = (await database.changes_since(Area.SEARCH, revision)).rows
        gone = (await database.changes_since(Area.RECORDS, revision)).rows
        of_vectors = [row.revision for row in erased if row.key == name_vector(names[0])]
        assert of_vectors == [row.revision for row in gone if row.key == names[0]]

    asyncio.run(script())


def test_a_deleted_record_leaves_the_memory_too(database):
    """After the next idle work the table holds no vector of it."""

    async def script():
        visit, names = await fill(database)
        await visit.keeper.apply(Forget((names[0],)), NOW)
        assert await visit.embed() == 0
        assert visit.session.vector_count == len(TEXTS) - 1
        assert set(await visit.cosines(TEXTS[0])) == set(names[1:])

    asyncio.run(script())


def test_a_vector_that_comes_after_the_deletion_is_not_written(database):
    """Another tab deletes a record while this one still embeds it."""

    async def script():
        here, there = Visit(database), Visit(database)
        name = await here.remember(TEXTS[0])
        await here.load()
        await here.ledger.refresh()
        records = await here.keeper.read_serving([name])
        await there.keeper.apply(Forget((name,)), NOW)
        documents = [read_document(record) for record in records]
        written = await here.session.embed_idle(documents, Pacer(here.host), StopSignal())
        assert written == 0
        assert (await read_rows(database)).get(name_vector(name)) is None

    asyncio.run(script())


def test_a_corrected_record_gets_a_new_vector(database):
    """The old text's vector does not stand for the new words."""

    async def script():
        visit, names = await fill(database)
        applied = await visit.keeper.apply(Correct(names[2], "I live in Porto."), NOW)
        assert await visit.embed() >= 1
        found = await visit.cosines("where do I live")
        assert names[2] not in found
        assert {record.record_id for record in applied.verdict.kept} <= set(found)

    asyncio.run(script())


def test_idle_work_ends_soon_after_the_stop_and_keeps_what_it_made(database):
    """A request sets the signal at a rest; the next step is the last one."""

    async def script():
        visit = Visit(database)
        for number in range(20):
            await visit.remember(f"Note {number} of a long list.")
        await visit.load()
        stop = StopSignal()
        made_before_stop = []

        def interrupt() -> None:
            if visit.session.vector_count >= 5 and not stop.is_set:
                made_before_stop.append(visit.session.vector_count)
                stop.set()

        visit.host.on_pause = interrupt
        written = await visit.embed(stop)
        assert made_before_stop[0] <= written < 20
        visit.host.on_pause = lambda: None
        assert await visit.embed() == 20 - written
        assert visit.session.vector_count == 20

    asyncio.run(script())


def test_equal_texts_are_embedded_once(database):
    """The key of a vector is the hash of its text; each record still has its own row."""

    async def script():
        visit = Visit(database)
        await visit.load()
        await visit.remember("The same words.")
        await visit.embed()
        record = (await visit.keeper.read_serving())[0]
        twin = replace(read_document(record), document_id="twin")
        await visit.session.embed_idle([twin], Pacer(visit.host), StopSignal())
        index = await visit.index()
        index.put(twin)
        scores = await visit.session.vectors_for("words", index)
        assert scores is not None
        assert scores.cosines.tolist()[0] == scores.cosines.tolist()[1]

    asyncio.run(script())


def test_a_changed_index_is_seen(database):
    """A record that comes later has its own cosine; one that is unknown has none."""

    async def script():
        visit, names = await fill(database)
        index = await visit.index()
        first = await visit.session.vectors_for("cat", index)
        stranger = replace(read_document((await visit.keeper.read_serving())[0]), document_id="x")
        index.put(stranger)
        second = await visit.session.vectors_for("cat", index)
        assert first is not None
        assert second is not None
        assert second.known.tolist() == [*first.known.tolist(), False]
        assert len(names) == int(first.known.sum())

    asyncio.run(script())
