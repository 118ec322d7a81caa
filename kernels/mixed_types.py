"""Name the matrices that four bits damage most.

Takes a tensor name. Gives whether a q4_0 file keeps it as q8_0 instead.
Does not know the tensor's values: the choice is the same for every model.
"""

from kernels.model_names import OUTPUT, TOKEN_EMBEDDINGS


def suffers_from_nibbles(name: str) -> bool:
    """Tell whether a matrix stays q8_0 in a file of q4_0."""
    return name in {TOKEN_EMBEDDINGS, OUTPUT}
