"""The shell's time of day as a time.

Takes the host, gives aware UTC. Does not know what it is for.
"""

from datetime import UTC, datetime
from typing import Protocol


class HostClock(Protocol):
    """The one function of the host that tells the time of day."""

    def now_utc(self) -> str:
        """ISO text in UTC."""


def read_utc(host: HostClock) -> datetime:
    """Read the clock."""
    return datetime.fromisoformat(host.now_utc()).astimezone(UTC)
