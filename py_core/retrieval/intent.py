"""What a turn needs of memory, and three views of the question.

Takes the message, the turns before, persona, clock and known scopes; gives one frozen intent: is
memory needed, which task, what to look for in words, in meaning and in which scopes. By rules, so
that the page can show why and the user can correct it. Does not know records or scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from py_core.identity import content_hash
from py_core.records.fields import Lane
from py_core.retrieval.controls import Controls, read_controls
from py_core.retrieval.coreference import Resolution, resolve
from py_core.retrieval.exact_strings import find_exact_strings, find_quoted
from py_core.retrieval.noun_phrases import find_names
from py_core.retrieval.task_class import TaskClass, classify
from py_core.retrieval.terms import list_terms, list_words
from py_core.retrieval.time_expressions import TimeHints, find_times

Need = Literal["needed", "not_needed", "off"]
CompilerTask = Literal["general", "continuation", "architecture", "recall"]

_FIRST_PERSON = frozenset(["i", "me", "my", "mine", "we", "us", "our", "ours", "myself"])
_ASSISTANT = frozenset(["you", "your", "yours"])
_COMPILER_TASKS: Mapping[TaskClass, CompilerTask] = {
    "continuation": "continuation",
    "architecture": "architecture",
    "fact": "recall",
    "summary": "recall",
}
_CODE_PERSONAS = ("code", "developer", "engineer", "program")


@dataclass(frozen=True, slots=True)
class ScopeFilters:
    """Structured restrictions; empty means any."""

    project: str = ""
    lanes: tuple[Lane, ...] = (Lane.STATUS, Lane.HANDOFF)
    pins: tuple[str, ...] = ()
    scopes: tuple[tuple[str, str], ...] = ()
    """Known scope ids by scope: ("task", "hotfix-auth")."""


@dataclass(frozen=True, slots=True)
class RetrievalIntent:
    """What to look for and why.

    Attributes:
        need: Whether memory is asked at all.
        reason: Why, as a stable code for the page.
        task: The kind of work.
        semantic_text: The question on its own, with what "it" stands for.
        terms: Stems for the lexical search.
        exact: Strings that matter letter by letter.
        names: Names in the question.
        authors: Names under which turns may have been written, the asker's own role included.
        filters: Where to look.
        times: What the question says about time.
        resolutions: What was taken for what.
    """

    need: Need
    reason: str
    task: TaskClass
    semantic_text: str
    terms: tuple[str, ...]
    exact: tuple[str, ...]
    names: tuple[str, ...]
    authors: tuple[str, ...]
    filters: ScopeFilters
    times: TimeHints
    resolutions: tuple[Resolution, ...]

    @property
    def compiler_task(self) -> CompilerTask:
        """The task by which the policy table shifts weights."""
        return _COMPILER_TASKS.get(self.task, "general")

    @property
    def identity(self) -> str:
        """Hash of what is looked for; equal questions have equal ones."""
        return content_hash(
            {
                "terms": sorted(self.terms),
                "exact": sorted(self.exact),
                "project": self.filters.project,
                "lanes": [lane.value for lane in self.filters.lanes],
                "times": [list(span) for span in self.times.ranges],
            }
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """What an intent is made from.

    Attributes:
        message: What the user wrote.
        earlier: Messages before it, oldest first.
        now: The time, aware.
        persona: What the assistant is to be; hints only.
        scopes: Active scope ids by scope.
        known_names: Names of projects, goals and tasks that exist.
    """

    message: str
    now: datetime
    earlier: tuple[str, ...] = ()
    persona: str = ""
    scopes: tuple[tuple[str, str], ...] = ()
    known_names: tuple[str, ...] = ()


def build_intent(turn: Turn) -> RetrievalIntent:
    """Understand one turn."""
    controls, message = read_controls(turn.message)
    task = classify(message)
    resolutions = resolve(message, turn.earlier)
    semantic = _write_out(message, resolutions)
    names = find_names(semantic)
    need, reason = _judge(controls, needs_memory=task.needs_memory)
    kind = _lean(task.kind, turn.persona, message)
    return RetrievalIntent(
        need=need,
        reason=reason,
        task=kind,
        semantic_text=semantic,
        terms=tuple(dict.fromkeys(list_terms(semantic))),
        exact=tuple(dict.fromkeys((*find_exact_strings(semantic), *find_quoted(message)))),
        names=names,
        authors=find_authors(message, names),
        filters=_make_filters(controls, turn, semantic),
        times=find_times(message, turn.now),
        resolutions=resolutions,
    )


def _judge(controls: Controls, *, needs_memory: bool) -> tuple[Need, str]:
    if controls.is_memory_off:
        return "off", "user_command"
    if controls.pins or controls.project:
        return "needed", "user_command"
    return ("needed", "task") if needs_memory else ("not_needed", "task")


def _lean(kind: TaskClass, persona: str, message: str) -> TaskClass:
    """Let a persona decide where the message alone does not: a hint, never a claim."""
    if kind != "general":
        return kind
    is_coder = any(word in persona.lower() for word in _CODE_PERSONAS)
    return "code" if is_coder and find_exact_strings(message) else kind


def _write_out(message: str, resolutions: Sequence[Resolution]) -> str:
    """Put what was meant behind the message; the user's own words stay as they are."""
    meanings = [r.meaning for r in resolutions if r.meaning.lower() not in message.lower()]
    return f"{message} ({', '.join(meanings)})" if meanings else message


def find_authors(message: str, names: Sequence[str]) -> tuple[str, ...]:
    """Name who may have said it: a named person, or the asker for a question about oneself."""
    words = set(list_words(message))
    found = [part.lower() for name in names for part in name.split()]
    if words & _FIRST_PERSON:
        found.append("user")
    elif words & _ASSISTANT:
        found.append("assistant")
    return tuple(dict.fromkeys(found))


def _make_filters(controls: Controls, turn: Turn, text: str) -> ScopeFilters:
    lowered = text.lower()
    known = next((name for name in turn.known_names if name.lower() in lowered), "")
    lanes = (Lane.STATUS,) if controls.is_status_only else (Lane.STATUS, Lane.HANDOFF)
    return ScopeFilters(controls.project or known, lanes, controls.pins, turn.scopes)
