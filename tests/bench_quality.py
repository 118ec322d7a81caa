"""Measure what each stored type costs: `python tests/bench_quality.py [--json] [--only LABEL]`.

Takes the demo model's GGUF from the cache (`python serve.py --prepare-only` brings it) and two
texts of `fixtures/reference`: the golden passage and two chapters. Converts the model to each type
as the command line would, reads the texts with the numpy op set, and gives perplexity, file size
and the difference to float32 with its standard error. Not part of the test suite.

The difference is of losses token by token, so what is hard in the text itself cancels out.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Started as a program, only its own folder is on the path.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from kernels.arrays import F64
from kernels.byte_source import FileSource
from kernels.convert import ConvertSettings, convert
from kernels.decoder import Decoder
from kernels.dtypes import DType
from kernels.numpy_ops import NumpyOps
from kernels.perplexity import perplexity, standard_error, window_losses
from kernels.perplexity_command import DEFAULT_WINDOW_TOKENS, read_text
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer
from tests.kernels.smollm2 import find_file, read_golden

LONG_TEXT = Path(__file__).parents[1] / "fixtures" / "reference" / "moby_dick_2_4.txt"
REFERENCE = "f32"
VARIANTS = {
    REFERENCE: ConvertSettings(dtype=DType.F32),
    "q8_0, row scales": ConvertSettings(dtype=DType.Q8_0),
    "q8_0, block 32": ConvertSettings(dtype=DType.Q8_0, block_size=32),
    "q4_1, as shipped": ConvertSettings(dtype=DType.Q4_1, keeps_quantised=True),
    "q4_0": ConvertSettings(dtype=DType.Q4_0),
    "q4_0, block 16": ConvertSettings(dtype=DType.Q4_0, block_size=16),
    "q4_0, uniform": ConvertSettings(dtype=DType.Q4_0, is_uniform=True),
}
TABLE_HEAD = (
    "| stored as | file bytes | golden passage | to f32 | two chapters | to f32 |\n"
    "|---|---|---|---|---|---|\n"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One variant: its size, the seconds of its conversion, and losses by text."""

    file_bytes: int
    convert_s: float
    losses: dict[str, F64]


def measure_all(labels: Sequence[str], source: Path) -> Iterator[tuple[str, Measured]]:
    """Convert and measure one variant after the other."""
    with tempfile.TemporaryDirectory() as folder:
        for label in labels:
            out = Path(folder) / "model.slm"
            began = time.perf_counter()
            manifest = convert(source, out, VARIANTS[label])
            seconds = time.perf_counter() - began
            yield label, Measured(manifest.file_bytes or 0, seconds, read_losses(out))


def read_losses(path: Path) -> dict[str, F64]:
    """Give the losses of both texts under their names."""
    with FileSource(path) as source:
        model = open_model(source)
        tokenizer = load_tokenizer(model.tokenizer_section, model.manifest)
        ops = NumpyOps(model.config)
        for _ in ops.load(model):
            pass
    decoder = Decoder(model.config, ops)
    texts = {
        "golden passage": read_golden()["perplexity_check"]["ids"],
        "two chapters": tokenizer.encode(read_text(LONG_TEXT)),
    }
    return {
        name: np.concatenate(list(window_losses(decoder, ids, DEFAULT_WINDOW_TOKENS)))
        for name, ids in texts.items()
    }


def describe(found: Measured, exact: Measured) -> dict[str, object]:
    """Give the figures of one row under the names of the JSON form."""
    texts = {}
    for name, losses in found.losses.items():
        extra = losses - exact.losses[name]
        texts[name] = {
            "perplexity": round(perplexity(losses), 3),
            "percent_above_f32": round(100 * (perplexity(extra) - 1), 2),
            "standard_error_percent": round(100 * standard_error(extra), 2),
            "predicted_tokens": len(losses),
        }
    return {
        "file_bytes": found.file_bytes,
        "convert_s": round(found.convert_s, 1),
        "texts": texts,
    }


def write_row(label: str, row: dict[str, object]) -> str:
    """Give one line of a Markdown table."""
    cells = [label, f"{row['file_bytes']:,}"]
    texts = row["texts"]
    assert isinstance(texts, dict)
    for figures in texts.values():
        percent, error = figures["percent_above_f32"], figures["standard_error_percent"]
        cells += [f"{figures['perplexity']:.2f}", f"{percent:+.1f} % ± {error:.1f}"]
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table row by row or one JSON object; return the exit code."""
    parser = argparse.ArgumentParser(prog="python tests/bench_quality.py")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.add_argument("--only", action="append", choices=VARIANTS, help="f32 and this variant")
    options = parser.parse_args(arguments)
    source = find_file()
    if source is None:
        sys.stderr.write(
            "No demo model in the cache; `python serve.py --prepare-only` brings it.\n"
        )
        return 1
    labels = [label for label in VARIANTS if label in {REFERENCE, *(options.only or VARIANTS)}]
    rows: dict[str, dict[str, object]] = {}
    if not options.json:
        sys.stdout.write(TABLE_HEAD)
    exact: Measured | None = None
    for label, found in measure_all(labels, source):
        exact = exact or found
        rows[label] = describe(found, exact)
        if not options.json:
            sys.stdout.write(write_row(label, rows[label]) + "\n")
            sys.stdout.flush()
    if options.json:
        sys.stdout.write(json.dumps({"reference": REFERENCE, "variants": rows}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
