"""Conversations with questions and their evidence, read from the files of public benchmarks.

Takes a path, gives haystacks: turns that can be found, and questions with the turns that answer
them. Knows three formats: LoCoMo, LongMemEval as published, and the LongMemEval sample without
labels, where a turn that holds the answer counts as evidence. Does not know how anything is found.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_ADVERSARIAL = 5
_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_WORD = re.compile(r"[a-z0-9:]+")
_DATES = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y-%m-%d", "%Y/%m/%d", "%d %B, %Y")
_UNKNOWN_DATE = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class BenchTurn:
    """One turn; `line` is what a prompt would show of it."""

    turn_id: str
    session: str
    position: int
    speaker: str
    text: str
    observed: datetime
    line: str


@dataclass(frozen=True, slots=True)
class BenchQuestion:
    """One question; without evidence it is not counted."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class Haystack:
    """What belongs together: questions look only at their own turns."""

    name: str
    turns: tuple[BenchTurn, ...]
    questions: tuple[BenchQuestion, ...]

    @property
    def now(self) -> datetime:
        """The time of asking: that of the last turn."""
        return max(turn.observed for turn in self.turns)


def read_haystacks(path: Path) -> list[Haystack]:
    """Read a benchmark file.

    Raises:
        ValueError: the file has none of the known formats.
    """
    value = json.loads(path.read_text("utf-8"))
    if isinstance(value, dict) and "answerable" in value:
        return [_read_sample(value)]
    if isinstance(value, list) and value and "haystack_sessions" in value[0]:
        return [_read_long_mem_eval(item) for item in value]
    if isinstance(value, list) and value and "conversation" in value[0]:
        return [_read_locomo(item, number) for number, item in enumerate(value)]
    message = "expected LoCoMo, LongMemEval or the LongMemEval sample"
    raise ValueError(message)


def read_date(text: str) -> datetime:
    """Read a date as these files write it."""
    for form in _DATES:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return _UNKNOWN_DATE


def _read_locomo(item: dict[str, Any], number: int) -> Haystack:
    talk = item["conversation"]
    numbers = sorted(int(found[1]) for key in talk if (found := _SESSION.fullmatch(key)))
    turns = []
    for session in numbers:
        date = str(talk.get(f"session_{session}_date_time", ""))
        for position, turn in enumerate(talk[f"session_{session}"]):
            caption = turn.get("blip_caption") or ""
            text = f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])
            line = f"[{date}] {turn['speaker']}: {text}"
            turns.append(
                BenchTurn(
                    str(turn["dia_id"]),
                    str(session),
                    position,
                    str(turn["speaker"]),
                    text,
                    read_date(date),
                    line,
                )
            )
    known = {turn.turn_id for turn in turns}
    questions = [
        BenchQuestion(
            str(qa["question"]), _repair(qa.get("evidence") or [], known), str(qa["category"])
        )
        for qa in item["qa"]
        if qa["category"] != _ADVERSARIAL
    ]
    return Haystack(str(item.get("sample_id", number)), tuple(turns), tuple(questions))


def _repair(evidence: list[str], known: set[str]) -> frozenset[str]:
    """Take apart what holds several ids, drop leading zeros, leave out ids of no turn."""
    ids = {
        f"D{session}:{int(turn)}" for text in evidence for session, turn in _EVIDENCE.findall(text)
    }
    return frozenset(ids & known)


def _read_long_mem_eval(item: dict[str, Any]) -> Haystack:
    turns, evidence = [], set()
    sessions = zip(item["haystack_sessions"], item["haystack_dates"], strict=True)
    for session, (messages, date) in enumerate(sessions):
        for position, message in enumerate(messages):
            turn = _make_turn(f"{session}:{position}", str(session), position, message, str(date))
            turns.append(turn)
            if message.get("has_answer"):
                evidence.add(turn.turn_id)
    kind = str(item.get("question_type", "all"))
    question = BenchQuestion(str(item["question"]), frozenset(evidence), kind)
    return Haystack(str(item["question_id"]), tuple(turns), (question,))


def _read_sample(value: dict[str, Any]) -> Haystack:
    """Put all conversations of the sample into one haystack; alone they would be too short."""
    turns: list[BenchTurn] = []
    asked = []
    for item in (*value["answerable"], *value["abstain"]):
        own = []
        for position, message in enumerate(item["conversation"]):
            date = str(message["date"])
            session = f"{item['id']} {date}"
            own.append(_make_turn(f"{item['id']}:{position}", session, position, message, date))
        turns += own
        asked += [
            BenchQuestion(
                str(question["question"]),
                frozenset() if question.get("is_abstention") else _find_answer(question, own),
                str(item["question_type"]),
            )
            for question in item["questions"]
        ]
    return Haystack("sample", tuple(turns), tuple(asked))


def _make_turn(
    turn_id: str, session: str, position: int, message: dict[str, Any], date: str
) -> BenchTurn:
    role, text = str(message["role"]), str(message["content"])
    line = f"[{date}] {role}: {text}"
    return BenchTurn(turn_id, session, position, role, text, read_date(date), line)


def _find_answer(question: dict[str, Any], turns: list[BenchTurn]) -> frozenset[str]:
    """Take the user's turns that hold the answer word for word and a word of the question."""
    answer = _WORD.findall(str(question["answer"]).lower())
    asked = {word for word in _WORD.findall(question["question"].lower()) if len(word) > 3}
    found = set()
    for turn in turns:
        words = _WORD.findall(turn.text.lower())
        holds = any(words[at : at + len(answer)] == answer for at in range(len(words)))
        if holds and turn.speaker == "user" and asked.intersection(words):
            found.add(turn.turn_id)
    return frozenset(found)
