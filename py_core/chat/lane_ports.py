"""The shelves that are on this machine: the durable ledger, and what a session begins with.

Takes shelf and keeper, gives ports whose failures are answers. Hosted memory has ports of its own.
Does not know ranking.
"""

from py_core.chat.memory_keeper import MemoryKeeper
from py_core.chat.memory_shelf import MemoryShelf
from py_core.errors import BadRequestError
from py_core.memory.changes import Stamp
from py_core.memory.startup import make_boot_package
from py_core.memory.uai_file import UaiFile
from py_core.memory_errors import StartupFileError, StorageFullError, StorageLostError
from py_core.records.kinds import Record
from py_core.retrieval.intent import RetrievalIntent
from py_core.retrieval.lanes import LaneAnswer


class LocalLane:
    """The ledger: its index is brought up to date, its records are opened when they are hits."""

    def __init__(self, shelf: MemoryShelf) -> None:
        """Ask this shelf."""
        self._shelf = shelf

    async def ask(self, intent: RetrievalIntent) -> LaneAnswer:
        """Follow the ledger."""
        del intent
        try:
            await self._shelf.follow()
        except (StorageLostError, StorageFullError):
            return LaneAnswer("refused")
        except BadRequestError:
            return LaneAnswer("malformed")
        return LaneAnswer("answered", on_shelf=len(self._shelf))


class SessionLane:
    """The start-up files of a complete package, as the state that a session begins with."""

    def __init__(self, keeper: MemoryKeeper, stamp: Stamp) -> None:
        """Ask this keeper.

        Args:
            keeper: Reads the files.
            stamp: Whose session it is and when it began.
        """
        self._keeper, self._stamp = keeper, stamp
        self._files: tuple[UaiFile, ...] = ()
        self._records: tuple[Record, ...] = ()

    async def ask(self, intent: RetrievalIntent) -> LaneAnswer:
        """Read the files; a package with a hole or a broken file is shown elsewhere, not used."""
        del intent
        try:
            package = await self._keeper.read_startup()
        except (StorageLostError, StorageFullError):
            return LaneAnswer("refused")
        except StartupFileError:
            return LaneAnswer("malformed")
        if not package.is_complete:
            return LaneAnswer("malformed" if package.broken else "empty")
        if package.files != self._files:
            boot = make_boot_package(package.files, (), (), "", self._stamp)
            self._files, self._records = package.files, (*boot.identity, *boot.status)
        return LaneAnswer("answered", self._records)
