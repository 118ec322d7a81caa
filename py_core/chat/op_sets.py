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

OpSetWish = Literal["auto", "numpy", "simd"]
OpSetFactory = Callable[[ModelConfig], OpSet]

OP_SETS: Mapping[OpSetName, OpSetFactory] = {"numpy": NumpyOps}
"""Best first; the last one works everywhere."""


@dataclass(frozen=True, slots=True)
class OpSetChoice:
    """An op set by name, how to make it, and what to say when it is not the one asked for."""

    name: OpSetName
    make: OpSetFactory
    notice: str


def choose_op_set(
    wish: OpSetWish, available: Mapping[OpSetName, OpSetFactory] = OP_SETS
) -> OpSetChoice:
    """Choose the op set that was asked for, or the best one there is."""
    best = next(iter(available))
    name: OpSetName = best if wish == "auto" else wish
    if name in available:
        return OpSetChoice(name, available[name], "")
    notice = f"The {name} engine is not available here; the {best} engine is used."
    return OpSetChoice(best, available[best], notice)
