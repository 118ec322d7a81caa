"""The six forms of a record, and its row in the prompt.

Takes a candidate and the policy, gives the text of its row in the first form that keeps to the
row limit. Provenance, confidence and age stay with every form. Every word of a row is the
record's own or stands in a fixed template here: nothing is invented. Does not know budgets.

    raw        the text as it is (screened, below the trust line)
    facts      slot: value, one sentence for each claim
    summary    the sentences that share most words with the question, in their order
    key_value  slot=value pairs, when they say all that the text says
    fragment   the beginning, cut at a word to keep to the limit, and marked as cut
    reference  its name alone: it was shown for this question, and that answer is in the prompt
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from py_core.compiler.authority import is_trusted
from py_core.compiler.candidate import Candidate
from py_core.compiler.claims import read_claims
from py_core.compiler.duplicates import lemmatise
from py_core.compiler.orders import split_sentences
from py_core.compiler.policy import Level, PolicyRow
from py_core.compiler.request import CompileRequest
from py_core.compiler.scoring import count_age_seconds
from py_core.records.fields import Fact, Lane
from py_core.records.kinds import LongTermMemoryRecord, MemoryPointer, RetrievalHit
from py_core.unicode_text import collapse_spaces

CUT_MARK = " [...]"
SHOWN_BEFORE = "as shown before"
SUMMARY_SENTENCES = 2
PPM_PER_HUNDREDTH = 10_000
# No token of a known vocabulary stands for more bytes than this.
MOST_BYTES_OF_A_TOKEN = 64


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Writes the rows of one compilation."""

    request: CompileRequest
    row: PolicyRow
    question_words: frozenset[str]
    known: frozenset[str] = frozenset()
    """Records that are only named where that is shorter."""

    def write(self, candidate: Candidate) -> Candidate:
        """Choose the form of a candidate and write its row, caveats behind it."""
        written = self._write_out(candidate)
        if candidate.record_id not in self.known:
            return written
        named = self._frame(candidate, SHOWN_BEFORE)
        if self._count(named) >= self._count(written.row_text):
            return written
        return candidate.changed(level="reference", row_text=named)

    def _write_out(self, candidate: Candidate) -> Candidate:
        for level in self.row.levels:
            text = self._form(candidate, level)
            if text is None:
                continue
            row_text = self._frame(candidate, text)
            if self._keeps_to_limit(row_text):
                return candidate.changed(level=level, row_text=row_text)
        return candidate.changed(level="fragment", row_text=self._cut(candidate))

    def _form(self, candidate: Candidate, level: Level) -> str | None:
        match level:
            case "raw":
                return collapse_spaces(candidate.text) or write_pairs(candidate.facts)
            case "facts":
                facts = candidate.facts or read_claims(collapse_spaces(candidate.text))
                return write_facts(facts) if facts else None
            case "summary":
                return pick_sentences(candidate.text, self.question_words) or None
            case "key_value":
                facts = candidate.facts or read_claims(collapse_spaces(candidate.text))
                return write_pairs(facts) if facts else None
            case "fragment" | "reference":
                return None

    def _frame(self, candidate: Candidate, text: str) -> str:
        """Put prefix, provenance and layout around a form."""
        words = f"{self._prefix(candidate)}{text}"
        if self.row.layout == "bookended":
            source = write_source(candidate)
            return f'<record src="{source}"{write_confidence(candidate, xml=True)}>{words}</record>'
        return f"- {words}; src={write_source(candidate)}{write_confidence(candidate, xml=False)}"

    def _prefix(self, candidate: Candidate) -> str:
        """Say in words what a small model cannot read from a number."""
        confidence = candidate.record.confidence_ppm
        parts = []
        if "historical" in candidate.flags:
            parts.append("[historical] ")
        if self._is_stale(candidate):
            parts.append("[stale] ")
        if confidence < self.row.likely_ppm:
            parts.append("Unverified note: ")
        elif confidence < self.row.certain_ppm:
            parts.append("Likely: ")
        return "".join(parts)

    def _is_stale(self, candidate: Candidate) -> bool:
        if candidate.lane is not Lane.STATUS:
            return False
        age = count_age_seconds(candidate.record.observation_time, self.request.session.now)
        return age > self.row.status_stale_seconds

    def _keeps_to_limit(self, text: str) -> bool:
        limit = self.row.row_limit_tokens
        size = len(text) if text.isascii() else len(text.encode())
        if size > limit * MOST_BYTES_OF_A_TOKEN:
            return False
        return self._count(text) <= limit

    def _count(self, text: str) -> int:
        return len(self.request.counter.encode(f"{text}\n"))

    def _cut(self, candidate: Candidate) -> str:
        """Keep as many words from the beginning as the limit allows, at least one."""
        whole = collapse_spaces(candidate.text) or write_pairs(candidate.facts)
        words = whole[: self.row.row_limit_tokens * MOST_BYTES_OF_A_TOKEN].split(" ")

        def frame(count: int) -> str:
            return self._frame(candidate, " ".join(words[:count]) + CUT_MARK)

        return frame(_find_most(len(words), lambda count: self._keeps_to_limit(frame(count))))


