"""Measure how much of the evidence enters a budget: `python tests/bench_recall.py --data FILE`.

Takes a benchmark file and budgets; prints, for each budget, the share of questions with any
evidence kept, the mean share kept, and the share with all of it. The whole path runs as in the
page: intent, relevance, the ten-part score, packing. A turn costs its line and a line end; one
that is longer than a row may be enters as a summary and does not count as kept.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kernels.embedder import Embedder
from kernels.embedder_table import EmbedderTable
from kernels.similarity import VectorScores
from py_core.compiler.candidate import make_candidate
from py_core.compiler.duplicates import lemmatise
from py_core.compiler.packing import pack_beginning
from py_core.compiler.policy import PolicyRow
from py_core.compiler.representations import pick_sentences
from py_core.compiler.request import CompileRequest
from py_core.compiler.scoring import count_relevance, count_worth
from py_core.compiler.token_counters import make_counter, make_template
from py_core.records.fields import Sensitivity
from py_core.records.kinds import RetrievalHit
from py_core.records.payloads import RetrievalHitPayload
from py_core.records.request_file import Capacity, PolicyChoice, Session
from py_core.retrieval.document import Document
from py_core.retrieval.embedding_work import embed_missing, find_vector_key
from py_core.retrieval.intent import Turn, build_intent
from py_core.retrieval.retrieve import Retrieved, retrieve
from py_core.retrieval.settings import SETTINGS_VERSION, RelevanceSettings
from py_core.retrieval.text_index import TextIndex
from tests.bench_data import BenchQuestion, Haystack, read_haystacks
from tests.bench_embedder import load_cached_embedder
from tests.bench_tokens import BenchCounter, find_counter

CONTEXT_TOKENS = 8_192
TENANT = "bench"


@dataclass
class Tally:
    """Sums over questions."""

    questions: int = 0
    any: float = 0.0
    frac: float = 0.0
    all: float = 0.0

    def add(self, kept: int, wanted: int) -> None:
        """Count one question."""
        self.questions += 1
        self.any += kept > 0
        self.frac += kept / wanted
        self.all += kept == wanted

    def shares(self) -> dict[str, float]:
        """Give shares from 0 to 1."""
        count = max(1, self.questions)
        return {"any": self.any / count, "frac": self.frac / count, "all": self.all / count}


@dataclass
class BudgetTally:
    """One row of the table."""

    budget: int
    whole: Tally = field(default_factory=Tally)
    by_category: dict[str, Tally] = field(default_factory=dict)

    def add(self, question: BenchQuestion, kept: set[str]) -> None:
        """Count one question, in whole and in its category."""
        found = len(kept & question.evidence)
        category = self.by_category.setdefault(question.category, Tally())
        for tally in (self.whole, category):
            tally.add(found, len(question.evidence))

    def as_row(self) -> dict[str, Any]:
        """Give the row as JSON has it."""
        categories = {
            name: {"questions": tally.questions, **tally.shares()}
            for name, tally in sorted(self.by_category.items())
        }
        return {"budget": self.budget, **self.whole.shares(), "by_category": categories}


class Bench:
    """One haystack, ready for questions."""

    def __init__(
        self, haystack: Haystack, counter: BenchCounter, embedder: Embedder | None
    ) -> None:
        self.haystack, self.counter, self.embedder = haystack, counter, embedder
        self.documents = [
            Document(t.turn_id, t.text, t.observed, t.speaker, t.session, t.position)
            for t in haystack.turns
        ]
        self.index = TextIndex()
        self.index.follow(self.documents)
        self.records = {turn.turn_id: _make_record(turn) for turn in haystack.turns}
        self.costs = {t.turn_id: counter.count(f"{t.line}\n") for t in haystack.turns}
        self.lines = {t.turn_id: t.line for t in haystack.turns}
        self.vectors = self._embed() if embedder else None

    def _embed(self) -> EmbedderTable:
        assert self.embedder is not None
        table = EmbedderTable(self.embedder.width)
        for _ in embed_missing(self.documents, self.embedder, table):
            pass
        return table

    def rank(self, question: str, choice: PolicyChoice) -> tuple[list[str], PolicyRow]:
        """Give turn ids, the most worth first."""
        intent = build_intent(Turn(message=question, now=self.haystack.now))
        found = retrieve(
            intent, self.records.values(), self.index, vectors=self._compare(intent.semantic_text)
        )
        request = self._make_request(found, choice)
        row = request.row
        worths = [
            (-count_worth(candidate, request, row), candidate.record_id)
            for candidate in map(make_candidate, found.candidates)
            if count_relevance(found.scores[candidate.record_id], row) >= row.relevance_floor_ppm
        ]
        return [name for _, name in sorted(worths)], row

    def pack(self, ranked: Sequence[str], row: PolicyRow, question: str, budget: int) -> set[str]:
        """Give the turns that a budget holds whole."""
        words = lemmatise(question)

        def cost(name: str) -> int:
            whole = self.costs[name]
            if whole <= row.row_limit_tokens:
                return whole
            short = self.counter.count(f"{pick_sentences(self.lines[name], words)}\n")
            return min(short, row.row_limit_tokens)

        chosen = pack_beginning(ranked, budget, cost).chosen
        return {name for name in chosen if self.costs[name] <= row.row_limit_tokens}

    def _compare(self, text: str) -> VectorScores | None:
        if self.embedder is None or self.vectors is None:
            return None
        keys = [find_vector_key(document) for document in self.documents]
        return self.vectors.compare(self.vectors.find_places(keys), self.embedder.embed(text))

    def _make_request(self, found: Retrieved, choice: PolicyChoice) -> CompileRequest:
        session = Session(
            tenant=TENANT,
            clearance=Sensitivity.INTERNAL,
            now=self.haystack.now,
            session_key="bench",
        )
        return CompileRequest(
            records=(),
            session=session,
            capacity=Capacity(context_tokens=CONTEXT_TOKENS),
            policy=choice,
            scores=found.scores,
            intent=found.compiler_intent,
            lanes=(),
            counter=make_counter("characters"),
            template=make_template("chatml"),
        )


def _make_record(turn: Any) -> RetrievalHit:
    return RetrievalHit(
        record_id=turn.turn_id,
        payload=RetrievalHitPayload(text=turn.text or turn.turn_id),
        tenant_binding=TENANT,
        source="bench",
        observation_time=turn.observed,
    )


def measure(
    haystacks: Sequence[Haystack],
    budgets: Sequence[int],
    counter: BenchCounter,
    embedder: Embedder | None,
) -> list[BudgetTally]:
    """Ask every question with evidence of every haystack."""
    rows = [BudgetTally(budget) for budget in budgets]
    for haystack in haystacks:
        bench = Bench(haystack, counter, embedder)
        for question in haystack.questions:
            if not question.evidence:
                continue
            ranked, policy = bench.rank(question.text, PolicyChoice())
            for row in rows:
                row.add(question, bench.pack(ranked, policy, question.text, row.budget))
    return rows


def main() -> int:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, required=True, help="a benchmark file")
    parser.add_argument("--budget", default="512,1024,1500", help="token budgets, with commas")
    parser.add_argument("--embedder", choices=("on", "off"), default="on")
    parser.add_argument("--vocabulary", type=Path, help="a .tiktoken file to count with")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    try:
        budgets = [int(text) for text in chosen.budget.split(",")]
        haystacks = read_haystacks(chosen.data)
        counter = find_counter(chosen.vocabulary)
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"{chosen.data}: {error}\n")
        return 2
    begun = time.perf_counter()
    embedder = load_cached_embedder() if chosen.embedder == "on" else None
    rows = measure(haystacks, budgets, counter, embedder)
    settings = {
        "version": SETTINGS_VERSION,
        "embedder": chosen.embedder,
        "packing": "score and length, one order, longest beginning that fits",
        **asdict(RelevanceSettings()),
    }
    if chosen.json:
        report = {
            "rows": [row.as_row() for row in rows],
            "settings": settings,
            "counter": counter.name,
        }
        sys.stdout.write(f"{json.dumps(report, indent=1)}\n")
    else:
        sys.stdout.write(_write_table(rows, haystacks, counter, chosen.embedder))
        sys.stdout.write(f"{time.perf_counter() - begun:.0f} s\n")
    return 0


def _write_table(
    rows: Sequence[BudgetTally], haystacks: Sequence[Haystack], counter: BenchCounter, embedder: str
) -> str:
    asked = [question for haystack in haystacks for question in haystack.questions]
    without = sum(not question.evidence for question in asked)
    lines = [
        f"{len(haystacks)} haystacks, {len(asked)} questions, {without} of them without evidence "
        f"and not counted; embedder {embedder}, tokens of {counter.name}",
        "budget  category              questions    any   mean    all",
    ]
    for row in rows:
        for name, tally in (("all together", row.whole), *sorted(row.by_category.items())):
            shares = "  ".join(f"{100 * share:5.1f}" for share in tally.shares().values())
            lines.append(f"{row.budget:>6}  {name:<20}  {tally.questions:>9}  {shares}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
