"""Summaries by rule, and the lineage that every summary has.

Takes records, gives one ShortTermSummary that names its sources, who summarised by which rules,
what was left out, and how sure it is. A rule picks whole sentences and changes none, so everything
in the result can be found in a source. Unreviewed until a person says otherwise. Does not know
where the records come from.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from py_core.errors import InvariantError
from py_core.identity import content_hash
from py_core.memory.changes import Stamp
from py_core.memory.compose import compose
from py_core.memory.sensitivity import scan
from py_core.records.kinds import Record, ShortTermSummary
from py_core.unicode_text import WORD, fold_case, plain_lines

EXTRACTIVE = "extractive"
EXTRACTIVE_VERSION = "1"
EXTRACTIVE_SOURCE = "summary:extractive/1"

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+(?=\s|$)|\n|$)")
_HAS_DETAIL = re.compile(r"\d|[A-Z][a-z]+ [A-Z]|[\"'`]")


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """The numbers of the rule; their hash is part of the lineage."""

    most_chars: int = 600
    most_sentences: int = 8
    longest_sentence_chars: int = 280
    shortest_word_chars: int = 4
    detail_bonus: int = 3
    confidence_ppm: int = 800_000

    @property
    def policy_hash(self) -> str:
        """The hash of all numbers."""
        return content_hash([self.most_chars, self.most_sentences, self.longest_sentence_chars,
                             self.shortest_word_chars, self.detail_bonus])  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sentence:
    source: int
    place: int
    text: str
    score: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """How a summary came about.

    Attributes:
        summariser: the rule or the model, with `version`.
        policy_hash: over everything that was set or asked.
        omissions: what was left out on purpose, in words.
        supersedes: the summaries that it takes the place of.
    """

    source: str
    summariser: str
    version: str
    policy_hash: str
    confidence_ppm: int
    omissions: tuple[str, ...]
    supersedes: tuple[str, ...] = ()


def summarise(
    records: Sequence[Record],
    stamp: Stamp,
    policy: SummaryPolicy = SummaryPolicy(),
    *,
    supersedes: Sequence[str] = (),
) -> ShortTermSummary | None:
    """Pick the sentences that say most, in the order in which they were said.

    Returns:
        The summary, or None when the records hold no sentence that can be shown.
    """
    sentences = _score(_split(records, policy), policy)
    picked = _pick(sentences, policy)
    if not picked:
        return None
    used = sorted({sentence.source for sentence in picked})
    omissions = _describe_omissions(records, len(sentences) - len(picked), used)
    lineage = Lineage(
        source=EXTRACTIVE_SOURCE,
        summariser=EXTRACTIVE,
        version=EXTRACTIVE_VERSION,
        policy_hash=policy.policy_hash,
        confidence_ppm=policy.confidence_ppm,
        omissions=omissions,
        supersedes=tuple(supersedes),
    )
    text = " ".join(sentence.text for sentence in picked)
    return compose_summary(text, records, lineage, stamp)


def find_unsupported(summary_text: str, sources: Sequence[Record]) -> tuple[str, ...]:
    """Give the sentences of a summary that stand in none of its sources."""
    known = [record.plain_text for record in sources]
    sentences = [match.group().strip() for match in _SENTENCE.finditer(summary_text)]
    return tuple(
        sentence
        for sentence in sentences
        if sentence and not any(sentence.rstrip(".") in text for text in known)
    )


def compose_summary(
    text: str, records: Sequence[Record], lineage: Lineage, stamp: Stamp
) -> ShortTermSummary:
    """Put the record together; it is as sensitive as the most sensitive of its sources."""
    order = ("public", "internal", "confidential", "secret").index
    payload = {
        "text": text,
        "summariser": lineage.summariser,
        "summariser_version": lineage.version,
        "prompt_policy_hash": lineage.policy_hash,
        "omissions": list(lineage.omissions),
    }
    record = compose(
        "sum",
        "ShortTermSummary",
        payload,
        stamp,
        source=lineage.source,
        confidence_ppm=lineage.confidence_ppm,
        derived_from=[record.record_id for record in records],
        supersedes=list(lineage.supersedes),
        sensitivity=max((record.sensitivity.value for record in records), key=order),
    )
    if not isinstance(record, ShortTermSummary):
        raise InvariantError(what="a summary is a ShortTermSummary")
    return record


def _split(records: Sequence[Record], policy: SummaryPolicy) -> list[_Sentence]:
    found = []
    for index, record in enumerate(records):
        for match in _SENTENCE.finditer("\n".join(plain_lines(record.text))):
            text = match.group().strip()
            is_short = len(text) <= policy.longest_sentence_chars
            # A question says nothing that could be remembered.
            if WORD.search(text) and is_short and not text.endswith("?") and not scan(text):
                found.append(_Sentence(index, match.start(), _close(text), 0))
    return found


def _close(text: str) -> str:
    return text if text[-1] in ".!" else f"{text}."


def _score(sentences: list[_Sentence], policy: SummaryPolicy) -> list[_Sentence]:
    """Score by how many sources share the longer words, by detail, and once for each text."""
    words = [_list_words(sentence.text, policy) for sentence in sentences]
    pairs = {(sentence.source, word) for sentence, own in zip(sentences, words, strict=True)
             for word in own}  # fmt: skip
    sources_of = Counter(word for _, word in pairs)
    scored, seen = [], set[str]()
    for sentence, own in zip(sentences, words, strict=True):
        folded = fold_case(sentence.text)
        detail = policy.detail_bonus if _HAS_DETAIL.search(sentence.text) else 0
        score = 0 if folded in seen else 1 + detail + sum(sources_of[word] - 1 for word in own)
        seen.add(folded)
        scored.append(_Sentence(sentence.source, sentence.place, sentence.text, score))
    return scored


def _list_words(text: str, policy: SummaryPolicy) -> frozenset[str]:
    words = (fold_case(match.group()) for match in WORD.finditer(text))
    return frozenset(word for word in words if len(word) >= policy.shortest_word_chars)


def _pick(sentences: list[_Sentence], policy: SummaryPolicy) -> list[_Sentence]:
    ranked = sorted(sentences, key=lambda item: (-item.score, item.source, item.place))
    picked: list[_Sentence] = []
    room = policy.most_chars
    for sentence in ranked:
        if sentence.score and len(sentence.text) < room and len(picked) < policy.most_sentences:
            picked.append(sentence)
            room -= len(sentence.text) + 1
    return sorted(picked, key=lambda item: (item.source, item.place))


def _describe_omissions(
    records: Sequence[Record], left_out: int, used: list[int]
) -> tuple[str, ...]:
    found = []
    if left_out:
        found.append(f"{left_out} sentences left out")
    unused = len(records) - len(used)
    if unused:
        found.append(f"{unused} of {len(records)} sources not quoted")
    return tuple(found)
