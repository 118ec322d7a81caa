"""What a command ends with.

Takes nothing, gives the exit codes and the one value that a command returns. Does not print.
"""

from dataclasses import dataclass

DONE = 0
NEGATIVE = 1
BAD_INPUT = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes to standard output and standard error, and the exit code."""

    code: int
    output: str = ""
    complaint: str = ""
