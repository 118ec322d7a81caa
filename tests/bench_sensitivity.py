"""Print what the search for secrets misses and where it cries wolf, on the labelled lines.

    python tests/bench_sensitivity.py [--json]

Takes tests/secret_samples.py; prints the counts of both kinds of error and their lines. The lines
are drawn from a seed and hold nothing real.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from py_core.memory.sensitivity import scan
from tests.secret_samples import list_ordinary_lines, list_secret_lines


def measure() -> dict[str, Any]:
    """Run the search over all lines."""
    secret, ordinary = list_secret_lines(), list_ordinary_lines()
    missed = [f"{kind}: {line}" for kind, line in secret if not scan(line)]
    alarms = [f"{scan(line)[0].rule}: {line}" for line in ordinary if scan(line)]
    return {
        "secrets": len(secret),
        "kinds": len({kind for kind, _ in secret}),
        "ordinary": len(ordinary),
        "misses": len(missed),
        "false_alarms": len(alarms),
        "missed_lines": missed,
        "alarm_lines": alarms,
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the search for secrets.")
    parser.add_argument("--json", action="store_true")
    figures = measure()
    if parser.parse_args().json:
        sys.stdout.write(json.dumps(figures) + "\n")
        return 0
    for name, value in figures.items():
        text = "\n  ".join(["", *value]) if isinstance(value, list) else str(value)
        sys.stdout.write(f"{name}: {text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
