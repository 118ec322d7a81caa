"""The conversation so far, as far as prompts are made of it.

Takes finished pairs, gives them back oldest first. The list of messages on the page is another
thing and lives there. Does not know models or tokens.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from py_core.chat.turn_records import Attachment, Exchange


class Transcript:
    """Pairs of user text and answer, numbered from 1 and never renumbered."""

    def __init__(self, session_key: str = "conversation") -> None:
        """Start empty.

        Args:
            session_key: keys the boundary marks of this conversation; the shell draws it.
        """
        self.session_key = session_key
        self._exchanges: tuple[Exchange, ...] = ()
        self._next_number = 1

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All pairs, oldest first."""
        return self._exchanges

    @property
    def next_number(self) -> int:
        """The number of the turn that comes next."""
        return self._next_number

    def record(
        self, user_text: str, assistant_text: str, attachments: Sequence[Attachment] = ()
    ) -> None:
        """Append a finished or stopped pair with what was attached to its message."""
        number, attached = self._next_number, tuple(attachments)
        exchange = Exchange(number, user_text, assistant_text, attached)
        self._exchanges = (*self._exchanges, exchange)
        self._next_number += 1

    @contextmanager
    def replacing_last(self, *, is_asked: bool) -> Iterator[None]:
        """Leave out the last pair, so that its number is given anew; a failure brings it back."""
        before = self._exchanges, self._next_number
        if is_asked and self._exchanges:
            self._next_number = self._exchanges[-1].number
            self._exchanges = self._exchanges[:-1]
        try:
            yield
        except BaseException:
            self._exchanges, self._next_number = before
            raise

    def clear(self) -> int:
        """Forget every pair; give how many there were."""
        count = len(self._exchanges)
        self._exchanges = ()
        return count
