"""Summaries that a model writes: what it is asked, and what is made of its answer.

Takes records, gives the request; takes the answer, gives a summary with the whole lineage. How much
of it stands in its sources is counted, and is all the confidence it gets. Unreviewed until a person
says otherwise. Does not know models.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from py_core.identity import content_hash
from py_core.memory.changes import Stamp
from py_core.memory.sensitivity import redact, scan
from py_core.memory.summary import Lineage, compose_summary
from py_core.records.kinds import Record, ShortTermSummary
from py_core.unicode_text import WORD, fold_case, has_visible_text, plain_lines

PPM = 1_000_000
MODEL_SOURCE = "summary:model/1"
MODEL_VERSION = "1"


@dataclass(frozen=True, slots=True)
class ModelSummaryPolicy:
    """How a model is asked, and how far it is believed; the hash is part of the lineage."""

    system_text: str = "You sum up notes. You add nothing that the notes do not say."
    request_text: str = "Sum up these notes in three short sentences. Add nothing."
    most_tokens: int = 160
    shortest_word_chars: int = 4
    least_ppm: int = 100_000
    most_ppm: int = 600_000

    @property
    def policy_hash(self) -> str:
        """The hash of texts and numbers."""
        return content_hash([self.system_text, self.request_text, self.most_tokens,
                             self.shortest_word_chars, self.least_ppm, self.most_ppm])  # fmt: skip


POLICY = ModelSummaryPolicy()


def write_note(record: Record, number: int) -> str:
    """Write one record as a line of the request, without its secrets."""
    return f"{number}. {redact(' '.join(plain_lines(record.text)))}"


def write_summary_request(records: Sequence[Record]) -> str:
    """Write what a model is asked; the texts stand under plain numbers."""
    lines = [write_note(record, number) for number, record in enumerate(records, 1)]
    return "\n".join([POLICY.request_text, *lines])


def accept_summary(
    text: str,
    records: Sequence[Record],
    model_identity: str,
    stamp: Stamp,
    *,
    unread: int = 0,
    supersedes: Sequence[str] = (),
) -> ShortTermSummary | None:
    """Make a summary of what a model wrote about exactly these records.

    Args:
        text: the answer; secrets in it are blacked out.
        records: what it has read, all of it.
        model_identity: which model.
        stamp: whose and when.
        unread: how many older records did not fit and were left out on purpose.
        supersedes: ids of older summaries that this one takes the place of.

    Returns:
        None when the model wrote nothing that can be seen.
    """
    shown = redact(text.strip())
    if not has_visible_text(shown):
        return None
    support = measure_support(shown, records)
    lineage = Lineage(
        source=MODEL_SOURCE,
        summariser=model_identity,
        version=MODEL_VERSION,
        policy_hash=POLICY.policy_hash,
        confidence_ppm=POLICY.least_ppm + support * (POLICY.most_ppm - POLICY.least_ppm) // PPM,
        omissions=_list_omissions(shown, records, unread),
        supersedes=tuple(supersedes),
    )
    return compose_summary(shown, records, lineage, stamp)


def measure_support(text: str, records: Sequence[Record]) -> int:
    """Give the share of the longer words of a text that stand in a source, in millionths.

    Example:
        "beans climb quickly" of "Beans climb on poles" has 666,666.
    """
    words = _list_words(text)
    known = frozenset[str]().union(*(_list_words(record.text) for record in records))
    return len(words & known) * PPM // len(words) if words else 0


def _list_omissions(text: str, records: Sequence[Record], unread: int) -> tuple[str, ...]:
    found = ["a model chose what to leave out"]
    words = _list_words(text)
    untold = sum(not words & _list_words(record.text) for record in records)
    if untold:
        found.append(f"{untold} of {len(records)} sources share no word with it")
    if unread:
        found.append(f"{unread} earlier sources did not fit and were not read")
    if any(scan(record.text) for record in records):
        found.append("secrets were taken out before the model read")
    return tuple(found)


def _list_words(text: str) -> frozenset[str]:
    words = (fold_case(match.group()) for match in WORD.finditer(text))
    return frozenset(word for word in words if len(word) >= POLICY.shortest_word_chars)
