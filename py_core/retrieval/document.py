"""A record as search sees it: text, place in a conversation, who said it, when.

Takes a record, gives one frozen document. Does not know terms, scores or tiers.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from py_core.identity import sha256_hex
from py_core.records.kinds import Record, RoleTaggedMessage

NO_THREAD = ""
_TURN_PLACES = 2
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Document:
    """What is indexed of one record.

    Attributes:
        document_id: The record's id.
        text: What is searched, title and facts included.
        observed: When it was said or seen, aware UTC.
        author: Who said it, as named in the conversation; empty when nobody is known.
        thread: Conversation or session inside which neighbours are looked for; may be empty.
        position: Place inside the thread.
    """

    document_id: str
    text: str
    observed: datetime
    author: str = ""
    thread: str = NO_THREAD
    position: int = 0

    @property
    def observed_seconds(self) -> int:
        """Whole seconds since 1970, negative before."""
        gap = self.observed - _EPOCH
        return gap.days * 86_400 + gap.seconds

    @property
    def fingerprint(self) -> str:
        """Hash of all that the index keeps of the document."""
        parts = (
            self.document_id,
            self.text,
            str(self.observed_seconds),
            self.author,
            self.thread,
            str(self.position),
        )
        return sha256_hex("\x1f".join(parts).encode("utf-8", "surrogatepass"))


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def write_date(time: datetime) -> str:
    """Write a date in words, so that a question about "8 May 2023" meets it.

    Month names are spelt here: the platform's own follow its language.
    """
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}"


def read_document(record: Record) -> Document:
    """Give a record's document.

    Turns know their neighbours; other records have none, since two facts that were remembered one
    after the other need not have anything to do with each other.
    """
    facts = " ".join(f"{fact.slot.replace('_', ' ')} {fact.value}" for fact in record.facts)
    text = " ".join(part for part in (record.subject, record.text, facts) if part)
    if isinstance(record, RoleTaggedMessage):
        payload = record.payload
        return Document(
            document_id=record.record_id,
            text=text,
            observed=record.observation_time,
            author=payload.role,
            thread=payload.conversation,
            position=payload.turn * _TURN_PLACES + (payload.role == "assistant"),
        )
    return Document(record.record_id, text, record.observation_time, author="user")
