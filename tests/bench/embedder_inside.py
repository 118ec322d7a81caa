"""Measure embedding and retrieval inside the browser's Python.

Takes the exports of the kernel module on this Python's memory, an embedder file and numbers of
records; gives milliseconds as JSON text. Does not know the page around it.
"""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, cast

import numpy as np

from kernels.byte_source import BytesSource
from kernels.embedder import Embedder
from kernels.embedder_file import open_embedder
from kernels.embedder_table import EmbedderTable
from kernels.simd.module_bytes import SINGLE, read_module
from kernels.simd.own_memory_port import ModuleExports, OwnMemoryPort
from kernels.simd.simd_encoder import load_simd_embedder_steps
from kernels.similarity import RowProducts, VectorScores, multiply_rows
from py_core.retrieval.document import Document
from py_core.retrieval.intent import Turn, build_intent
from py_core.retrieval.relevance import find_relevant
from py_core.retrieval.retrieve import make_query
from py_core.retrieval.settings import RelevanceSettings
from py_core.retrieval.text_index import TextIndex

FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
REPEATS = 15
TEXTS_EMBEDDED = 40
QUESTIONS = (
    "When does parcel 77 go to street 12?",
    "What did we decide about the billing service and its release in May?",
    "Which street has the most parcels of the green depot?",
)
WORDS = (
    *("parcel", "street", "depot", "release", "billing", "service", "cluster", "meeting"),
    *("invoice", "garden", "window", "teacher", "train", "ticket", "dinner", "budget"),
    *("holiday", "doctor", "bridge", "island", "printer", "contract", "lecture", "battery"),
)


def measure(instantiate: Callable[[bytes], object], data: bytes, counts: str) -> str:
    """Run everything; `counts` is a JSON list of numbers of records."""
    port = OwnMemoryPort(cast(ModuleExports, instantiate(read_module(SINGLE))))
    embedder, load_ms = _load(data, port)
    report: dict[str, Any] = {"load_ms": load_ms, "weight_bytes": embedder.encoder.weight_bytes}
    report |= _measure_texts(embedder)
    for count in json.loads(counts):
        report[f"retrieval_{count}"] = _measure_retrieval(embedder, count)
    return json.dumps(report)


def _load(data: bytes, port: OwnMemoryPort) -> tuple[Embedder, float]:
    began = time.perf_counter()
    steps = load_simd_embedder_steps(open_embedder(BytesSource(data)), port)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return cast(Embedder, finished.value), _since(began)


def _measure_texts(embedder: Embedder) -> dict[str, float]:
    """Embed texts of 24 to 36 tokens, none twice, tokenizer included."""
    texts = [
        f"Note {number}: the {WORDS[number % 24]} of the {WORDS[number % 7]} moved to the last week"
        f" of May because the {WORDS[number % 11]} on the new cluster was not ready in time."
        for number in range(TEXTS_EMBEDDED)
    ]
    tokens = sum(len(embedder.tokenizer.encode(text, 256)) for text in texts) / len(texts)
    times = []
    for text in texts:
        began = time.perf_counter()
        embedder.embed(text)
        times.append(_since(began))
    return {
        "tokens_a_text": round(tokens, 1),
        "texts_per_s": round(1000 * len(times) / sum(times), 1),
        "text_p50_ms": round(median(times), 1),
    }


def _measure_retrieval(embedder: Embedder, count: int) -> dict[str, float]:
    index = _make_index(count)
    table = _make_table(embedder.width, count)
    places = table.find_places([f"{number:064x}" for number in range(count)])
    texts = {entry.document_id: "parcel street" for entry in index.entries if entry is not None}
    queries = [make_query(build_intent(Turn(question, FIRST_DAY))) for question in QUESTIONS]

    def search(vectors: VectorScores | None, turn: int) -> None:
        query = queries[turn % len(queries)]
        find_relevant(
            index, query, RelevanceSettings(), vectors=vectors, read_text=texts.__getitem__
        )

    def compare(turn: int, multiply: RowProducts) -> VectorScores:
        vector = embedder.embed(QUESTIONS[turn % len(QUESTIONS)])
        return table.compare(places, vector, multiply=multiply)

    found = compare(0, embedder.multiply)
    return {
        "words_ms": _time(lambda turn: search(None, turn)),
        "words_and_vectors_ms": _time(lambda turn: search(compare(turn, embedder.multiply), turn)),
        "search_given_vectors_ms": _time(lambda turn: search(found, turn)),
        "question_and_cosines_ms": _time(lambda turn: compare(turn, embedder.multiply)),
        "cosines_numpy_ms": _time(lambda turn: compare(turn, multiply_rows)),
    }


def _make_index(count: int) -> TextIndex:
    index = TextIndex()
    for number in range(count):
        words = " ".join(WORDS[(number * step + step) % 24] for step in (1, 5, 7, 11))
        text = (
            f"Note {number} says that parcel {number % 977} went to street {number % 89}: {words}."
        )
        observed = FIRST_DAY + timedelta(minutes=number)
        index.put(Document(f"mem-{number}", text, observed, author="user"))
    return index


def _make_table(width: int, count: int) -> EmbedderTable:
    """Fill a table with rows of noise: how near they lie does not change the time."""
    draw = np.random.default_rng(count)
    table = EmbedderTable(width)
    for number, row in enumerate(draw.integers(-127, 128, (count, width)).astype(np.int8)):
        table.put_row(f"{number:064x}", np.float32(0.0009).tobytes() + row.tobytes())
    return table


def _time(run: Callable[[int], object]) -> float:
    times: list[float] = []
    for turn in range(REPEATS + 2):
        began = time.perf_counter()
        run(turn)
        times.append(_since(began))
    return round(median(times[2:]), 1)


def _since(began: float) -> float:
    return 1000 * (time.perf_counter() - began)
