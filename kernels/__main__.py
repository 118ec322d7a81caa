"""The command line of the kernels: `python -m kernels COMMAND`, which names its commands.

Takes arguments, prints results, and answers bad input with one line on standard error.
Exit codes: 0 done, 1 a negative result, 2 bad input. Does not hold any logic of its own.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kernels.convert import ConvertSettings, convert
from kernels.dtypes import DTYPE_LABELS, DType
from kernels.errors import KernelError
from kernels.slm_writer import WriteProgress

DONE, BAD_INPUT = 0, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left must not be written at exit either.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return DONE
    except KernelError as error:
        print(_describe(error), file=sys.stderr)
        return BAD_INPUT
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kernels")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_convert(commands.add_parser("convert", help="write a .slm model from another format"))
    _add_embedder(commands.add_parser("convert-embedder", help="write a text encoder as .slm"))
    _add_inspect(commands.add_parser("inspect", help="show what is inside a .slm model"))
    _add_fixtures(commands.add_parser("fixtures", help="write the seeded test models"))
    _add_generate(commands.add_parser("generate", help="continue a text"))
    _add_perplexity(commands.add_parser("perplexity", help="measure a model on a text"))
    return parser


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", help="a GGUF or .slm file, or a folder of safetensors")
    parser.add_argument("out", help="the .slm file; its manifest goes to OUT.json")
    parser.add_argument(
        "--dtype",
        choices=DTYPE_LABELS,
        default=DType.Q8_0.label,
        help="stored type of the matrices",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="leave matrices that are quantised already as they are, without loss",
    )
    parser.add_argument(
        "--block-size", type=int, help="weights a scale; default: row, or 32 (q4_0, q4_1)"
    )
    parser.add_argument(
        "--uniform", action="store_true", help="q4_0 for every matrix, not q8_0 for some"
    )
    parser.add_argument("--name", help="name of the model in its manifest")
    parser.add_argument("--origin", help="where the weights come from, in words")
    parser.set_defaults(run=_run_convert)


def _run_convert(options: argparse.Namespace) -> int:
    settings = ConvertSettings(
        dtype=DType[options.dtype.upper()],
        block_size=options.block_size,
        name=options.name,
        origin=options.origin,
        keeps_quantised=options.keep,
        is_uniform=options.uniform,
    )
    manifest = convert(options.source, options.out, settings, report=_show_progress)
    print(f"\r{options.out}: {manifest.file_bytes} bytes, sha256 {manifest.sha256}")
    return 0


def _show_progress(progress: WriteProgress) -> None:
    if sys.stderr.isatty():
        print(f"\r{progress.done}/{progress.total} tensors", end="", file=sys.stderr, flush=True)


def _add_embedder(parser: argparse.ArgumentParser) -> None:
    from kernels.embedder_command import add_embedder_arguments  # noqa: PLC0415

    add_embedder_arguments(parser)


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a .slm file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=_run_inspect)


def _run_inspect(options: argparse.Namespace) -> int:
    from kernels.inspect_model import inspect_file, write_report  # noqa: PLC0415

    print(write_report(inspect_file(Path(options.file)), as_json=options.json))
    return 0


def _add_fixtures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="where to write the models, manifests and SHA-256 list")
    parser.set_defaults(run=_run_fixtures)


def _run_fixtures(options: argparse.Namespace) -> int:
    from kernels.fixture_models import write_fixtures  # noqa: PLC0415

    for name, sha256 in write_fixtures(Path(options.folder)).items():
        print(f"{sha256}  {name}")
    return 0


def _add_generate(parser: argparse.ArgumentParser) -> None:
    from kernels.generate_command import add_generate_arguments  # noqa: PLC0415

    add_generate_arguments(parser)


def _add_perplexity(parser: argparse.ArgumentParser) -> None:
    from kernels.perplexity_command import add_perplexity_arguments  # noqa: PLC0415

    add_perplexity_arguments(parser)


def _describe(error: KernelError) -> str:
    place = f" at byte {error.offset}" if error.offset is not None else ""
    return f"{error.name} ({error.code}) in {error.field}{place}: {error.message}"


if __name__ == "__main__":
    sys.exit(main())
