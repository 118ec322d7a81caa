"""The conversation so far, as far as prompts are made of it.

Takes finished pairs, gives them back oldest first. The list of messages on the page is another
thing and lives there. Does not know models or tokens.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from py_core.chat.message_ids import name_message
from py_core.chat.turn_records import NO_TIME, Attachment, Exchange


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
        self._revisions: dict[int, int] = {}

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All pairs, oldest first."""
        return self._exchanges

    @property
    def next_number(self) -> int:
        """The number of the turn that comes next."""
        return self._next_number

    def mark_revision(self, revision: int) -> None:
        """Note the memory's revision at which the coming message was said."""
        self._revisions[self._next_number] = revision

    def find_revision(self, message_id: str) -> int:
        """Give the memory's revision when a message was said; 0 when that is not known."""
        for number, revision in self._revisions.items():
            if message_id == name_message(self.session_key, number, "user"):
                return revision
        return 0

    def find_text(self, message_id: str) -> str:
        """Give what the user said in a message; nothing when it is not among the pairs."""
        for exchange in self._exchanges:
            if message_id == name_message(self.session_key, exchange.number, "user"):
                return exchange.user_text
        return ""

    def settle_time(self, clock: datetime) -> datetime:
        """Give the time of the coming message: never before the last one, whatever the clock."""
        return max((clock, *(exchange.said_at for exchange in self._exchanges[-1:])))

    def record(
        self,
        user_text: str,
        assistant_text: str,
        attachments: Sequence[Attachment] = (),
        *,
        said_at: datetime = NO_TIME,
        used_ids: tuple[str, ...] = (),
    ) -> None:
        """Append a finished or stopped pair with what its message and its answer were made with."""
        exchange = Exchange(
            self._next_number,
            user_text,
            assistant_text,
            tuple(attachments),
            said_at=said_at,
            used_ids=used_ids,
        )
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