def make_row_maker(candidates: Iterable[Candidate], request: CompileRequest) -> RowMaker:
    """Prepare the rows of one compilation: the question decides which sentences are picked."""
    question = " ".join(c.plain_text for c in candidates if c.tier == 2)  # noqa: PLR2004
    return RowMaker(request, request.row, lemmatise(question))


def _find_most(most: int, fits: Callable[[int], bool]) -> int:
    """Give the largest count from 1 to `most` that fits, by halving; 1 if none does."""
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def write_facts(facts: Iterable[Fact]) -> str:
    """Write claims as short sentences."""
    return " ".join(f"{fact.slot}: {collapse_spaces(fact.value)}." for fact in facts)


def write_pairs(facts: Iterable[Fact]) -> str:
    """Write claims as pairs."""
    return "; ".join(f"{fact.slot}={collapse_spaces(fact.value)}" for fact in facts)


def pick_sentences(text: str, question_words: frozenset[str]) -> str:
    """Pick the sentences that share most words with the question, earlier ones first among equals.

    They keep their order, so that the text still reads as it was written.
    """
    sentences = split_sentences(text)
    order = sorted(
        range(len(sentences)),
        key=lambda index: (-len(lemmatise(sentences[index]) & question_words), index),
    )
    return " ".join(collapse_spaces(sentences[i]) for i in sorted(order[:SUMMARY_SENTENCES]))


def write_source(candidate: Candidate) -> str:
    """Write where a record is from: what it is, its id and its day.

    Example:
        status:mem_1842@2026-07-10
    """
    record = candidate.record
    day = record.observation_time.date().isoformat()
    return f"{_name_type(candidate)}:{record.record_id}@{day}"


def write_confidence(candidate: Candidate, *, xml: bool) -> str:
    """Write a confidence below certainty in hundredths.

    Example:
        930_000 millionths give conf=.93, a certain record gives nothing.
    """
    hundredths = candidate.record.confidence_ppm // PPM_PER_HUNDREDTH
    if hundredths >= LARGEST_HUNDREDTHS:
        return ""
    value = f".{hundredths:02d}"
    return f' conf="{value}"' if xml else f" conf={value}"


LARGEST_HUNDREDTHS = 100

_TYPE_NAMES = {
    "SessionFact": "session",
    "UserPreferenceAssertion": "profile",
    "ShortTermSummary": "summary",
    "MemoryPointer": "pointer",
    "ToolResult": "tool",
    "TrustedMetadata": "metadata",
    "UntrustedContentBlock": "quoted",
    "RoleTaggedMessage": "turn",
}


def _name_type(candidate: Candidate) -> str:
    record = candidate.record
    if isinstance(record, LongTermMemoryRecord | RetrievalHit):
        return record.payload.memory_type.value
    if isinstance(record, MemoryPointer):
        return "pointer"
    return _TYPE_NAMES.get(record.kind, "record")


def write_caveats(candidate: Candidate) -> tuple[str, ...]:
    """Write the rows that a disputed candidate is never shown without."""
    texts = []
    for caveat in candidate.caveats:
        kind, _, detail = caveat.partition(":")
        slot, _, other = detail.partition(":")
        if kind == "status_leads":
            texts.append(f"note: sources conflict on {slot}; the newer status leads.")
        elif kind == "diagnostic_ask" and is_trusted(candidate.ranked_tier):
            texts.append(
                f"Ask: {candidate.record_id} and {other} disagree on {slot}. "
                "Tell the user before you answer."
            )
        elif kind == "diagnostic_ask":
            texts.append(f"note: {candidate.record_id} and {other} disagree on {slot}.")
    return tuple(texts)
