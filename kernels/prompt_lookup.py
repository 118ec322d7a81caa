"""Guess the next ids by what followed the same ids before.

Takes the ids of a run as they become known. Gives guesses, which the caller checks: a wrong guess
costs time and never changes an answer. Does not know models or logits.
"""

from collections.abc import Sequence

LENGTHS = (3, 2)
"""How many last ids are looked up, the longest first."""

PATIENCE = 12
"""Wrong guesses over right ones after which no more are made in a run."""


class PromptLookup:
    """An index of where short sequences were last seen.

    Args:
        ids: the prompt.
        most: guesses at a time; 0 turns guessing off.
    """

    def __init__(self, ids: Sequence[int], most: int) -> None:
        self._most = most
        self._ids: list[int] = []
        self._followers: dict[tuple[int, ...], int] = {}
        self._balance = PATIENCE
        if most:
            self.extend(ids)

    def extend(self, ids: Sequence[int]) -> None:
        """Take ids that are now part of the text."""
        for token in ids if self._most else ():
            for length in LENGTHS:
                if len(self._ids) >= length:
                    # What is already known was followed by this id.
                    self._followers[tuple(self._ids[-length:])] = len(self._ids)
            self._ids.append(token)

    def guess(self, room: int) -> list[int]:
        """Give at most `room` ids that followed the last ones before, or none."""
        most = min(self._most, room)
        if most < 1 or self._balance < 0:
            return []
        for length in LENGTHS:
            place = self._followers.get(tuple(self._ids[-length:]))
            if place is not None and len(self._ids) >= length:
                return self._ids[place : place + most]
        return []

    def judge(self, *, right: int, wrong: int) -> None:
        """Hear how many guesses held; after too many that did not, there are no more."""
        self._balance = min(PATIENCE, self._balance + right - wrong)
