"""What can be asked of the memory, as plain values.

Takes nothing, gives frozen types. A change is a wish: `decide_change` shows what would come of it
or makes it so. Does not know the ledger.
"""

from dataclasses import dataclass, field
from typing import Literal

from py_core.records.kinds import ShortTermSummary

KeepRule = Literal["forever", "session", "until"]


@dataclass(frozen=True, slots=True)
class Keep:
    """How long a record is kept; `until` is a time in UTC for that rule only."""

    rule: KeepRule = "forever"
    until: str = ""


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep a text that the user said or pointed at.

    Attributes:
        sources: the messages it comes from, when a button on a message was used.
        blacken: take secrets out instead of refusing the text.
        subject: what it is about; empty for the user.
    """

    text: str
    sources: tuple[str, ...] = ()
    subject: str = ""
    scope: str = "user"
    scope_id: str = "default"
    sensitivity: str = "internal"
    keep: Keep = field(default_factory=Keep)
    blacken: bool = False


@dataclass(frozen=True, slots=True)
class Confirm:
    """The user agrees with an inference, or has reviewed a summary."""

    record_id: str


@dataclass(frozen=True, slots=True)
class Reject:
    """The user does not want an inference; with `never`, nothing like it is suggested again."""

    record_id: str
    never: bool = False


@dataclass(frozen=True, slots=True)
class Correct:
    """Put other words in the place of a record; a pending one is confirmed by that."""

    record_id: str
    text: str
    blacken: bool = False


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete records, all their versions, and what was made of them."""

    record_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retract:
    """Take a message back without deleting it.

    Attributes:
        target_id: the message.
        since: the ledger's revision when it was said; 0 when not known.
    """

    target_id: str
    text: str = ""
    since: int = 0


@dataclass(frozen=True, slots=True)
class KeepFor:
    """Change how long a record is kept."""

    record_id: str
    keep: Keep


@dataclass(frozen=True, slots=True)
class Sweep:
    """Delete what is past its time.

    Attributes:
        session_until: at the start of a visit the revision that it found; what was kept for a
            session up to there was kept for an earlier one.
    """

    session_until: int = 0


@dataclass(frozen=True, slots=True)
class Rebuild:
    """Make withdrawn records again; all of them when none is named."""

    record_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeepSummary:
    """Keep a summary that was shown; it takes the place of older ones of the same turns."""

    summary: ShortTermSummary


MemoryChange = (
    Remember
    | Confirm
    | Reject
    | Correct
    | Forget
    | Retract
    | KeepFor
    | Sweep
    | Rebuild
    | KeepSummary
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """Who changes the memory, and when: aware UTC in ISO form."""

    tenant: str
    now: str
