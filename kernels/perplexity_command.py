"""Measure a model on a text: `python -m kernels perplexity FILE --text FILE`.

Takes parsed arguments.
Gives the perplexity with its standard error as a line or one JSON object, and the exit code.
Does not know how arguments reach the process, nor how errors are shown.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from kernels.arrays import F64
from kernels.byte_source import FileSource, read_bytes
from kernels.decoder import Decoder
from kernels.errors import ErrorCode, kernel_error
from kernels.numpy_ops import NumpyOps
from kernels.perplexity import perplexity, standard_error, window_losses
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer

DEFAULT_WINDOW_TOKENS = 1024
"""Long enough that most tokens see a page of text, short enough that attention stays cheap."""
MINIMUM_WINDOW_TOKENS = 2


def add_perplexity_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command; their ranges are checked where they are used."""
    parser.add_argument("file", type=Path, help="a .slm model")
    parser.add_argument("--text", type=Path, required=True, help="a UTF-8 text to be read")
    parser.add_argument(
        "--window",
        type=int,
        default=DEFAULT_WINDOW_TOKENS,
        help="tokens read in one context (default: 1024, or the model's context if shorter)",
    )
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.set_defaults(run=run_perplexity)


def run_perplexity(arguments: argparse.Namespace) -> int:
    """Load the model, read the text, and print the result; return exit code 0.

    Raises:
        KernelError: the model, the text or the window cannot be used.
    """
    text = read_text(arguments.text)
    with FileSource(arguments.file) as source:
        model = open_model(source)
        ids = load_tokenizer(model.tokenizer_section, model.manifest).encode(text)
        window_tokens = _check_window(arguments.window, model.config.max_context)
        if len(ids) < MINIMUM_WINDOW_TOKENS:
            fault = f"The text has {len(ids)} tokens; give one with at least two."
            raise kernel_error(ErrorCode.INVALID_LENGTH, "text", fault)
        ops = NumpyOps(model.config)
        for _ in ops.load(model):
            pass
    began = time.perf_counter()
    losses = np.concatenate(list(window_losses(Decoder(model.config, ops), ids, window_tokens)))
    report = describe_losses(losses, window_tokens)
    report["tokens_per_s"] = round(len(ids) / (time.perf_counter() - began), 2)
    sys.stdout.write(json.dumps(report) + "\n" if arguments.json else _line(report))
    return 0


def read_text(path: Path) -> str:
    """Read a UTF-8 file.

    Raises:
        KernelError: `read_failed` when it cannot be read, `invalid_utf8` when it is no text.
    """
    with FileSource(path) as source:
        data = read_bytes(source, 0, source.size)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        fault = f"{path.name} is not UTF-8; save it as UTF-8."
        raise kernel_error(ErrorCode.INVALID_UTF8, str(path), fault, offset=error.start) from error


def describe_losses(losses: F64, window_tokens: int) -> dict[str, float]:
    """Give the figures of a measurement under the names of the JSON form."""
    return {
        "perplexity": round(perplexity(losses), 4),
        "mean_loss": round(float(losses.mean()), 6),
        "standard_error": round(standard_error(losses), 6),
        "predicted_tokens": len(losses),
        "window_tokens": window_tokens,
    }


def _check_window(wanted: int, max_context: int) -> int:
    if wanted < MINIMUM_WINDOW_TOKENS:
        fault = f"The window is {wanted}; it must be at least {MINIMUM_WINDOW_TOKENS}."
        raise kernel_error(ErrorCode.INVALID_SETTING, "window", fault)
    return min(wanted, max_context)


def _line(report: dict[str, float]) -> str:
    percent = 100 * report["standard_error"]
    return (
        f"perplexity {report['perplexity']:.3f} (standard error {percent:.1f} %), "
        f"{report['predicted_tokens']} predicted tokens in windows of {report['window_tokens']}, "
        f"{report['tokens_per_s']:.1f} tokens a second\n"
    )
