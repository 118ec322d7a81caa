"""Which set of operations a model runs on, and how it keeps keys and values.

Takes the wish of the user, gives a way to make an op set for a header, and a sentence for each part
of the wish that could not be met. Knows the names of the op sets, not how weights get in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from kernels.kv_cache import CacheFormat
from kernels.memory_plan import Engine, OpSetName
from kernels.model_config import ModelConfig
from kernels.numpy_ops import NumpyOps
from kernels.ops import OpSet
from kernels.simd.kv_storage import FORMATS, KINDS, choose_kind
from kernels.simd.simd_ops import find_shape_fault
from py_core.chat.simd_engine import KernelShell, find_simd_home

OpSetWish = Literal["auto", "numpy", "simd"]
OpSetFactory = Callable[[ModelConfig, CacheFormat], OpSet]

_NARROW_HEADS = "The heads of this model do not suit an int8 KV cache; it is kept as f32."
_NO_SHARED_MEMORY = "The memory for threads could not grow; one thread uses Python's own memory."
_NUMPY_CACHE = "The numpy engine keeps its KV cache as f32; int8 needs the simd engine."


@dataclass(frozen=True, slots=True)
class EngineWish:
    """What a person chose for the next model.

    A finer cache than the one wished for needs no word; a larger one than int8 does.
    """

    op_set: OpSetWish = "auto"
    cache_format: CacheFormat = "int16"


@dataclass(frozen=True, slots=True)
class OpSetHome:
    """Where an op set runs: how to make one, and the most threads that it may use.

    `make_alone` makes one without threads, where their memory cannot be had.
    """

    make: OpSetFactory
    seats: int = 1
    make_alone: OpSetFactory | None = None


def make_numpy_ops(config: ModelConfig, _: CacheFormat) -> OpSet:
    """Make the op set that keeps everything as float32."""
    return NumpyOps(config)


OpSetHomes = Mapping[OpSetName, OpSetHome]
OP_SETS: OpSetHomes = {"numpy": OpSetHome(make_numpy_ops)}
"""What works everywhere."""


@dataclass(frozen=True, slots=True)
class OpSetChoice:
    """An engine, how to make its op set, and what to say where it is not the one hoped for."""

    engine: Engine
    make: OpSetFactory
    op_set_notice: str = ""
    cache_notice: str = ""
    make_alone: OpSetFactory | None = None

    def find_alone(self) -> "OpSetChoice | None":
        """Give the same engine without threads, where there is a choice."""
        if self.make_alone is None:
            return None
        return OpSetChoice(replace(self.engine, seats=1), self.make_alone, _NO_SHARED_MEMORY)


def list_op_sets(shell: KernelShell) -> OpSetHomes:
    """Give the op sets that run here, the best one first."""
    simd = find_simd_home(shell)
    return (
        OP_SETS
        if simd is None
        else {
            "simd": OpSetHome(simd.make, simd.seats, simd.make_alone),
            **OP_SETS,
        }
    )


def choose_op_set(
    wish: EngineWish, config: ModelConfig, available: OpSetHomes = OP_SETS
) -> OpSetChoice:
    """Choose the op set that was asked for, or the best one that can run the model."""
    if wish.op_set == "numpy":
        return _choose_numpy(wish, available, "")
    if "simd" not in available:
        notice = "The simd engine cannot run here; the slower numpy engine is used."
        return _choose_numpy(wish, available, notice if wish.op_set == "simd" else "")
    if fault := find_shape_fault(config):
        notice = f"The simd engine cannot run this model ({fault}); the numpy engine is used."
        return _choose_numpy(wish, available, notice)
    home, kind = available["simd"], KINDS[wish.cache_format]
    kept = FORMATS[choose_kind(config, kind)]
    return OpSetChoice(
        Engine("simd", kept, home.seats),
        home.make,
        make_alone=home.make_alone,
        cache_notice=_NARROW_HEADS if kept != wish.cache_format == "int8" else "",
    )


def _choose_numpy(wish: EngineWish, available: OpSetHomes, notice: str) -> OpSetChoice:
    cache_notice = _NUMPY_CACHE if wish.cache_format == "int8" else ""
    return OpSetChoice(Engine("numpy"), available["numpy"].make, notice, cache_notice)
