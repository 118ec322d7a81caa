"""Hold at most one model: load, replace, free.

Takes a byte source and what the shell knows of the file; gives progress step by step and then
the loaded model. A load that fails or is stopped leaves the old model in place, unless memory was
too short for two: then the old one is freed first and a notice says so. Errors of `kernels` come
out as ours. Does not know handles, messages or clocks.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kernels.byte_source import ByteSource
from kernels.errors import KernelError
from kernels.memory_plan import OpSetName, plan_memory
from kernels.slm_file import SlmFile, open_model
from py_core.chat.kernel_errors import translate_file_error
from py_core.chat.loaded_model import FileOrigin, LoadedModel, assemble_model
from py_core.chat.op_sets import (
    OP_SETS,
    OpSetChoice,
    OpSetFactory,
    OpSetWish,
    choose_op_set,
)
from py_core.errors import ModelNotLoadedError, ModelTooLargeError


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """So many of so many tensors are in place."""

    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class OpSetFallback:
    """The model runs on another op set than the one asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class OldModelFreed:
    """There was no room for two models."""

    text: str


LoadStep: TypeAlias = LoadProgress | OpSetFallback | OldModelFreed


class ModelSession:
    """The place of the one model."""

    def __init__(self, op_sets: Mapping[OpSetName, OpSetFactory] = OP_SETS) -> None:
        """Start without a model; `op_sets` are the engines to choose from, best first."""
        self._model: LoadedModel | None = None
        self._op_sets = op_sets

    @property
    def op_set_names(self) -> tuple[OpSetName, ...]:
        """The engines to choose from, best first."""
        return tuple(self._op_sets)

    @property
    def model(self) -> LoadedModel | None:
        """The loaded model, if any."""
        return self._model

    def require_model(self) -> LoadedModel:
        """Give the model.

        Raises:
            ModelNotLoadedError: there is none.
        """
        if self._model is None:
            raise ModelNotLoadedError
        return self._model

    def free(self) -> bool:
        """Let go of the model; tell whether there was one."""
        if self._model is None:
            return False
        self._model.ops.close()
        self._model = None
        return True

    def load_steps(
        self, source: ByteSource, origin: FileOrigin, wish: OpSetWish
    ) -> Generator[LoadStep, None, LoadedModel]:
        """Load a file beside the old model, then put it in the old one's place.

        Raises:
            ModelFileError: the file is refused.
            ModelTooLargeError: its weights do not fit, even alone.
        """
        try:
            file = open_model(source)
            choice = choose_op_set(wish, file.config, self._op_sets)
            if choice.notice:
                yield OpSetFallback(choice.notice)
            model = yield from self._load_within_memory(file, origin, choice)
        except KernelError as error:
            raise translate_file_error(error) from error
        self.free()
        self._model = model
        return model

    def _load_within_memory(
        self, file: SlmFile, origin: FileOrigin, choice: OpSetChoice
    ) -> Generator[LoadStep, None, LoadedModel]:
        try:
            return (yield from _load_weights(file, origin, choice))
        except MemoryError as error:
            if not self.free():
                raise _too_large(file, origin, choice.name) from error
        yield OldModelFreed("Memory is short: the model loaded before was freed first.")
        try:
            return (yield from _load_weights(file, origin, choice))
        except MemoryError as error:
            raise _too_large(file, origin, choice.name) from error


def _load_weights(
    file: SlmFile, origin: FileOrigin, choice: OpSetChoice
) -> Generator[LoadStep, None, LoadedModel]:
    ops = choice.make(file.config)
    is_complete = False
    try:
        for step in ops.load(file):
            yield LoadProgress(step.done, step.total, step.name)
        model = assemble_model(file, ops, origin)
        is_complete = True
        return model
    finally:
        # Also when the consumer closes this generator to stop the load.
        if not is_complete:
            ops.close()


def _too_large(file: SlmFile, origin: FileOrigin, op_set: OpSetName) -> ModelTooLargeError:
    sizes = [entry.stored_bytes for entry in file.entries.values()]
    plan = plan_memory(
        file.config, op_set, stored_bytes=sum(sizes), largest_tensor_bytes=max(sizes)
    )
    return ModelTooLargeError(name=origin.name, needed_bytes=plan.bytes_for(plan.kv_first_tokens))
