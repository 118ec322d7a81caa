"""Turn a dropped GGUF file into `.slm` bytes, without the whole of either in Python's memory.

Takes a byte source and a byte sink, gives progress and in the end the size and hash of what was
written. Errors of `kernels` come out as ours. Does not know where the bytes go.
"""

from collections.abc import Generator
from dataclasses import dataclass

from kernels.byte_source import ByteSink, ByteSource
from kernels.convert import ConvertSettings, convert_steps, plan_conversion, read_model_source
from kernels.errors import KernelError
from kernels.manifest import Manifest
from kernels.model_shape import ModelShape, read_model_shape
from kernels.slm_writer import WriteProgress
from py_core.chat.kernel_errors import translate_file_error
from py_core.errors import InvariantError


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """So many of so many tensors are written."""

    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What was written."""

    file_bytes: int
    sha256: str


_SETTINGS = ConvertSettings(keeps_quantised=True)


def read_import_shape(source: ByteSource, *, is_converted: bool) -> ModelShape:
    """Read what planning needs: of a `.slm` file, or of what one would be converted to.

    Raises:
        ModelFileError: the file is no model of a kind that is known.
    """
    try:
        if is_converted:
            return plan_conversion(read_model_source(source), _SETTINGS)
        return read_model_shape(source)
    except KernelError as error:
        raise translate_file_error(error) from error


def import_steps(source: ByteSource, sink: ByteSink) -> Generator[ImportProgress, None, Imported]:
    """Convert a model, pausing after each tensor: floats to q8_0, the rest as it is.

    Raises:
        ModelFileError: the file is no model of a kind that is known.
    """
    try:
        model = read_model_source(source)
        steps = convert_steps(model, sink, _SETTINGS)
        manifest = yield from _report(steps)
    except KernelError as error:
        raise translate_file_error(error) from error
    if manifest.sha256 is None or manifest.file_bytes is None:
        raise InvariantError(what="the manifest beside a converted file lacks its hash")
    return Imported(manifest.file_bytes, manifest.sha256)


def _report(
    steps: Generator[WriteProgress, None, Manifest],
) -> Generator[ImportProgress, None, Manifest]:
    """Pass the steps on in our own words."""
    while True:
        try:
            step = next(steps)
        except StopIteration as finished:
            manifest: Manifest = finished.value
            return manifest
        yield ImportProgress(step.done, step.total, step.name)
