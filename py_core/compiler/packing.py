"""Choose records for a room of tokens so that a larger room never loses one.

Takes items in rank order with their lane and cost, gives the longest beginning of one fixed order
that fits. Such a beginning is the only rule with that promise: whoever skips an item that does not
fit today has to give its place back when it fits tomorrow. Does not know texts or tiers.

The order weaves the lanes: the next item comes from the lane that has had least of its share, the
stronger item first where lanes have had the same. Lanes that run out leave their share to others.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
SHARE_SCALE = 1_000_000


@dataclass(frozen=True, slots=True)
class Packed(Generic[Item]):
    """The items that fit, the one that was too much if any, and what the chosen ones cost."""

    chosen: tuple[Item, ...]
    blocked: Item | None
    cost_tokens: int


class _LaneQueue(Generic[Item]):
    """One lane: its items, how many are gone, and what those cost."""

    def __init__(
        self, items: Sequence[tuple[int, Item]], share: int, cost: Callable[[Item], int]
    ) -> None:
        self._items = items
        self._share = max(1, share)
        self._cost = cost
        self._next = 0
        self._taken = 0

    @property
    def is_empty(self) -> bool:
        return self._next == len(self._items)

    @property
    def turn(self) -> tuple[int, int]:
        """How much of its share the lane has had, and the rank of its next item."""
        return self._taken * SHARE_SCALE // self._share, self._items[self._next][0]

    def take(self) -> Item:
        _, item = self._items[self._next]
        self._taken += self._cost(item)
        self._next += 1
        return item


def weave_lanes(
    lanes: Mapping[str, Sequence[tuple[int, Item]]],
    shares: Mapping[str, int],
    cost: Callable[[Item], int],
) -> Iterator[Item]:
    """Merge lanes so that each gets tokens in proportion to its share.

    Costs are asked for lazily: an item deep in a lane is never counted for nothing.

    Args:
        lanes: items with their rank over all lanes, best first; ranks differ.
        shares: of each lane.
        cost: of an item in tokens.

    Example:
        shares 60 and 40, items of 10 tokens, a the strongest: a b a b a a b a b a
    """
    queues = [_LaneQueue(items, shares[name], cost) for name, items in lanes.items() if items]
    while queues:
        first = min(queues, key=lambda queue: queue.turn)
        yield first.take()
        if first.is_empty:
            queues.remove(first)


def pack_beginning(
    items: Iterable[Item], room_tokens: int, cost: Callable[[Item], int]
) -> Packed[Item]:
    """Take items until one does not fit; that one and all behind it stay out."""
    chosen: list[Item] = []
    used = 0
    for item in items:
        needed = cost(item)
        if used + needed > room_tokens:
            return Packed(tuple(chosen), item, used)
        chosen.append(item)
        used += needed
    return Packed(tuple(chosen), None, used)
