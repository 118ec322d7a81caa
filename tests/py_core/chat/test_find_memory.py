"""Lanes beside the ledger: their records visit the index for one turn and stay apart from it."""

import asyncio
from itertools import count
from typing import Any

import numpy as np

from py_core.chat.find_memory import TurnMemory
from py_core.chat.lane_ports import LocalLane
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_question import Question
from py_core.chat.memory_shelf import MemoryShelf
from py_core.retrieval.intent import Turn
from py_core.retrieval.lanes import LaneAnswer
from py_core.retrieval.relevance import VectorScores
from py_core.store.edits import Edit, Entry
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ledger import Ledger
from tests.py_core.memory.heads import make_said
from tests.py_core.retrieval.memories import NOW, make_hit

TENANT = "local"


class HostedLane:
    """A hosted shelf that a test fills."""

    def __init__(self, *records, delay_s=0.0):
        self.records, self.delay_s = records, delay_s

    async def ask(self, _intent):
        """Answer after a while."""
        await asyncio.sleep(self.delay_s)
        return LaneAnswer("answered", tuple(self.records))


class FixedVectors:
    """An embedder for which every document means what is asked."""

    def __init__(self):
        self.asked = []

    async def vectors_for(self, query_text, index):
        """Give equal cosines, or none where there is nothing to compare."""
        self.asked.append(query_text)
        return make_vectors([0.9] * len(index.entries)) if len(index) else None


def make_vectors(cosines) -> VectorScores:
    """Build cosines of all documents."""
    return VectorScores(np.array(cosines), np.ones(len(cosines), dtype=bool))


class Desk:
    """A memory over a ledger and hosted lanes."""

    def __init__(self, *kept, vectors=None, **hosted):
        ledger = Ledger(MemoryDatabase())
        self.shelf = MemoryShelf(MemoryKeeper(ledger, TENANT), ledger, self.rest)
        ticks = count()
        ports: Any = {"local": LocalLane(self.shelf), **hosted}
        self.memory = TurnMemory(self.shelf, ports, lambda: float(next(ticks)), vectors=vectors)
        entries = tuple(Entry(record) for record in kept)
        asyncio.run(ledger.apply(lambda _: Edit(entries=entries)))

    async def rest(self):
        """Give way."""
        await asyncio.sleep(0)

    def find(self, message):
        """Ask."""
        return asyncio.run(self.memory.find(Question(Turn(message, NOW))))


def said(name, text):
    """Build a kept memory."""
    return make_said(name, text, tenant_binding=TENANT)


def ids_of(found):
    """Give the candidates."""
    return [record.record_id for record in found.retrieved.candidates]


def test_hosted_records_are_candidates_and_leave_the_index_with_the_turn():
    """The index that is kept holds the ledger alone."""
    desk = Desk(
        said("mem-1", "The staging server is called otter."),
        status=HostedLane(make_hit("st-1", "The staging server is down.", type="status")),
    )
    assert set(ids_of(desk.find("What about the staging server?"))) == {"mem-1", "st-1"}
    assert set(desk.shelf.index.ids()) == {"mem-1"}


def test_what_both_have_is_the_ledgers():
    """A hosted copy neither replaces a kept memory nor takes it out of the index."""
    desk = Desk(
        said("mem-1", "The staging server is called otter."),
        handoff=HostedLane(make_hit("mem-1", "The staging server is called heron.")),
    )
    for _ in range(2):
        found = desk.find("What is the staging server called?")
        assert [record.text for record in found.retrieved.candidates] == [
            "The staging server is called otter."
        ]


def test_a_slow_hosted_lane_costs_its_records_and_not_the_turn():
    """Its outcome says so; the local memory is there."""
    desk = Desk(
        said("mem-1", "The staging server is called otter."),
        status=HostedLane(make_hit("st-1", "The staging server is down."), delay_s=5.0),
    )
    found = desk.find("What about the staging server?")
    statuses = {report.outcome.lane: report.outcome.status for report in found.lanes}
    assert (statuses["status"], statuses["local"]) == ("timed_out", "answered")
    assert ids_of(found) == ["mem-1"]


def test_an_embedder_finds_what_no_word_does():
    """Its port gets the question on its own; without it the turn says words only."""
    vectors = FixedVectors()
    desk = Desk(said("mem-1", "Pixel sleeps on the sofa."), vectors=vectors)
    found = desk.find("Where does my dog nap?")
    assert vectors.asked == ["Where does my dog nap?"]
    assert found.retrieved.used_vectors
    assert ids_of(found) == ["mem-1"]
    assert found.retrieved.reports[0].relevance.semantic_ppm == 1_000_000
    without = Desk(said("mem-1", "Pixel sleeps on the sofa."))
    assert not without.find("Where does my dog nap?").retrieved.used_vectors
