"""Name the code that computes, so that what one build computed is never taken for another's.

Takes the name of an op set. Gives a text that changes when its results may: the hash of the built
module for simd, the version and the way of multiplying for numpy. Does not know models.
"""

import hashlib
import sys
from functools import cache

import numpy as np

from kernels.layers import products_for
from kernels.simd.module_bytes import MODULES, read_module


@cache
def name_engine(op_set: str) -> str:
    """Give the identity of an op set's code.

    Example: `numpy 2.4.3 matmul`, or `simd` with 64 hexadecimal digits.
    """
    if op_set != "simd":
        return f"{op_set} {np.__version__} {products_for(sys.platform).name}"
    digest = hashlib.sha256()
    for name in MODULES:
        digest.update(read_module(name))
    return f"simd {digest.hexdigest()}"
