"""Convert a model to `.slm`, tensor by tensor.

Takes a GGUF or `.slm` byte source, or a path to one of these or to a safetensors folder.
Gives the `.slm` bytes to a sink and the manifest that belongs beside them. The same input and
settings give the same bytes on every machine. Does not know who shows the progress.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kernels.byte_source import ByteSink, ByteSource, FileSink, FileSource, HashingSink, read_bytes
from kernels.dtypes import DType
from kernels.errors import ErrorCode, kernel_error
from kernels.gguf_file import MAGIC as GGUF_MAGIC
from kernels.gguf_model import read_gguf_model
from kernels.manifest import Manifest
from kernels.mixed_types import suffers_from_nibbles
from kernels.model_shape import ModelShape, StoredShape
from kernels.model_source import ModelSource, SlmRows
from kernels.safetensors_model import open_safetensors_model
from kernels.slm_file import open_model
from kernels.slm_layout import MAGIC as SLM_MAGIC
from kernels.slm_plan import StoredRows, TensorPlan, TensorRows
from kernels.slm_writer import WriteProgress, write_steps

MANIFEST_SUFFIX = ".json"
NIBBLE_BLOCK = 32


@dataclass(frozen=True, slots=True)
class ConvertSettings:
    """How to store the weights and what to call the model.

    Attributes:
        dtype: Stored type of the matrices; vectors (the norms) always stay f32, which costs
            little and loses nothing. q4_0 is for the matrices that bear it; see `is_uniform`.
        block_size: Weights that share a scale; None means the whole row for q8_0, as in SLM1, and
            32 for q4_0 and q4_1.
        name: Name in the manifest; None keeps the source's own.
        origin: Where the weights come from; None keeps the source's own words.
        keeps_quantised: Whether matrices that are quantised already, in a type that `.slm` has,
            pass as they are: nothing is lost. `dtype` is then for the others.
        is_uniform: Whether q4_0 is for every matrix, also for those of `kernels.mixed_types` that
            would otherwise be q8_0 with row scales.
    """

    dtype: DType = DType.Q8_0
    block_size: int | None = None
    name: str | None = None
    origin: str | None = None
    keeps_quantised: bool = False
    is_uniform: bool = False


def convert(
    source_path: str | os.PathLike[str],
    out_path: str | os.PathLike[str],
    settings: ConvertSettings,
    *,
    report: Callable[[WriteProgress], None] | None = None,
) -> Manifest:
    """Convert a file or folder and write `OUT` and `OUT.json`; neither is ever half-written.

    Raises:
        KernelError: When the source cannot be read or converted, or the result not written.
    """
    out = Path(out_path)
    with open_model_source(source_path) as model, FileSink(out) as sink:
        steps = convert_steps(model, sink, settings)
        manifest = _drain(steps, report)
    with FileSink(out.with_name(out.name + MANIFEST_SUFFIX)) as sink:
        sink.write((manifest.to_json() + "\n").encode())
    return manifest


def convert_steps(
    model: ModelSource, sink: ByteSink, settings: ConvertSettings
) -> Generator[WriteProgress, None, Manifest]:
    """Write the `.slm` to a sink, pausing after each tensor; returns the manifest beside it."""
    plans = [_plan(name, rows, settings) for name, rows in model.tensors.items()]
    manifest = replace(
        model.manifest,
        name=settings.name or model.manifest.name,
        origin=settings.origin or model.manifest.origin,
        dtype=_main_dtype(plans).label,
    )
    hashing = HashingSink(sink)
    yield from write_steps(hashing, model.config, model.tokenizer_section, plans, manifest)
    return manifest.beside(hashing.sha256, hashing.length_bytes)


def plan_conversion(model: ModelSource, settings: ConvertSettings) -> ModelShape:
    """Tell what the converted file will hold, before any weight is produced."""
    plans = (_plan(name, rows, settings) for name, rows in model.tensors.items())
    shapes = (
        StoredShape(plan.name, plan.dtype, plan.rows.shape, plan.block_size) for plan in plans
    )
    return ModelShape(model.config, tuple(shapes), len(model.tokenizer_section))


def read_model_source(source: ByteSource) -> ModelSource:
    """Recognise a GGUF or `.slm` source by its first four bytes and open it.

    Raises:
        KernelError: `invalid_model_magic` when it is neither; otherwise as the format's reader.
    """
    magic = read_bytes(source, 0, min(len(SLM_MAGIC), source.size))
    if magic == GGUF_MAGIC:
        return read_gguf_model(source)
    if magic == SLM_MAGIC:
        return _from_slm(source)
    text = "The file is neither GGUF nor SLM1; choose a model in one of these formats."
    raise kernel_error(ErrorCode.INVALID_MODEL_MAGIC, "magic", text, offset=0)


@contextmanager
def open_model_source(path: str | os.PathLike[str]) -> Iterator[ModelSource]:
    """Open a file, or a folder with safetensors weights, for as long as the block runs."""
    if Path(path).is_dir():
        with open_safetensors_model(path) as model:
            yield model
    else:
        with FileSource(path) as source:
            yield read_model_source(source)


def _from_slm(source: ByteSource) -> ModelSource:
    model = open_model(source)
    manifest = model.manifest or Manifest(
        name="model",
        origin="a .slm file without a manifest",
        licence="not stated",
        parameters=model.parameters,
        dtype=model.dtype.label,
    )
    tensors = {name: SlmRows(model, name) for name in model.entries}
    return ModelSource(model.config, model.tokenizer_section, tensors, manifest)


def _plan(name: str, rows: TensorRows, settings: ConvertSettings) -> TensorPlan:
    stored = rows.stored_as if isinstance(rows, StoredRows) else None
    if settings.keeps_quantised and stored is not None and stored[0] != DType.F32:
        return TensorPlan(name, *stored, rows)
    if settings.dtype == DType.F32 or len(rows.shape) == 1:
        return TensorPlan(name, DType.F32, 0, rows)
    if settings.dtype == DType.Q4_0 and not settings.is_uniform and suffers_from_nibbles(name):
        return TensorPlan(name, DType.Q8_0, rows.shape[-1], rows)
    default = rows.shape[-1] if settings.dtype == DType.Q8_0 else NIBBLE_BLOCK
    return TensorPlan(name, settings.dtype, settings.block_size or default, rows)


def _main_dtype(plans: Sequence[TensorPlan]) -> DType:
    """Return the stored type of most weights."""
    totals: Counter[DType] = Counter()
    for plan in plans:
        totals[plan.dtype] += math.prod(plan.rows.shape)
    return totals.most_common(1)[0][0]


def _drain(
    steps: Generator[WriteProgress, None, Manifest], report: Callable[[WriteProgress], None] | None
) -> Manifest:
    while True:
        try:
            progress = next(steps)
        except StopIteration as stop:
            manifest: Manifest = stop.value
            return manifest
        if report is not None:
            report(progress)
