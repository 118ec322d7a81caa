"""What the user changes in an intent for one turn.

Takes an intent and a correction, gives the intent as the user wants it. The rules that made the
intent are not run again: what the user says counts. Does not know records or the page.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from py_core.retrieval.exact_strings import find_exact_strings
from py_core.retrieval.intent import Need, RetrievalIntent, find_authors
from py_core.retrieval.noun_phrases import find_names
from py_core.retrieval.task_class import TaskClass
from py_core.retrieval.terms import list_terms

CORRECTED = "user_correction"


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be different; None and empty leave the intent as it is.

    Attributes:
        need: Ask memory or not.
        task: The kind of work.
        text: Another question on its own; all views of it are made anew.
        project: The project to look in; empty text means any.
        added: Words to look for besides.
        removed: Words, or stems as the intent shows them, not to look for.
        pins: Records that go first.
    """

    need: Need | None = None
    task: TaskClass | None = None
    text: str | None = None
    project: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()


def correct_intent(intent: RetrievalIntent, correction: Correction) -> RetrievalIntent:
    """Apply a correction."""
    corrected = intent if correction.text is None else _reword(intent, correction.text)
    corrected = _change_terms(corrected, correction)
    filters = corrected.filters
    if correction.project is not None:
        filters = replace(filters, project=correction.project)
    if correction.pins:
        filters = replace(filters, pins=_join(filters.pins, correction.pins))
    return replace(
        corrected,
        task=correction.task or corrected.task,
        filters=filters,
        need=correction.need or corrected.need,
        reason=corrected.reason if correction.need is None else CORRECTED,
    )


def _reword(intent: RetrievalIntent, text: str) -> RetrievalIntent:
    names = find_names(text)
    return replace(
        intent,
        semantic_text=text,
        terms=_join(list_terms(text)),
        exact=find_exact_strings(text),
        names=names,
        authors=find_authors(text, names),
    )


def _change_terms(intent: RetrievalIntent, correction: Correction) -> RetrievalIntent:
    added, removed = " ".join(correction.added), " ".join(correction.removed)
    unwanted = {*list_terms(removed), *correction.removed}
    not_exact = {*find_exact_strings(removed), *correction.removed}
    terms = _join(intent.terms, list_terms(added))
    exact = _join(intent.exact, find_exact_strings(added))
    return replace(
        intent,
        terms=tuple(term for term in terms if term not in unwanted),
        exact=tuple(name for name in exact if name not in not_exact),
        semantic_text=f"{intent.semantic_text} {added}" if added else intent.semantic_text,
    )


def _join(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for part in parts for item in part))
