"""Convert a text encoder on the command line: `python -m kernels convert-embedder`.

Takes parsed arguments, gives the exit code. Does not know how errors are shown.
"""

import argparse
import sys
from pathlib import Path

from kernels.byte_source import FileSink, FileSource, read_bytes
from kernels.embedder_convert import convert_embedder
from kernels.errors import ErrorCode, kernel_error


def add_embedder_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("weights", type=Path, help="model.safetensors of a BERT encoder")
    parser.add_argument("config", type=Path, help="its config.json")
    parser.add_argument("vocabulary", type=Path, help="its vocab.txt")
    parser.add_argument("out", type=Path, help="the .slm file, with 8-bit matrices")
    parser.set_defaults(run=run_convert_embedder)


def run_convert_embedder(arguments: argparse.Namespace) -> int:
    """Write the container; return exit code 0.

    Raises:
        KernelError: a file cannot be read, or is none of an encoder that can be converted.
    """
    config, vocabulary = _read_text(arguments.config), _read_text(arguments.vocabulary)
    with FileSource(arguments.weights) as weights, FileSink(arguments.out) as sink:
        convert_embedder(weights, config, vocabulary, sink)
    sys.stdout.write(f"{arguments.out}: {arguments.out.stat().st_size} bytes\n")
    return 0


def _read_text(path: Path) -> str:
    with FileSource(path) as source:
        data = read_bytes(source, 0, source.size)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = f"{path.name} is no UTF-8 text; take the file of all-MiniLM-L6-v2."
        raise kernel_error(ErrorCode.INVALID_UTF8, path.name, text, offset=error.start) from error
