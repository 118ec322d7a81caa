"""Names of messages that stay apart between visits.

Takes the secret of a session, the number of a turn and a role; gives an id that records of the
memory may name as their source. Does not tell the secret.
"""

from typing import Literal

from py_core.identity import keyed_hash

SESSION_DIGITS = 12


def name_message(session_key: str, number: int, role: Literal["user", "assistant"]) -> str:
    """Name a message; two sessions never share a name, although both count from 1."""
    return f"turn-{number}-{role}@{keyed_hash(session_key, 'session')[:SESSION_DIGITS]}"
