"""What the user says about memory itself: slash commands in a message.

Takes a message, gives the controls and the message without them. Only words that begin with a
slash at the start of a line or of the message count, so a path in a sentence is no command.
Does not know which projects exist.

    /no-memory        no memory for this turn
    /status-only      running state only, no durable memory
    /project NAME     memory of this project
    /pin ID           this record goes first
"""

import re
from dataclasses import dataclass

_COMMAND = re.compile(
    r"(?:^|(?<=\n)|(?<=\s))/(no-memory|status-only|project|pin)(?=\s|$)(?:[ \t]+([^\s/][^\s]*))?"
)
_WITH_NAME = frozenset(("project", "pin"))


@dataclass(frozen=True, slots=True)
class Controls:
    """What was asked for; the defaults ask for nothing."""

    is_memory_off: bool = False
    is_status_only: bool = False
    project: str = ""
    pins: tuple[str, ...] = ()


def read_controls(message: str) -> tuple[Controls, str]:
    """Read and remove the commands.

    Example:
        "/project atlas what is next?" gives the project atlas and "what is next?".
    """
    flags: set[str] = set()
    project, pins = "", []
    parts, done = [], 0
    for match in _COMMAND.finditer(message):
        command, name = match[1], match[2]
        parts.append(message[done : match.start()])
        # A flag takes no name: the word behind it belongs to the message.
        done = match.end(2) if command in _WITH_NAME and name else match.end(1)
        if command == "project" and name:
            project = name
        elif command == "pin" and name:
            pins.append(name)
        flags.add(command)
    parts.append(message[done:])
    rest = re.sub(r"[ \t]{2,}", " ", "".join(parts)).strip()
    return Controls("no-memory" in flags, "status-only" in flags, project, tuple(pins)), rest
