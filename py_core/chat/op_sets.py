"""Which set of operations a model runs on.

Takes the wish of the user, gives a way to make an op set for a header, and a sentence when the wish
could not be met. Knows the names of the op sets, not how weights get in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from kernels.memory_plan import OpSetName
from kernels.model_config import ModelConfig
from kernels.numpy_ops import NumpyOps
from kernels.ops import OpSet
from kernels.simd.simd_ops import find_shape_fault
from py_core.chat.simd_engine import KernelShell, find_simd_factory

OpSetWish = Literal["auto", "numpy", "simd"]
OpSetFactory = Callable[[ModelConfig], OpSet]

OP_SETS: Mapping[OpSetName, OpSetFactory] = {"numpy": NumpyOps}
"""What works everywhere."""


@dataclass(frozen=True, slots=True)
class OpSetChoice:
    """An op set by name, how to make it, and what to say when it is not the one hoped for."""

    name: OpSetName
    make: OpSetFactory
    notice: str


def list_op_sets(shell: KernelShell) -> Mapping[OpSetName, OpSetFactory]:
    """Give the op sets that run here, the best one first."""
    simd = find_simd_factory(shell)
    return OP_SETS if simd is None else {"simd": simd, **OP_SETS}


def choose_op_set(
    wish: OpSetWish, config: ModelConfig, available: Mapping[OpSetName, OpSetFactory] = OP_SETS
) -> OpSetChoice:
    """Choose the op set that was asked for, or the best one that can run the model."""
    if wish == "numpy" or "simd" not in available:
        notice = "The simd engine cannot run here; the slower numpy engine is used."
        return OpSetChoice("numpy", available["numpy"], notice if wish == "simd" else "")
    if fault := find_shape_fault(config):
        notice = f"The simd engine cannot run this model ({fault}); the numpy engine is used."
        return OpSetChoice("numpy", available["numpy"], notice)
    return OpSetChoice("simd", available["simd"], "")
