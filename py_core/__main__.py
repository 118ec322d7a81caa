"""The command line of the core: `python -m py_core compile | verify | schema`.

Takes arguments and files, prints answers. Exit codes: 0 done, 1 a negative result, 2 bad input
with one line on standard error. Only this module opens files and model files.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kernels.byte_source import FileSource
from kernels.errors import KernelError
from kernels.slm_file import open_model
from kernels.tokenizer import load_tokenizer
from py_core.chat.loaded_model import cuts_words, read_template
from py_core.chat.token_counter import ModelTokenCounter
from py_core.commands.answer import BAD_INPUT, DONE, Answer
from py_core.commands.compile_command import compile_command
from py_core.commands.counting import ModelCounting
from py_core.commands.schema_command import write_schemas
from py_core.commands.verify_command import verify_command


class _FileRefusedError(Exception):
    """A file could not be read."""

    def __init__(self, *, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    options = _make_parser().parse_args(arguments)
    try:
        answer = _run(options)
    except _FileRefusedError as error:
        answer = Answer(BAD_INPUT, "", f"{error}\n")
    sys.stderr.write(answer.complaint.encode("ascii", "backslashreplace").decode())
    try:
        # Bytes, so that the output does not depend on the locale.
        sys.stdout.buffer.write(answer.output.encode("utf-8"))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has seen enough; what is left must not be written at exit either.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    return answer.code


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m py_core", description="Tinyloom's core.")
    commands = parser.add_subparsers(dest="command", required=True)
    compiling = commands.add_parser("compile", help="compile a request file into a plan")
    compiling.add_argument("request", type=Path, help="request file, or a fixture with a request")
    compiling.add_argument("--model", type=Path, help="count with the tokenizer of this .slm file")
    compiling.add_argument("--json", action="store_true", help="print plan, ids and receipt")
    verifying = commands.add_parser("verify", help="compile again and compare with a receipt")
    verifying.add_argument("receipt", type=Path)
    verifying.add_argument("request", type=Path)
    verifying.add_argument("--model", type=Path, help="count with the tokenizer of this .slm file")
    schemas = commands.add_parser("schema", help="write the JSON Schemas of records and plans")
    schemas.add_argument("folder", type=Path)
    return parser


def _run(options: argparse.Namespace) -> Answer:
    match options.command:
        case "compile":
            model = _open_model(options.model)
            data = _read(options.request)
            return compile_command(str(options.request), data, model, as_json=options.json)
        case "verify":
            model = _open_model(options.model)
            receipt = (str(options.receipt), _read(options.receipt))
            return verify_command(receipt, (str(options.request), _read(options.request)), model)
        case _:
            return _write_schemas(options.folder)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _FileRefusedError(path=path, why=f"file: {error.strerror}.") from error


def _open_model(path: Path | None) -> ModelCounting | None:
    if path is None:
        return None
    try:
        with FileSource(path) as source:
            file = open_model(source)
            tokenizer = load_tokenizer(file.tokenizer_section, file.manifest)
    except OSError as error:
        raise _FileRefusedError(path=path, why=f"file: {error.strerror}.") from error
    except KernelError as error:
        raise _FileRefusedError(path=path, why=f"{error.field}: {error}") from error
    counter = ModelTokenCounter(tokenizer, cuts_words=cuts_words(tokenizer, file.manifest))
    template = read_template(file.manifest)
    return ModelCounting(counter, template, file.config.max_context, _hash_file(path))


def _hash_file(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_schemas(folder: Path) -> Answer:
    folder.mkdir(parents=True, exist_ok=True)
    texts = write_schemas()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Answer(DONE, f"{len(texts)} schemas in {folder}\n")


if __name__ == "__main__":
    sys.exit(main())
