"""The worked examples of the two documents, over the whole path from message to prompt.

Each case of `fixtures/retrieval/worked.json` has a message, a context length and what two hosted
lanes answer; it says what the prompt holds and why the rest stayed out.
"""

import asyncio
import json
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from py_core.chat.find_memory import TurnMemory
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_shelf import MemoryShelf
from py_core.chat.prompter import Prompt, Prompter
from py_core.chat.turn_records import TENANT, Conversation, ModelNumbers
from py_core.compiler.token_counters import make_counter, make_template
from py_core.records.fields import Fact
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.lanes import LaneAnswer
from py_core.store.in_memory import MemoryDatabase
from py_core.store.ledger import Ledger
from tests.py_core.retrieval.memories import make_hit

FILE = Path(__file__).parents[2] / "fixtures" / "retrieval" / "worked.json"
WORKED = json.loads(FILE.read_text("utf-8"))
CASES = WORKED["cases"]


class FixedLane:
    """Answers with the records of a case, and counts how often it is asked."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.asked = 0
        self._records = tuple(_make_record(**row) for row in rows)

    async def ask(self, _intent: RetrievalIntent) -> LaneAnswer:
        """Answer at once."""
        self.asked += 1
        return LaneAnswer("answered", self._records)


def _make_record(facts: list[list[str]] | None = None, **fields: Any):
    claims = tuple(Fact(slot=slot, value=value) for slot, value in facts or ())
    return make_hit(**fields, facts=claims, tenant_binding=TENANT)


async def rest() -> None:
    """Give way to nobody."""


def prepare(case: dict[str, Any]) -> tuple[Prompt, list[FixedLane]]:
    """Take the whole path of a case."""
    lanes = [FixedLane(case.get(name, [])) for name in ("status", "handoff")]
    ledger = Ledger(MemoryDatabase())
    shelf = MemoryShelf(MemoryKeeper(ledger, TENANT), ledger, rest)
    ticks = count()
    memory = TurnMemory(
        shelf, {"status": lanes[0], "handoff": lanes[1]}, lambda: float(next(ticks))
    )
    now = datetime.fromisoformat(WORKED["now"])
    message = case["message"]
    conversation = Conversation("", (), message, 1, "key", now=now, raw_message=message)
    numbers = ModelNumbers(case["context"], "none", make_template("plain"), make_counter("words"))
    prompter = Prompter(conversation, numbers, max_tokens=4)
    return asyncio.run(prompter.prepare(memory, None)), lanes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_worked_example_comes_out_as_the_documents_say(case: dict[str, Any]):
    """Who is asked, what enters in which form and order, what stays out and why."""
    prompt, lanes = prepare(case)
    plan = prompt.plan
    memories = [node for node in plan.nodes if node.tier == 10]
    assert plan.memory_status == case["memory"]
    assert [node.record_id for node in memories] == case["in_prompt"]
    assert {node.level for node in memories} <= {case.get("level", node.level) for node in memories}
    for row in case.get("rows", ()):
        assert row in plan.prompt_text
    for text in case.get("absent", ()):
        assert text not in plan.prompt_text
    reasons = {row.record_id: row.reason.value for row in plan.exclusions}
    assert case.get("out", {}).items() <= reasons.items()
    assert case.get("budget") in (None, plan.allowance.memory_budget_tokens)
    assert "conflict" not in case or case["conflict"] in [c.kind for c in plan.conflicts]
    is_asked = case.get("asked", True) and not case.get("bypassed", False)
    assert [lane.asked for lane in lanes] == [int(is_asked)] * 2
    statuses = {lane.lane: lane.status for lane in plan.lanes}
    assert (statuses["handoff"] == "bypassed") == case.get("bypassed", False)


def test_the_documents_examples_are_all_there():
    """Sixteen tokens, 2K rows, 4K and 8K, conflict, irrelevant, hostile, rewriting, arithmetic."""
    names = " ".join(case["name"] for case in CASES)
    for word in ("16", "2,048", "4,096", "8,192", "status leads", "SQL", "orders", "rewriting"):
        assert word in names
    assert "arithmetic" in names
