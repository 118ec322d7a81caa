"""Which memories this conversation has already been shown: the Active Memory Log.

Takes what entered each prompt, gives for a later one whether a record is new, changed, or known
and unchanged. In memory only, and purged with the conversation. Does not know texts.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Injection:
    """One showing of a record."""

    conversation: str
    intent: str
    record_id: str
    content_identity: str
    turn: int
    score: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What the log says about a record in this conversation."""

    last_turn: int
    showings: int
    is_unchanged: bool
    same_question: bool
    last_score: int


class InjectionLedger:
    """The log of one tab."""

    def __init__(self) -> None:
        """Begin empty."""
        self._by_key: dict[tuple[str, str, str], Injection] = {}
        self._by_record: dict[tuple[str, str], dict[str, Injection]] = {}
        """Conversation and record to intent to showing."""

        self._showings: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        """Count the rows."""
        return len(self._by_key)

    def note(self, injections: Iterable[Injection]) -> None:
        """Write down what entered a prompt that was answered."""
        for injection in injections:
            key = (injection.conversation, injection.intent, injection.record_id)
            self._by_key[key] = injection
            pair = (injection.conversation, injection.record_id)
            self._by_record.setdefault(pair, {})[injection.intent] = injection
            self._showings[pair] = self._showings.get(pair, 0) + 1

    def find(
        self, conversation: str, intent: str, record_id: str, content_identity: str
    ) -> Seen | None:
        """Tell when a record was last shown in this conversation, for whatever question."""
        by_intent = self._by_record.get((conversation, record_id), {})
        rows = list(by_intent.values())
        if not rows:
            return None
        last = max(rows, key=lambda row: (row.turn, row.intent))
        return Seen(
            last_turn=last.turn,
            showings=self._showings[(conversation, record_id)],
            is_unchanged=last.content_identity == content_identity,
            same_question=intent in by_intent,
            last_score=last.score,
        )

    def list_references(
        self, conversation: str, intent: str, identities: Iterable[tuple[str, str]]
    ) -> dict[str, int]:
        """Give the records that were shown for this very question and have not changed.

        For another question a record is shown in full again: what the earlier answer made of it
        need not hold what is asked now.

        Args:
            conversation: The conversation that asks.
            intent: Identity of what is looked for.
            identities: Record id and content identity of each candidate.

        Returns:
            Record id to the turn in which it was shown last. Whether the answer of that turn is
            still in the prompt is for the compiler to see; a reference to nothing says nothing.
        """
        found = {}
        for record_id, content_identity in identities:
            row = self._by_key.get((conversation, intent, record_id))
            if row is not None and row.content_identity == content_identity:
                found[record_id] = row.turn
        return found

    def purge(self, conversation: str | None = None) -> int:
        """Forget a conversation, or all; count the rows that went."""
        gone = [key for key in self._by_key if conversation in (None, key[0])]
        for key in gone:
            del self._by_key[key]
        self._by_record = {
            pair: rows
            for pair, rows in self._by_record.items()
            if conversation is not None and pair[0] != conversation
        }
        self._showings = {
            pair: count
            for pair, count in self._showings.items()
            if conversation is not None and pair[0] != conversation
        }
        return len(gone)

    def forget_from(self, conversation: str, turn: int) -> None:
        """Forget what was shown in a turn and later: its answer is made anew."""
        for key, row in list(self._by_key.items()):
            if row.conversation == conversation and row.turn >= turn:
                del self._by_key[key]
                pair = (conversation, row.record_id)
                del self._by_record[pair][row.intent]
                self._showings[pair] -= 1

    def rows(self) -> tuple[Injection, ...]:
        """Give all rows in a fixed order, for the page."""
        return tuple(self._by_key[key] for key in sorted(self._by_key))
