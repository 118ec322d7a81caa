"""What the user says about memory itself: slash commands in a message.

Takes a message, gives the controls and the message without them. Only commands
that a line begins with count, so a path in a sentence is none.
Does not know which projects exist.

    /no-memory        no memory for this turn
    /status-only      running state only, no durable memory
    /project NAME     memory of this project
    /pin ID           this record goes first
"""

import re
from dataclasses import dataclass

_COMMAND = re.compile(r"[ \t]*/(no-memory|status-only|project|pin)(?=\s|$)")
_NAME = re.compile(r"[ \t]+([^\s/]\S*)")
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
    given: list[tuple[str, str]] = []
    rest = "\n".join(_read_line(line, given) for line in message.split("\n")).strip()
    commands = {command for command, _ in given}
    projects = [name for command, name in given if command == "project" and name]
    pins = tuple(name for command, name in given if command == "pin" and name)
    controls = Controls(
        is_memory_off="no-memory" in commands,
        is_status_only="status-only" in commands,
        project=projects[-1] if projects else "",
        pins=pins,
    )
    return controls, rest


def strip_controls(message: str) -> str:
    """Give a message without its commands; one without any, or of nothing else, stays as it is."""
    controls, rest = read_controls(message)
    return message if controls == Controls() or not rest else rest


def _read_line(line: str, given: list[tuple[str, str]]) -> str:
    """Note the commands that a line begins with, give the rest of it."""
    while command := _COMMAND.match(line):
        line = line[command.end() :]
        # A flag takes no name: the word behind it belongs to the message.
        name = _NAME.match(line) if command[1] in _WITH_NAME else None
        if name is not None:
            line = line[name.end() :]
        given.append((command[1], name[1] if name else ""))
    return line
