"""What can go wrong with the memory: its place in the error tree is drawn in `py_core.errors`.

Takes numbers and names, gives exceptions whose sentences never repeat a text of the user. Knows
nothing of ledgers or files.
"""

from py_core.errors import FileIsBadError, UserCanFixError


class StorageFullError(UserCanFixError):
    """The browser or the disk has no room; nothing of the write was kept."""

    code = "storage_full"

    def __init__(self, *, used_bytes: int | None = None, quota_bytes: int | None = None) -> None:
        """State the amounts where they are known."""
        room = "" if quota_bytes is None else f" ({used_bytes} of {quota_bytes} bytes are used)"
        super().__init__(
            f"There is no room to keep this{room}, and nothing was written: delete memories or "
            "models and try again.",
            used_bytes=used_bytes,
            quota_bytes=quota_bytes,
        )


class StorageLostError(UserCanFixError):
    """The place where memory is kept cannot be used; what is asked was not done."""

    code = "storage_lost"

    def __init__(self, *, reason: str) -> None:
        """Name what the storage said."""
        super().__init__(
            f"The memory store cannot be used ({reason}): export what you still see, then reload "
            "the page.",
            reason=reason,
        )
        self.reason = reason


class SensitiveTextError(UserCanFixError):
    """A text holds a secret; it was not kept, and is not repeated here."""

    code = "sensitive_text"

    def __init__(self, *, found: str, count: int) -> None:
        """Name the sort of secret, never the secret.

        Args:
            found: the sorts, joined by commas.
            count: how many places.
        """
        super().__init__(
            f"Nothing was kept: the text seems to hold {found} ({count} found); take it out or "
            "let it be blacked out.",
            found=found,
            count=count,
        )
        self.found, self.count = found, count


class ChangeRefusedError(UserCanFixError):
    """A change of the memory makes no sense now; nothing was changed."""

    code = "change_refused"

    def __init__(self, *, field: str, expected: str) -> None:
        """Name the field of the change and what was expected there."""
        super().__init__(
            f"The memory was not changed: {field} {expected}.", field=field, expected=expected
        )
        self.field, self.expected = field, expected


class LedgerFileError(FileIsBadError):
    """An export of the memory cannot be read; nothing of it was taken over."""

    code = "ledger_file"

    def __init__(self, *, line: int, field: str, expected: str) -> None:
        """Name the line, counted from 1, and the field; the text is not repeated."""
        super().__init__(
            f"Line {line} of the memory file, {field}: {expected}; nothing was taken over.",
            line=line,
            field=field,
        )
        self.line, self.field, self.expected = line, field, expected


class StartupFileError(FileIsBadError):
    """A `.uai` file breaks a rule of its format."""

    code = "startup_file"

    def __init__(self, *, path: str, field: str, expected: str) -> None:
        """Name the file and the label; the text is not repeated."""
        super().__init__(f"{path}, {field}: {expected}.", path=path, field=field)
        self.path, self.field, self.expected = path, field, expected
