"""Convert a text encoder on the command line: `python -m kernels convert-embedder`.

Takes parsed arguments, gives the exit code. Does not know how errors are shown.
"""

import argparse
import sys
from pathlib import Path

from kernels.byte_source import FileSource
from kernels.embedder_convert import convert_embedder


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
        KernelError: the source is no encoder that can be converted.
    """
    config = arguments.config.read_text(encoding="utf-8")
    vocabulary = arguments.vocabulary.read_text(encoding="utf-8")
    with arguments.out.open("wb") as sink:
        convert_embedder(FileSource(arguments.weights), config, vocabulary, sink)
    sys.stdout.write(f"{arguments.out}: {arguments.out.stat().st_size} bytes\n")
    return 0
