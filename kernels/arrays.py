"""Name the array types that the kernels exchange.

Takes and gives nothing at run time. Does not know shapes: those are in the docstrings.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

F32: TypeAlias = NDArray[np.float32]
F64: TypeAlias = NDArray[np.float64]
I32: TypeAlias = NDArray[np.int32]
Mask: TypeAlias = NDArray[np.bool_]
