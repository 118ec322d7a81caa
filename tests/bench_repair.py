"""Measure what a withdrawal lets through, what the repair costs, and what it keeps.

    python tests/bench_repair.py --graphs 10000 --seed 1 [--json]

Takes generated memories (tests/repair_graphs.py), deletes and corrects statements in them, and
compiles a prompt after each barrier and after each publication. Prints

    exposures   records or words in those prompts that carry an invalidated fact
    unguarded   the same on a sample of prompts without withdrawal, so that 0 means something
    cost_ratio  cost of what was rebuilt over the cost of rebuilding all that can be
    kept_share  successors published over those that rebuilding everything would publish
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from py_core.compiler.pipeline import compile_context
from py_core.compiler.plan import Plan
from py_core.compiler.request import CompileRequest, join_request
from py_core.compiler.token_counters import make_counter, make_template
from py_core.memory.repair import RepairPlan, make_barrier, plan_repair, publish_repairs
from py_core.records.kinds import Record
from py_core.records.read_request import read_request
from py_core.store.edits import Edit, Entry, Restand, Snapshot
from py_core.store.heads import Standing
from tests.py_core.memory.heads import apply_edit, make_said
from tests.record_builders import make_policy, make_request_value, make_turn
from tests.repair_graphs import PricedShop, Truth, draw_ledger, make_root, rebuild_made

MOST_EVENTS = 3
CORRECTION_SHARE = 0.5
UNGUARDED_SAMPLE = 20


class PromptProbe:
    """Compiles what a ledger serves and looks for what must not be in there."""

    def __init__(self) -> None:
        self._frame = self._make_frame()

    def count_exposures(self, snapshot: Snapshot, truth: Truth) -> tuple[int, int]:
        """Give exposures and the number of memories that the prompt shows."""
        served = tuple(
            snapshot.records[key] for key in sorted(snapshot.heads) if snapshot.heads[key].is_active
        )
        plan = self._compile(served)
        words = set(plan.prompt_text.split())
        shown = {key for node in plan.nodes for key in node.provenance if key in truth.facts}
        carriers = sum(bool(truth.facts[key] & truth.invalid) for key in shown)
        return carriers + len(words & truth.invalid), len(shown)

    def _compile(self, records: tuple[Record, ...]) -> Plan:
        frame = self._frame
        request = CompileRequest(
            records=(*frame.records, *records),
            session=frame.session,
            capacity=frame.capacity,
            policy=frame.policy,
            scores={},
            intent=frame.intent,
            lanes=(),
            counter=frame.counter,
            template=frame.template,
        )
        return compile_context(request)

    @staticmethod
    def _make_frame() -> CompileRequest:
        value = make_request_value(
            [make_policy(), make_turn("now", "What do you know about me?", 9)],
            capacity={"context_tokens": 16_384, "counter": "words"},
            policy={"relevance_floor_ppm": 0, "memory_share_ppm": 900_000},
        )
        file = read_request(json.dumps(value).encode())
        counter = make_counter(file.capacity.counter)
        return join_request(file, counter, make_template(file.capacity.template))


def run_graph(rng: np.random.Generator, probe: PromptProbe, totals: Counter[str]) -> None:
    """Draw one memory and let some events happen to it."""
    snapshot, truth = draw_ledger(rng)
    for event in range(int(rng.integers(1, MOST_EVENTS + 1))):
        statements = sorted(
            key for key, head in snapshot.heads.items() if head.is_active and "said" in key
        )
        target = statements[int(rng.integers(len(statements)))]
        snapshot = _run_event(snapshot, truth, target, (rng, probe, totals, event))
        if len(statements) == 1:
            return


def _run_event(
    snapshot: Snapshot,
    truth: Truth,
    target: str,
    tools: tuple[np.random.Generator, PromptProbe, Counter[str], int],
) -> Snapshot:
    """Delete or correct one statement: barrier, look, publish, look."""
    rng, probe, totals, event = tools
    truth.invalid |= truth.facts[target]
    is_correction = rng.random() < CORRECTION_SHARE
    change, replacements = Edit(erased=(target,)), dict[str, str]()
    if is_correction:
        change, replacements = _correct(target, truth, rng, event)
    root = make_root(snapshot.heads[target])
    plan = plan_repair(snapshot.heads, [root], replacements, PricedShop(truth))
    if totals["events"] % UNGUARDED_SAMPLE == 0:
        totals["unguarded"] += probe.count_exposures(apply_edit(snapshot, change), truth)[0]
    snapshot = apply_edit(snapshot, change.join(make_barrier(plan)))
    _look(snapshot, truth, probe, totals)
    rebuild, check = rebuild_made(truth, rng, f"{event}")
    edit, published = publish_repairs(plan, snapshot, rebuild, check)
    snapshot = apply_edit(snapshot, edit)
    _look(snapshot, truth, probe, totals)
    _account(plan, truth, set(published), totals)
    return snapshot


def _correct(
    target: str, truth: Truth, rng: np.random.Generator, event: int
) -> tuple[Edit, dict[str, str]]:
    fact = f"fact{target.split('-')[1]}v{event}x"
    new = make_said(f"{target}-{event}", f"the user says {fact} today", supersedes=[target])
    truth.note(new.record_id, frozenset({fact}), rng)
    edit = Edit(entries=(Entry(new),), restands=(Restand(target, Standing.SUPERSEDED),))
    return edit, {target: new.record_id}


def _look(snapshot: Snapshot, truth: Truth, probe: PromptProbe, totals: Counter[str]) -> None:
    exposures, shown = probe.count_exposures(snapshot, truth)
    totals["exposures"] += exposures
    totals["shown"] += shown
    totals["prompts"] += 1


def _account(plan: RepairPlan, truth: Truth, published: set[str], totals: Counter[str]) -> None:
    """Compare with rebuilding everything that can be, in the same order, with the same failures."""
    passed: set[str] = set()
    for item in plan.affected:
        if item.verdict not in {"rebuild", "not_worth_it"}:
            continue
        if all(need in passed for need in item.needs):
            totals["cost_of_all"] += item.cost
            if item.record_id not in truth.failing:
                passed.add(item.record_id)
    tried = [item for item in plan.to_rebuild if all(need in published for need in item.needs)]
    totals["cost"] += sum(item.cost for item in tried)
    totals["kept"] += len(published)
    totals["kept_of_all"] += len(passed)
    totals["withdrawn"] += len(plan.affected)
    totals["events"] += 1


def measure(graphs: int, seed: int) -> dict[str, float]:
    """Run the bench and give its figures."""
    rng, probe, totals = np.random.default_rng(seed), PromptProbe(), Counter[str]()
    for _ in range(graphs):
        run_graph(rng, probe, totals)
    return {
        "graphs": graphs,
        "events": totals["events"],
        "prompts": totals["prompts"],
        "records_shown": totals["shown"],
        "withdrawn": totals["withdrawn"],
        "exposures": totals["exposures"],
        "unguarded": totals["unguarded"],
        "cost_ratio": round(totals["cost"] / max(totals["cost_of_all"], 1), 4),
        "kept_share": round(totals["kept"] / max(totals["kept_of_all"], 1), 4),
    }


def main() -> int:
    """Print the figures; fail when one of them misses its mark."""
    parser = argparse.ArgumentParser(description="Measure withdrawal and repair.")
    parser.add_argument("--graphs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = measure(options.graphs, options.seed)
    lines = [f"{name}: {value}" for name, value in figures.items()]
    sys.stdout.write((json.dumps(figures) if options.json else "\n".join(lines)) + "\n")
    is_met = figures["exposures"] == 0 and figures["cost_ratio"] <= 0.8
    return 0 if is_met and figures["kept_share"] >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
