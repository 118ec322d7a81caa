"""Step 6: what comes from below the trust line is made harmless before it is ranked.

Takes candidates that the session may see, gives those of tiers 9 and 10 with a screened text:
NFKC, nothing invisible, no orders to the model, no addresses, every role mark, tag and boundary
look-alike written out. The payload stays as it is. Does not know relevance or budget.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from py_core.compiler.authority import is_trusted
from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import Draft, exclude
from py_core.compiler.orders import drop_addresses, is_order, split_sentences
from py_core.compiler.plan import Exclusion, Reason
from py_core.compiler.request import CompileRequest
from py_core.compiler.role_marks import escape_marks
from py_core.records.fields import Fact
from py_core.unicode_text import (
    INVISIBLE,
    WORD,
    drop_invisible,
    has_visible_text,
    normalise,
    unify_line_ends,
)

_CACHED_TEXTS = 4_096


@dataclass(frozen=True, slots=True)
class _Screened:
    text: str
    flags: tuple[str, ...]


def screen_untrusted(draft: Draft, request: CompileRequest) -> Draft:
    """Screen the untrusted candidates, and exclude what is nothing but orders."""
    control_texts = tuple(sorted(request.counter.control_ids))
    kept: list[Candidate] = []
    excluded: list[Exclusion] = []
    for candidate in draft.kept:
        if candidate.is_acting or is_trusted(candidate.ranked_tier):
            kept.append(candidate)
            continue
        screened = _screen(candidate, control_texts)
        if _says_something(screened) or screened.facts:
            kept.append(screened)
        else:
            is_hostile = "orders_removed" in screened.flags
            reason = Reason.INSTRUCTION_TEXT if is_hostile else Reason.EMPTY_AFTER_SCREENING
            excluded.append(exclude(candidate, "screen_untrusted", reason))
    return replace(draft, kept=tuple(kept), excluded=(*draft.excluded, *excluded))


def _says_something(screened: Candidate) -> bool:
    """Tell whether anything is left; after orders went, punctuation alone is nothing."""
    if "orders_removed" in screened.flags:
        return WORD.search(screened.text) is not None
    return has_visible_text(screened.text)


def _screen(candidate: Candidate, control_texts: tuple[str, ...]) -> Candidate:
    screened = _screen_text(candidate.text, control_texts)
    facts, flags = [], list(screened.flags)
    for fact in candidate.facts:
        value = _screen_text(fact.value, control_texts)
        flags += value.flags
        if value.text:
            # Without a new check: a screened value may be longer than one that comes from outside.
            facts.append(Fact.model_construct(slot=fact.slot, value=value.text, is_list=False))
    changed = candidate.changed(text=screened.text, facts=tuple(facts))
    return changed.flagged(*flags)


@lru_cache(maxsize=_CACHED_TEXTS)
def _screen_text(text: str, control_texts: tuple[str, ...]) -> _Screened:
    flags: list[str] = []
    visible = unify_line_ends(normalise("NFKC", text))
    is_plain = visible.isascii() and visible.isprintable()
    if not is_plain and INVISIBLE.search(visible):
        visible = drop_invisible(visible)
        flags.append("invisible_removed")
    sentences = split_sentences(visible)
    calm = [sentence for sentence in sentences if not is_order(sentence)]
    if len(calm) < len(sentences):
        visible = "\n".join(calm) if "\n" in visible else " ".join(calm)
        flags.append("orders_removed")
    visible, addresses = drop_addresses(visible)
    if addresses:
        flags.append("links_removed")
    escaped, marks = escape_marks(visible, control_texts)
    if marks:
        flags.append("marks_escaped")
    return _Screened(escaped.strip(), tuple(flags))
