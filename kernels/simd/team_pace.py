"""Decide for each single token whether the team computes it or this thread alone.

Takes how long tokens took either way. Gives the faster way, and now and then the other one, since
the machine's other work comes and goes: a team whose threads have to share a core is slower than
one thread. Either way gives the same bits. Does not know clocks, threads or models.
"""

from collections import deque
from statistics import median

_REMEMBERED = 3
_EVERY = 32
"""Tokens after which the slower way is tried again, as often as is remembered."""


class TeamPace:
    """The last times of both ways."""

    def __init__(self) -> None:
        self._seconds = {is_team: deque[float](maxlen=_REMEMBERED) for is_team in (True, False)}
        self._tokens = 0

    def wants_team(self) -> bool:
        """Tell which way the next token should go."""
        is_trial = self._tokens % _EVERY < _REMEMBERED
        self._tokens += 1
        if not self._seconds[True]:
            return True
        is_team_better = not self._seconds[False] or median(self._seconds[True]) <= median(
            self._seconds[False]
        )
        return is_team_better != is_trial

    def note(self, seconds: float, *, is_team: bool) -> None:
        """Hear how long a token took."""
        self._seconds[is_team].append(seconds)
