"""Parts of the kernel memory never overlap, and what is given back is used again."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kernels.simd.port import ALIGNMENT
from kernels.simd.regions import Regions

PAGE = 1 << 16


class GrowingEnd:
    """A memory that only remembers its end."""

    def __init__(self) -> None:
        self.end = PAGE

    def grow(self, missing: int) -> int:
        """Grow by whole pages."""
        self.end += -(-missing // PAGE) * PAGE
        return self.end


@given(
    sizes=st.lists(st.integers(0, 3 * PAGE), min_size=1, max_size=30),
    order=st.lists(st.integers(0, 100), max_size=30),
)
def test_regions_are_aligned_apart_and_inside(sizes, order):
    """Whatever is taken and given back in whatever order."""
    memory = GrowingEnd()
    regions = Regions(100, memory.end, memory.grow)
    taken: dict[int, int] = {}
    for size, choice in zip(sizes, order + [0] * len(sizes), strict=False):
        taken[regions.take(size)] = size
        if choice % 3 == 0:
            address = sorted(taken)[choice % len(taken)]
            regions.give_back(address)
            del taken[address]
        spans = sorted((start, start + length) for start, length in taken.items())
        assert all(start % ALIGNMENT == 0 and start >= 100 for start, _ in spans)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert not spans or spans[-1][1] <= memory.end


def test_what_is_given_back_is_used_before_the_memory_grows():
    """Neighbours are joined, so a larger region fits where two smaller ones were."""
    memory = GrowingEnd()
    regions = Regions(0, memory.end, memory.grow)
    first, second = regions.take(PAGE // 4), regions.take(PAGE // 4)
    regions.take(PAGE // 2)
    regions.give_back(second)
    regions.give_back(first)
    assert regions.take(PAGE // 2) == first
    assert memory.end == PAGE
    assert regions.used_bytes == PAGE
