"""What a person says of themselves, as slots and values.

Takes a text in the first person, gives claims whose words all stand in the text. A slot that can
hold one value only is told from a list, for only the former can be contradicted. Does not know
whether a claim is worth keeping.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from py_core.records.fields import LARGEST_VALUE_CHARS, Fact
from py_core.unicode_text import fold_case, plain_lines

_VALUE = r"(?P<value>[^.,;!?\n]{1,120}?)"
_END = r"(?= (?:and|but|because|since|so|when|while|although)\b|[.,;!?\n]|$)"
_SLOT_CHARS = re.compile(r"[^a-z0-9_.-]+")
_LONGEST_SLOT = 64
_NO_VALUES = frozenset(
    ["it", "that", "this", "them", "you", "to", "not", "so", "the", "a", "there", "here"]
)
_NO_SLOTS = frozenset(
    ["question", "point", "problem", "guess", "idea", "opinion", "answer", "plan", "message"]
)


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    name: Callable[[re.Match[str]], str]
    is_list: bool


def _rule(pattern: str, slot: str, *, is_list: bool = False) -> _Rule:
    """Make a rule; a slot may end in the name of a group of the pattern."""
    prefix, _, group = slot.partition("*")
    compiled = re.compile(rf"\b{pattern}{_END}", re.IGNORECASE)
    return _Rule(compiled, lambda match: prefix + (match[group] if group else ""), is_list)


_RULES = (
    _rule(rf"(?:my name is|call me) {_VALUE}", "name"),
    _rule(r"i(?:'m| am) (?P<value>\d{1,3}) years old", "age"),
    _rule(rf"i (?:now )?live in {_VALUE}", "home"),
    _rule(rf"i(?: have|'ve)? moved to {_VALUE}", "home"),
    _rule(rf"i work as (?:an? )?{_VALUE}", "job"),
    _rule(rf"i work (?:at|for) {_VALUE}", "employer"),
    _rule(rf"i(?:'m| am) allergic to {_VALUE}", "allergy", is_list=True),
    _rule(rf"i speak {_VALUE}", "language", is_list=True),
    _rule(rf"i (?:always |usually |really )?prefer {_VALUE} for (?P<topic>[\w ]{{2,30}})",
          "preference.*topic"),
    _rule(rf"i (?:always |usually |really |now )?prefer {_VALUE}(?: (?:to|over) [\w ]{{1,40}})?",
          "preference", is_list=True),
    _rule(rf"i (?:only |now )+use {_VALUE} for (?P<topic>[\w ]{{2,30}})", "preference.*topic"),
    _rule(rf"i (?:really )?(?:like|love|enjoy) {_VALUE}", "likes", is_list=True),
    _rule(rf"i (?:really )?(?:hate|dislike|do not like|don't like) {_VALUE}", "dislikes",
          is_list=True),
    _rule(rf"my (?P<slot>[a-z][a-z -]{{1,30}}?) (?:is|are) (?:now |called |named )?{_VALUE}",
          "*slot"),
)  # fmt: skip


def read_claims(text: str) -> tuple[Fact, ...]:
    """Read all claims of a text, in their order, each slot and value once.

    Example:
        "My favourite colour is blue." claims favourite_colour = blue.
    """
    found: dict[tuple[str, str], Fact] = {}
    for line in plain_lines(text):
        taken: list[tuple[int, int]] = []
        for rule in _RULES:
            for fact, place in _apply(rule, line, taken):
                found.setdefault((fact.slot, fact.value), fact)
                taken.append(place)
    return tuple(found.values())


def _apply(
    rule: _Rule, line: str, taken: list[tuple[int, int]]
) -> Iterator[tuple[Fact, tuple[int, int]]]:
    for match in rule.pattern.finditer(line):
        begin, end = match.span()
        is_free = all(end <= other_begin or other_end <= begin for other_begin, other_end in taken)
        slot, value = _spell_slot(rule.name(match)), match["value"].strip(" \"'")
        is_meant = fold_case(value).split(" ")[0] not in _NO_VALUES and slot not in _NO_SLOTS
        if is_free and is_meant and slot and 0 < len(value) <= LARGEST_VALUE_CHARS:
            yield Fact(slot=slot, value=value, is_list=rule.is_list), (begin, end)


def _spell_slot(words: str) -> str:
    return _SLOT_CHARS.sub("_", fold_case(words).strip())[:_LONGEST_SLOT].strip("_.-")
