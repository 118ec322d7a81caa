"""With an embedder a chat finds records by meaning too, and the account of the prompt says so."""

import asyncio
import hashlib
from pathlib import Path

from tests.py_core.bridge.memory_talk import Talk, hold

FILE = (Path(__file__).parents[3] / "fixtures" / "embedders" / "small_encoder.slm").read_bytes()
QUESTION = "Which staging server did I mention?"


async def load_embedder(talk: Talk) -> None:
    """Load the small encoder."""
    talk.host.files["embedder"] = FILE
    facts = await talk.page.ask(
        "embedder.load",
        {
            "handle": "embedder",
            "name": "Small encoder",
            "file_bytes": len(FILE),
            "sha256": hashlib.sha256(FILE).hexdigest(),
        },
    )
    assert facts["stage"] == "ready"


async def wait_for_vectors(talk: Talk, count: int) -> None:
    """Ask until so many records have a vector and none waits."""
    while True:
        facts = await talk.page.ask("embedder.facts")
        if facts["vectors"] == count and facts["missing"] == 0:
            return
        await asyncio.sleep(0.001)


def test_vectors_take_part_once_they_are_there():
    """Before: words only. After: cosines count, and the record still enters the prompt."""

    async def script(talk: Talk):
        kept = await talk.remember("The staging server is called otter.")
        await talk.say(QUESTION)
        assert talk.retrieval["lexical_only"]
        await load_embedder(talk)
        await wait_for_vectors(talk, 1)
        await talk.say(QUESTION)
        return talk, kept

    talk, kept = hold(script)
    assert not talk.retrieval["lexical_only"]
    assert talk.candidate(kept)["relevance"]["semantic_ppm"] > 0
    assert talk.node(kept) is not None


def test_freeing_the_embedder_leaves_words():
    """The next question is answered by words alone."""

    async def script(talk: Talk):
        await talk.remember("The staging server is called otter.")
        await load_embedder(talk)
        await wait_for_vectors(talk, 1)
        await talk.page.ask("embedder.free")
        await talk.say(QUESTION)
        return talk

    assert hold(script).retrieval["lexical_only"]
