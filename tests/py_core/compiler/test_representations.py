"""Rows: five forms, provenance on each, and not a word that is nobody's."""

import json
import re

import pytest
from hypothesis import given

from py_core.compiler.authority import Tier
from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import open_draft
from py_core.compiler.representations import (
    make_row_maker,
    pick_sentences,
    write_confidence,
    write_source,
)
from tests.laws.strategies import request_values
from tests.laws.test_steps import compile_or_skip
from tests.record_builders import (
    compile_records,
    make_fact,
    make_policy,
    make_record,
    make_request,
    make_turn,
)

LONG = "The deploy of the blue server failed. " * 40 + "The cause was a full disk."


def write(record, context_tokens=4096, question="What was the cause?", **fixed) -> Candidate:
    """Give the candidate with its row."""
    request = make_request(
        [make_policy(), make_turn("ask", question, 9), record],
        capacity={"context_tokens": context_tokens},
        policy=fixed or {},
    )
    draft = open_draft(request.records)
    ask = next(c for c in draft.kept if c.record_id == "ask")
    chosen = next(c for c in draft.kept if c.record_id == record["record_id"])
    maker = make_row_maker([ask.with_tier(Tier.CURRENT_INSTRUCTION)], request)
    return maker.write(chosen.with_tier(Tier.DURABLE_MEMORY))


def memory(text, **payload):
    """Build a durable record."""
    return make_record("m1", "LongTermMemoryRecord", text, payload=payload)


@pytest.mark.parametrize(
    ("context", "record", "level", "words"),
    [
        (4096, memory("Short text."), "raw", "Short text."),
        (4096, memory(LONG), "summary", "The cause was a full disk."),
        (4096, memory(LONG, facts=[make_fact("disk", "full")]), "facts", "disk: full."),
        (2048, memory("x", facts=[make_fact("disk", "full")]), "key_value", "disk=full"),
        (2048, memory("No claims here."), "raw", "No claims here."),
        (600, memory("a " * 200), "fragment", "[...]"),
    ],
)
def test_the_first_form_that_keeps_to_the_limit_is_taken(context, record, level, words):
    """Extract first: facts and pairs before sentences, and a cut only at the end."""
    written = write(record, context)
    assert written.level == level
    assert words in written.row_text


@pytest.mark.parametrize("context", [600, 2048, 4096])
def test_every_form_carries_its_provenance(context):
    """Where it is from stands in each row, whatever its form."""
    for record in (memory("Short."), memory(LONG), memory("a=1", facts=[make_fact("a", "1")])):
        assert "fact:m1@2026-07-10" in write(record, context).row_text


def test_a_fragment_keeps_whole_words_and_says_that_it_is_cut():
    """Never a silent cut, never half a word."""
    written = write(memory("alpha beta gamma delta epsilon " * 30), 600)
    body = re.sub(r"^- |; src=.*$", "", written.row_text)
    assert body.endswith(" [...]")
    assert set(body.removesuffix(" [...]").split()) <= {
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
    }


def test_the_sentences_that_answer_are_picked_in_their_order():
    """Most shared words first, then the order of the text."""
    text = "Rain fell. The disk was full. Birds sang. The server stopped."
    words = frozenset({"disk", "server", "full"})
    assert pick_sentences(text, words) == "The disk was full. The server stopped."


@pytest.mark.parametrize(
    ("ppm", "plain", "xml"),
    [
        (930_000, " conf=.93", ' conf=".93"'),
        (1_000_000, "", ""),
        (50_000, " conf=.05", ' conf=".05"'),
    ],
)
def test_confidence_is_written_in_hundredths(ppm, plain, xml):
    """As in src=status:mem_1842@2026-07-10 conf=.93."""
    record = make_record(
        "mem_1842", "RetrievalHit", "x", payload={"memory_type": "status"}, confidence_ppm=ppm
    )
    candidate = open_draft(make_request([record]).records).kept[0]
    assert write_source(candidate) == "status:mem_1842@2026-07-10"
    assert write_confidence(candidate, xml=False) == plain
    assert write_confidence(candidate, xml=True) == xml


TEMPLATE_TEXT = (
    "record src conf note sources conflict on the newer status leads and disagree ask tell user "
    "before you answer likely unverified stale historical link lt gt fact decision handoff profile "
    "session summary pointer tool metadata quoted turn im start end assistant"
)
TEMPLATE_WORDS = set(TEMPLATE_TEXT.split())


@given(request_values())
def test_no_word_of_a_row_is_invented(value):
    """Every word comes from the record itself or stands in a fixed template."""
    plan = compile_or_skip(value)
    records = {record["record_id"]: record for record in value["records"]}
    for node in plan.nodes:
        record = records[node.record_id]
        own = " ".join((json.dumps(record["payload"], ensure_ascii=False), *records))
        own = f"{own} {own.replace(chr(0x200B), '')}"
        known = set(re.findall(r"[a-z]+", own.lower())) | TEMPLATE_WORDS
        # Full-width letters arrive as their plain forms.
        known |= {"im", "end", "abc"}
        assert set(re.findall(r"[a-z]+", node.text.lower())) <= known


ANSWER = make_turn("said", "It is in the blue room, on the first floor.", 1, role="assistant")
ROOM = make_record(
    "room",
    "LongTermMemoryRecord",
    "The staging server stands in the blue room on the first floor, behind the printer.",
)


def compile_again(record, answer=ANSWER, **overrides):
    """Ask a question whose answer was made with a record before."""
    records = [make_policy(), make_turn("ask", "Where is it?", 1), answer, record]
    records.append(make_turn("again", "Where is it?", 2))
    return compile_records(records, shown={record["record_id"]: "said"}, **overrides)


def test_a_record_whose_answer_is_in_sight_is_only_named():
    """Its source stays, its words go; the plan says so."""
    plan = compile_again(ROOM)
    node = next(node for node in plan.nodes if node.record_id == "room")
    assert node.level == "reference"
    assert "as shown before" in node.text
    assert "room@2026-07-10" in node.text
    assert "printer" not in node.text


def test_a_record_whose_answer_has_left_the_prompt_is_shown_in_full():
    """A reference to nothing says nothing."""
    long_answer = make_turn("said", "blue room " * 120, 1, role="assistant")
    plan = compile_again(ROOM, long_answer, policy={"history_share_ppm": 50_000})
    node = next(node for node in plan.nodes if node.record_id == "room")
    assert "said" not in [node.record_id for node in plan.nodes]
    assert node.level != "reference"
    assert "blue room" in node.text


def test_a_record_that_is_shorter_than_its_reference_stays_as_it_is():
    """Shrinking never costs tokens."""
    tea = make_record("tea", "LongTermMemoryRecord", "I like tea.")
    node = next(node for node in compile_again(tea).nodes if node.record_id == "tea")
    assert "I like tea." in node.text
