"""The conversation so far, as far as prompts are made of it.

Takes finished pairs, gives them back oldest first. The list of messages on the page is another
thing and lives there. Does not know models or tokens.
"""

from py_core.compiler.request import Exchange


class Transcript:
    """Pairs of user text and answer, numbered from 1 and never renumbered."""

    def __init__(self) -> None:
        """Start empty."""
        self._exchanges: tuple[Exchange, ...] = ()
        self._next_number = 1

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All pairs, oldest first."""
        return self._exchanges

    def record(self, user_text: str, assistant_text: str) -> None:
        """Append a finished or stopped pair."""
        exchange = Exchange(self._next_number, user_text, assistant_text)
        self._exchanges = (*self._exchanges, exchange)
        self._next_number += 1

    def clear(self) -> int:
        """Forget every pair; give how many there were."""
        count = len(self._exchanges)
        self._exchanges = ()
        return count
