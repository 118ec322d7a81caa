"""Measure compilation: 200 records warm and cold, and the curve up to 100,000.

Run as `python tests/bench_compile.py [--largest N] [--json]`, or inside the browser's Python by
`measure`. Takes generated records from a fixed seed, gives milliseconds. Processor time is
measured, so that another program on the machine does not count.
"""

import argparse
import json
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from py_core.compiler.pipeline import compile_context
from py_core.compiler.request import CompileRequest, TokenCounter
from py_core.compiler.token_counters import make_counter
from tests.record_builders import Json, make_fact, make_policy, make_record, make_request, make_turn

SIZES = (200, 1_000, 3_000, 10_000, 30_000, 100_000)
TOPICS = 97
WORDS_TEXT = (
    "deploy server build token budget memory record review status handoff model layer cache prefix "
    "tenant scope source summary pointer tool result policy answer question window border mark row"
)
WORDS = WORDS_TEXT.split()


def make_records(count: int, seed: int) -> list[Json]:
    """Make a mix of kinds with plausible texts of about twenty words."""
    state = seed * 7_919 + 12_345

    def draw(most: int) -> int:
        nonlocal state
        state = (state * 1_103_515_245 + 12_345) & 0x7FFFFFFF
        return (state >> 8) % most

    records = [make_policy(), make_turn("ask", "What is the status of the deploy?", 1_000_000)]
    for number in range(count - len(records)):
        words = " ".join(WORDS[draw(len(WORDS))] for _ in range(14))
        text = f"Topic {draw(TOPICS)} of part {number}: {words} since 2026."
        records.append(_make_one(f"r{seed}-{number}", text, number))
    return records


def _make_one(record_id: str, text: str, number: int) -> Json:
    match number % 5:
        case 0:
            role = "assistant" if number % 10 else "user"
            return make_turn(record_id, text, number // 10, role)
        case 1:
            extra = {"memory_type": "status", "relevance_ppm": 200_000 + number % 700_000}
            return make_record(record_id, "RetrievalHit", text, payload=extra)
        case 2:
            return make_record(record_id, "LongTermMemoryRecord", text, subject="project")
        case 3:
            fact = make_fact(f"slot-{number % TOPICS}", WORDS[number % len(WORDS)])
            return make_record(record_id, "SessionFact", text, payload={"facts": [fact]})
        case _:
            return make_record(record_id, "RetrievalHit", text, payload={"memory_type": "handoff"})


def time_once(request: CompileRequest) -> float:
    """Compile once and give milliseconds."""
    begin = process_time()
    compile_context(request)
    return (process_time() - begin) * 1_000


def median(values: list[float]) -> float:
    """Give the middle value."""
    return sorted(values)[len(values) // 2]


def measure_two_hundred(runs: int = 15) -> Json:
    """Measure new records each time (cold) and the same request again (warm)."""
    counter: TokenCounter = make_counter("characters")
    capacity = {"context_tokens": 4096}
    cold = [
        time_once(make_request(make_records(200, seed), counter, capacity=capacity))
        for seed in range(runs)
    ]
    known = make_request(make_records(200, runs), counter, capacity=capacity)
    warm = [time_once(known) for _ in range(runs)]
    return {"records": 200, "cold_p50_ms": median(cold), "warm_p50_ms": median(warm)}


def measure_curve(largest: int) -> list[Json]:
    """Measure growth: the last column is flat or falls where growth is at most n log n."""
    rows = []
    for size in (size for size in SIZES if size <= largest):
        begin = process_time()
        request = make_request(make_records(size, 1), capacity={"context_tokens": 4096})
        read_ms = (process_time() - begin) * 1_000
        compile_ms = time_once(request)
        per_log = compile_ms * 1_000 / (size * size.bit_length())
        rows.append(
            {
                "records": size,
                "read_ms": read_ms,
                "compile_ms": compile_ms,
                "us_per_n_log_n": per_log,
            }
        )
    return rows


def measure(largest: int) -> str:
    """Measure everything and give JSON."""
    return json.dumps({"two_hundred": measure_two_hundred(), "curve": measure_curve(largest)})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure compilation.")
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.largest)
    if options.json:
        sys.stdout.write(found + "\n")
        return
    document = json.loads(found)
    first = document["two_hundred"]
    sys.stdout.write(
        f"200 records: p50 {first['cold_p50_ms']:.1f} ms for new ones, "
        f"{first['warm_p50_ms']:.1f} ms again\n"
        "  records   read ms  compile ms  us per n log n\n"
    )
    for row in document["curve"]:
        sys.stdout.write(
            f"{row['records']:>9}{row['read_ms']:>10.0f}{row['compile_ms']:>12.1f}"
            f"{row['us_per_n_log_n']:>16.2f}\n"
        )


if __name__ == "__main__":
    main()
