"""What a session begins with, always in the same order.

Takes the `.uai` files, the last synced revision, the confirmed profile and what waits to be sent;
gives the boot package: identity, session status, cursor, profile, outbox. The same input gives the
same package in every byte, whatever order it came in. Does not know where the parts are kept.

Source: Deterministic context compilation, section 10.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from py_core.identity import content_hash
from py_core.memory.changes import Stamp
from py_core.memory.compose import compose
from py_core.memory.uai_file import UaiFile, read_uai
from py_core.memory_errors import StartupFileError
from py_core.records.kinds import Record, UserPreferenceAssertion

READ_ORDER = (
    "startup-packet",
    "memory-maintenance",
    "identity",
    "world-context",
    "totem",
    "taboo",
    "talisman",
    "progress",
    "short-term-memory",
    "system-profile",
    "receiver-brief",
    "long-term-memory",
)
PATHS = tuple(f".uai/{role}.uai" for role in READ_ORDER)

IDENTITY_ROLES = frozenset({"startup-packet", "memory-maintenance", "identity"})


@dataclass(frozen=True, slots=True)
class FilePackage:
    """The `.uai` files that are there, in reading order, and what is missing or broken."""

    files: tuple[UaiFile, ...]
    missing: tuple[str, ...]
    broken: tuple[StartupFileError, ...]

    @property
    def is_complete(self) -> bool:
        """Whether a session may begin from files alone; partial packages are shown, not used."""
        return not self.missing and not self.broken


@dataclass(frozen=True, slots=True)
class BootPackage:
    """The parts of a start in their fixed order, and the hash over all of them."""

    identity: tuple[Record, ...]
    status: tuple[Record, ...]
    cursor: str
    profile: tuple[Record, ...]
    outbox: tuple[str, ...]
    package_hash: str


def read_package(texts: Mapping[str, str]) -> FilePackage:
    """Read all files of a package; one that is broken does not hide the others.

    Raises:
        StartupFileError: a path that no package has.
    """
    for path in sorted(texts):
        if path not in PATHS:
            raise StartupFileError(
                path=path[:80], field="path", expected=f"expected one of {', '.join(PATHS)}"
            )
    files, broken = [], []
    for path in PATHS:
        if path in texts:
            try:
                files.append(_read_file(path, texts[path]))
            except StartupFileError as error:
                broken.append(error)
    missing = tuple(path for path in PATHS if path not in texts)
    return FilePackage(tuple(files), missing, tuple(broken))


def make_boot_package(
    files: Iterable[UaiFile],
    profile: Iterable[Record],
    outbox: Iterable[str],
    cursor: str,
    stamp: Stamp,
) -> BootPackage:
    """Put the parts in order.

    Args:
        files: the checked files.
        profile: active records; only confirmed profile fields are taken.
        outbox: ids of what waits to be sent, oldest first.
        cursor: the last synced revision hash, empty for none.
        stamp: whose session it is, and when it begins.
    """
    ordered = sorted(files, key=lambda file: PATHS.index(file.path))
    records = [(file.role, _to_record(file, stamp)) for file in ordered]
    identity = tuple(record for role, record in records if role in IDENTITY_ROLES)
    status = tuple(record for role, record in records if role not in IDENTITY_ROLES)
    fields = sorted(
        (record for record in profile if isinstance(record, UserPreferenceAssertion)),
        key=lambda record: (record.subject, record.record_id),
    )
    waiting = tuple(outbox)
    parts = [
        [record.content_identity for record in identity],
        [record.content_identity for record in status],
        cursor,
        [record.envelope_hash for record in fields],
        list(waiting),
    ]
    return BootPackage(identity, status, cursor, tuple(fields), waiting, content_hash(parts))


def _read_file(path: str, text: str) -> UaiFile:
    file = read_uai(path, text)
    if file.role == "startup-packet":
        absent = [other for other in PATHS if other not in file.text]
        if absent:
            raise StartupFileError(
                path=path, field="Required read order:", expected=f"expected it to name {absent[0]}"
            )
    return file


def _to_record(file: UaiFile, stamp: Stamp) -> Record:
    """Make session state of a file: tier 5, above all kept memory and below the conversation."""
    payload = {"text": file.text, "is_hot": True}
    return compose(
        "uai", "SessionFact", payload, stamp, source=f"user:{file.path}", subject=file.role
    )
