"""Retrieval of one turn: an intent and records in, scored candidates out.

Takes the records that the lanes gave and the index over them, gives the features of each record
worth looking at, with what the Plan view shows of it. Finds and scores; the compiler decides.
Does not know lanes, prompts or budgets.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from py_core.records.fields import Lane
from py_core.records.kinds import Record, find_lane
from py_core.records.request_file import Intent, Score
from py_core.retrieval.features import Marks, Owner, make_score
from py_core.retrieval.hit_groups import (
    Contradiction,
    HitGroup,
    find_contradictions,
    group_hits,
)
from py_core.retrieval.injection_ledger import InjectionLedger
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.relevance import Findings, Query, Relevance, VectorScores, find_relevant
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.strength import find_strength
from py_core.retrieval.text_index import TextIndex

NOTHING = Score()
_PARTS = 9


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """What the Plan view shows of one candidate."""

    record_id: str
    lane: Lane
    relevance: Relevance
    score: Score


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The candidates of one turn.

    Attributes:
        intent: What was looked for.
        candidates: Records that go to the compiler, best first.
        scores: Features of every given record; one that was not found has none of relevance.
        reports: One row for each candidate.
        strength_ppm: How far the best hit has to do with the question at all.
        followed: Terms of the second hop.
        groups: Records that say the same.
        contradictions: Slots on which records differ.
        used_vectors: Whether an embedder took part; without one all is lexical.
    """

    intent: RetrievalIntent
    candidates: tuple[Record, ...]
    scores: Mapping[str, Score]
    reports: tuple[CandidateReport, ...]
    strength_ppm: int
    followed: tuple[str, ...]
    groups: tuple[HitGroup, ...]
    contradictions: tuple[Contradiction, ...]
    used_vectors: bool

    @property
    def compiler_intent(self) -> Intent:
        """The intent in the words of a compile request."""
        return Intent(memory=self.intent.need, task=self.intent.compiler_task)


def make_query(intent: RetrievalIntent) -> Query:
    """Give what the search needs of an intent."""
    return Query(intent.terms, intent.exact, intent.authors, intent.times.ranges)


@dataclass(frozen=True, slots=True)
class Talk:
    """Who asks, in which conversation, and what it was shown already."""

    owner: Owner = field(default_factory=Owner)
    conversation: str = "main"
    ledger: InjectionLedger | None = None

    def is_new(self, record: Record, intent: RetrievalIntent) -> bool:
        """Tell whether this conversation has not been shown the record as it is now."""
        if self.ledger is None:
            return True
        seen = self.ledger.find(
            self.conversation, intent.identity, record.record_id, record.content_identity or ""
        )
        return seen is None or not seen.is_unchanged


@dataclass(frozen=True, slots=True)
class Search:
    """What the index says about a question; None where nobody had to look."""

    findings: Findings | None
    used_vectors: bool

    @property
    def record_ids(self) -> tuple[str, ...]:
        """Ids of the hits, best first."""
        return () if self.findings is None else tuple(hit.document_id for hit in self.findings.hits)

    @property
    def strength_ppm(self) -> int:
        """How far the best hit has to do with the question at all."""
        if self.findings is None:
            return 0
        return find_strength(self.findings.coverage_ppm, self.findings.cosine_ppm)


def search(
    intent: RetrievalIntent,
    index: TextIndex,
    *,
    settings: RelevanceSettings | None = None,
    vectors: VectorScores | None = None,
    read_text: Callable[[str], str] | None = None,
    hidden: Collection[str] = (),
) -> Search:
    """Look into the index; no record is opened for that.

    Args:
        intent: What to look for; where memory is not needed nothing is found.
        index: All documents.
        settings: Shares and limits.
        vectors: Cosines of the documents with the question.
        read_text: Gives a document's text, for the second hop.
        hidden: Documents that this question must not see, such as those of other projects.
    """
    if intent.need != "needed" or not len(index):
        return Search(None, used_vectors=vectors is not None)
    findings = find_relevant(
        index,
        make_query(intent),
        settings or RelevanceSettings(),
        vectors=vectors,
        read_text=read_text,
        hidden=hidden,
    )
    return Search(findings, used_vectors=vectors is not None)


def assess(
    intent: RetrievalIntent,
    found: Search,
    records: Mapping[str, Record],
    talk: Talk | None = None,
) -> Retrieved:
    """Score the records that were opened; hits that are not among them are gone by now."""
    if found.findings is None:
        return _nothing(intent, records, used_vectors=found.used_vectors)
    rows = _report(found.findings, records, intent, talk or Talk(), strength_ppm=found.strength_ppm)
    reports = tuple(rows)
    candidates = [records[report.record_id] for report in reports]
    scores = {report.record_id: report.score for report in reports}
    return Retrieved(
        intent=intent,
        candidates=tuple(candidates),
        scores={name: scores.get(name, NOTHING) for name in records},
        reports=reports,
        strength_ppm=found.strength_ppm,
        followed=found.findings.followed,
        groups=group_hits(candidates),
        contradictions=find_contradictions(candidates),
        used_vectors=found.used_vectors,
    )


def retrieve(
    intent: RetrievalIntent,
    records: Iterable[Record],
    index: TextIndex,
    *,
    settings: RelevanceSettings | None = None,
    vectors: VectorScores | None = None,
    talk: Talk | None = None,
) -> Retrieved:
    """Find and score where all records are at hand; those outside the index stay behind."""
    by_id = {record.record_id: record for record in records}
    found = search(
        intent,
        index,
        settings=settings,
        vectors=vectors,
        read_text=lambda name: by_id[name].text if name in by_id else "",
    )
    return assess(intent, found, by_id, talk)


def _report(
    findings: Findings,
    by_id: Mapping[str, Record],
    intent: RetrievalIntent,
    talk: Talk,
    *,
    strength_ppm: int,
) -> Iterator[CandidateReport]:
    """Give pinned records first, then the hits, each once."""
    hits = {hit.document_id: hit for hit in findings.hits}
    for name in dict.fromkeys((*intent.filters.pins, *hits)):
        record = by_id.get(name)
        if record is None or find_lane(record) not in intent.filters.lanes:
            continue
        relevance = hits.get(name) or Relevance(name, *(0,) * _PARTS)
        marks = Marks(strength_ppm, is_new=talk.is_new(record, intent))
        score = make_score(relevance, record, intent, talk.owner, marks)
        yield CandidateReport(name, find_lane(record), relevance, score)


def _nothing(
    intent: RetrievalIntent, by_id: Mapping[str, Record], *, used_vectors: bool
) -> Retrieved:
    return Retrieved(
        intent=intent,
        candidates=(),
        scores=dict.fromkeys(by_id, NOTHING),
        reports=(),
        strength_ppm=0,
        followed=(),
        groups=(),
        contradictions=(),
        used_vectors=used_vectors,
    )
