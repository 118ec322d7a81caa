"""Hold at most one model: load, replace, free.

Takes a byte source and what the shell knows of the file; gives what it will need, progress step by
step and then the loaded model. A model that cannot fit is refused before anything is allocated. A
load that fails or is stopped leaves the old model in place, unless memory was too short for two:
then the old one is freed first and a notice says so. Errors of `kernels` come out as ours. Does not
know handles, messages or clocks.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from kernels.byte_source import ByteSource
from kernels.errors import KernelError
from kernels.memory_plan import MemoryPlan, OpSetName, plan_memory
from kernels.model_shape import ModelShape, read_model_shape
from kernels.reserved_memory import reserve
from kernels.slm_file import SlmFile, open_model
from py_core.chat.kernel_errors import translate_file_error
from py_core.chat.loaded_model import FileOrigin, LoadedModel, assemble_model
from py_core.chat.memory_room import Forecast, MemoryRoom
from py_core.chat.op_sets import (
    OP_SETS,
    EngineWish,
    OpSetChoice,
    OpSetHomes,
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
class CacheFallback:
    """The model keeps its keys and values otherwise than asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class OldModelFreed:
    """There was no room for two models."""

    text: str


LoadStep: TypeAlias = LoadProgress | OpSetFallback | CacheFallback | OldModelFreed


class ModelSession:
    """The place of the one model."""

    def __init__(self, room: MemoryRoom, op_sets: OpSetHomes = OP_SETS) -> None:
        """Start without a model; `op_sets` are the engines to choose from, best first."""
        self._model: LoadedModel | None = None
        self._plan: MemoryPlan | None = None
        self._room = room
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
        self._model = self._plan = None
        return True

    def forecast(self, shape: ModelShape, wish: EngineWish) -> Forecast:
        """Tell what loading a model will do to the memory; allocates nothing."""
        choice = choose_op_set(wish, shape.config, self._op_sets)
        return self._room.forecast(plan_memory(shape, choice.engine), self._plan)

    def load_steps(
        self, source: ByteSource, origin: FileOrigin, wish: EngineWish
    ) -> Generator[LoadStep, None, LoadedModel]:
        """Load a file beside the old model, then put it in the old one's place.

        Raises:
            ModelFileError: the file is refused.
            ModelTooLargeError: its weights do not fit, even alone.
        """
        try:
            shape = read_model_shape(source)
            choice = choose_op_set(wish, shape.config, self._op_sets)
            plan = plan_memory(shape, choice.engine)
            self._room.require(origin.name, plan)
            file = open_model(source, known_checksum=origin.known_checksum)
            yield from _say_fallbacks(choice)
            try:
                model = yield from self._load_within_memory(file, origin, choice, plan)
            except ModelTooLargeError:
                alone = choice.find_alone()
                if alone is None:
                    raise
                yield OpSetFallback(alone.op_set_notice)
                plan = plan_memory(shape, alone.engine)
                model = yield from self._load_within_memory(file, origin, alone, plan)
        except KernelError as error:
            raise translate_file_error(error) from error
        self.free()
        self._model, self._plan = model, plan
        return model

    def _load_within_memory(
        self, file: SlmFile, origin: FileOrigin, choice: OpSetChoice, plan: MemoryPlan
    ) -> Generator[LoadStep, None, LoadedModel]:
        if self._plan is None or self._room.holds_both(plan, self._plan):
            try:
                return (yield from _load_weights(file, origin, choice, plan))
            except MemoryError as error:
                if self._model is None:
                    raise _too_large(origin, plan) from error
        self.free()
        yield OldModelFreed("Memory is short: the model loaded before was freed first.")
        try:
            return (yield from _load_weights(file, origin, choice, plan))
        except MemoryError as error:
            raise _too_large(origin, plan) from error


def _say_fallbacks(choice: OpSetChoice) -> Generator[LoadStep, None, None]:
    if choice.op_set_notice:
        yield OpSetFallback(choice.op_set_notice)
    if choice.cache_notice:
        yield CacheFallback(choice.cache_notice)


def _load_weights(
    file: SlmFile, origin: FileOrigin, choice: OpSetChoice, plan: MemoryPlan
) -> Generator[LoadStep, None, LoadedModel]:
    reserve(plan.interpreter_bytes)
    ops = choice.make(file.config, choice.engine.cache_format)
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


def _too_large(origin: FileOrigin, plan: MemoryPlan) -> ModelTooLargeError:
    return ModelTooLargeError(name=origin.name, needed_bytes=plan.bytes_to_load)
