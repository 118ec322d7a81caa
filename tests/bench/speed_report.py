"""The report of a speed run, as one object and as a table.

Takes raw runs; gives medians, ratios and losses. Does not know browsers.
"""

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench.our_page import Turn

Speeds = dict[str, list[float]]


@dataclass(slots=True)
class Runs:
    """What was measured.

    Attributes:
        speeds: by engine, then by kind and threads ("decode_2"), tokens a second.
        near_and_far: by threads, decoding after a short and after a long prompt.
        turns: by threads, first and second turn of a conversation.
        stops: by phase and threads ("prefill_1"), milliseconds.
    """

    speeds: dict[str, Speeds] = field(default_factory=dict)
    near_and_far: dict[int, list[tuple[Turn, Turn]]] = field(default_factory=dict)
    turns: dict[int, list[tuple[Turn, Turn]]] = field(default_factory=dict)
    stops: Speeds = field(default_factory=dict)

    def note(self, engine: str, name: str, speed: float) -> None:
        """Keep one speed."""
        self.speeds.setdefault(engine, {}).setdefault(name, []).append(speed)


def summarise(runs: Runs) -> dict[str, Any]:
    """Give medians, ratios of medians, and the raw runs."""
    medians = {
        engine: {name: median(speeds) for name, speeds in of_engine.items()}
        for engine, of_engine in runs.speeds.items()
    }
    ours, peer = medians.get("ours", {}), medians.get("peer", {})
    return {
        "ratios": {name: round(ours[name] / peer[name], 2) for name in sorted(ours) if peer},
        "tokens_per_s": medians,
        "position_loss": {str(key): _loss(pairs) for key, pairs in runs.near_and_far.items()},
        "second_turn": {str(key): _second_turn(pairs) for key, pairs in runs.turns.items()},
        "stop_ms": {
            name: {"median": round(median(times), 1), "worst": round(max(times), 1)}
            for name, times in runs.stops.items()
        },
        "runs": runs.speeds | {"stop_ms": runs.stops},
        "machine": {"processor": _processor(), "cores": os.cpu_count()},
    }


def write_table(report: dict[str, Any]) -> str:
    """Write the table for a person."""
    lines = [f"{'tokens a second':24}{'peer':>9}{'ours':>9}{'ratio':>8}"]
    speeds = report["tokens_per_s"]
    for name, ours in sorted(speeds.get("ours", {}).items()):
        kind, threads = name.split("_")
        peer, ratio = speeds.get("peer", {}).get(name), report["ratios"].get(name)
        shown = f"{peer:9.1f}{ours:9.1f}{ratio:8.2f}" if peer else f"{'':9}{ours:9.1f}"
        lines.append(f"{kind + ', ' + threads + ' thread(s)':24}{shown}")
    for threads, loss in report["position_loss"].items():
        lines.append(
            f"decoding at position {loss['far']:,} loses {loss['loss']:.0%} against position "
            f"{loss['near']:,}, {threads} thread(s)"
        )
    for threads, turn in report["second_turn"].items():
        lines.append(
            f"first token after {turn['first_ms']:.0f} ms ({turn['first_new_tokens']} new tokens), "
            f"in the second turn {turn['second_ms']:.0f} ms ({turn['second_new_tokens']}), "
            f"{threads} thread(s)"
        )
    for name, stop in report["stop_ms"].items():
        phase, threads = name.split("_")
        lines.append(
            f"stop in {phase}: {stop['median']:.0f} ms, at worst {stop['worst']:.0f}, "
            f"{threads} thread(s)"
        )
    machine = report["machine"]
    lines.append(f"{machine['processor']}, {machine['cores']} cores")
    return "\n".join(lines)


def _loss(pairs: list[tuple[Turn, Turn]]) -> dict[str, Any]:
    near = median(one.decode_tokens_per_s for one, _ in pairs)
    far = median(other.decode_tokens_per_s for _, other in pairs)
    return {
        "loss": round(1 - far / near, 3),
        "near": pairs[0][0].prompt_tokens,
        "far": pairs[0][1].prompt_tokens,
        "tokens_per_s": [near, far],
    }


def _second_turn(pairs: list[tuple[Turn, Turn]]) -> dict[str, Any]:
    return {
        "first_ms": median(first.prefill_ms for first, _ in pairs),
        "first_new_tokens": pairs[0][0].new_tokens,
        "second_ms": median(second.prefill_ms for _, second in pairs),
        "second_new_tokens": pairs[0][1].new_tokens,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
