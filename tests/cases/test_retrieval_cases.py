"""Every case of `fixtures/retrieval`: what a message means, and what it finds."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from py_core.retrieval.document import read_document
from py_core.retrieval.intent import Turn, build_intent
from py_core.retrieval.lanes import keep_wanted
from py_core.retrieval.retrieve import retrieve
from py_core.retrieval.text_index import TextIndex
from tests.py_core.retrieval.memories import make_hit

FOLDER = Path(__file__).parents[2] / "fixtures" / "retrieval"


def load(name: str) -> tuple[datetime, list[Any]]:
    """Read the clock and the cases of a file."""
    value = json.loads((FOLDER / name).read_text("utf-8"))
    return datetime.fromisoformat(value["now"]), value["cases"]


INTENTS_NOW, INTENTS = load("intents.json")
RANKING_NOW, RANKING = load("ranking.json")


def day(seconds: int) -> str:
    """Give the day of a time."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


@pytest.mark.parametrize("case", INTENTS, ids=lambda case: case["name"])
def test_a_message_means_what_the_case_says(case: dict[str, Any]):
    """Each field that a case names is compared; others are free."""
    turn = Turn(
        message=case["message"],
        now=INTENTS_NOW,
        earlier=tuple(case.get("earlier", ())),
        known_names=tuple(case.get("known", ())),
    )
    intent = build_intent(turn)
    assert intent.need == case["need"]
    assert intent.task == case.get("task", intent.task)
    assert intent.filters.project == case.get("project", intent.filters.project)
    ranges = [[day(start), day(stop)] for start, stop in intent.times.ranges]
    assert ranges == case.get("ranges", ranges)
    assert [list(event) for event in intent.times.events] == case.get(
        "events", [list(event) for event in intent.times.events]
    )
    assert [r.meaning for r in intent.resolutions] == case.get(
        "meanings", [r.meaning for r in intent.resolutions]
    )
    assert set(case.get("terms", ())) <= set(intent.terms)
    assert set(case.get("exact", ())) <= set(intent.exact)
    assert set(case.get("authors", ())) <= set(intent.authors)
    assert [lane.value for lane in intent.filters.lanes] == case.get(
        "lanes", [lane.value for lane in intent.filters.lanes]
    )
    assert not (case.get("terms_none") and intent.terms)


@pytest.mark.parametrize("case", RANKING, ids=lambda case: case["name"])
def test_a_message_finds_what_the_case_says(case: dict[str, Any]):
    """Found means relevant above the floor of the policy, in the order of relevance."""
    records = [make_hit(**fields) for fields in case["records"]]
    intent = build_intent(Turn(message=case["message"], now=RANKING_NOW))
    index = TextIndex()
    wanted = keep_wanted(records, intent)
    index.follow(map(read_document, wanted))
    found = retrieve(intent, wanted, index)
    floor = 150_000
    names = [r.record_id for r in found.reports if r.score.semantic_ppm >= floor]
    assert sorted(names) == sorted(case["found"])
    assert not names or names[0] == case["first"]
