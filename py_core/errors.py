"""The error tree of the core.

Takes numbers and names, gives exceptions with a stable code, typed attributes and one sentence
that says what happened, where, and what to do. Knows nothing of requests, pages or models.

    TinyloomError
    ├── UserCanFixError              the person at the page can do something about it
    │   ├── ContextOverflowError       context_overflow
    │   ├── ModelTooLargeError         model_too_large
    │   ├── ModelNotLoadedError        model_not_loaded
    │   ├── BusyError                  busy
    │   ├── InvalidSettingError        invalid_setting
    │   ├── InvalidTextError           invalid_text
    │   ├── RequestCancelledError      cancelled
    │   ├── UnknownKindError           unknown_kind
    │   ├── WrongVersionError          wrong_version
    │   ├── BadMessageError            bad_message
    │   ├── BadRequestError            bad_request
    │   ├── StorageFullError           storage_full
    │   ├── StorageLostError           storage_lost
    │   ├── SensitiveTextError         sensitive_text
    │   ├── ChangeRefusedError         change_refused
    │   ├── PlanNotKeptError           plan_not_kept
    │   ├── RecordNotFoundError        record_not_found
    │   └── RecordWithheldError        record_withheld
    ├── FileIsBadError               the bytes are not what they claim to be
    │   ├── ModelFileError             model_file
    │   ├── LedgerFileError            ledger_file
    │   └── StartupFileError           startup_file
    └── WeAreWrongError              a promise of our own code is broken
        └── InvariantError             internal

Only the first two branches show their text at the border; the third becomes `internal`.
"""

from typing import ClassVar

Detail = int | str | None


class TinyloomError(Exception):
    """Root of everything the core raises on purpose."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, **details: Detail) -> None:
        """Keep the sentence and the values it was built from."""
        super().__init__(message)
        self.message = message
        self.details = details


class UserCanFixError(TinyloomError):
    """The person at the page can do something about it."""


class FileIsBadError(TinyloomError):
    """A file that somebody chose is damaged or of another kind."""


class WeAreWrongError(TinyloomError):
    """Our own code broke a promise; its text stays inside."""


class ContextOverflowError(UserCanFixError):
    """System text and message alone do not fit the model's prompt."""

    code = "context_overflow"

    def __init__(self, *, needed: int, allowed: int, tier: int, is_exact: bool = True) -> None:
        """State the overflow in tokens.

        Args:
            needed: tokens that tiers 1 and 2 need; a lower bound unless `is_exact`.
            allowed: tokens they may have.
            tier: the tier whose text crossed the limit (1 system text, 2 message).
            is_exact: false when a bound was enough to refuse.
        """
        part = "system text" if tier == 1 else "message"
        amount = f"{needed}" if is_exact else f"at least {needed}"
        super().__init__(
            f"The prompt needs {amount} tokens but the model allows {allowed}: "
            f"shorten the {part} or lower Max tokens.",
            needed=needed,
            allowed=allowed,
            tier=tier,
        )
        self.needed, self.allowed, self.tier, self.is_exact = needed, allowed, tier, is_exact


class ModelTooLargeError(UserCanFixError):
    """The model does not fit the memory that a tab can have."""

    code = "model_too_large"

    def __init__(self, *, name: str, needed_bytes: int, allowed_bytes: int | None = None) -> None:
        """State what the model needs and, if known, what there is."""
        room = "" if allowed_bytes is None else f" and {allowed_bytes} can be had"
        super().__init__(
            f"The model {name} needs {needed_bytes} bytes of memory{room}: "
            "choose a smaller model or close other tabs.",
            name=name,
            needed_bytes=needed_bytes,
            allowed_bytes=allowed_bytes,
        )
        self.needed_bytes, self.allowed_bytes = needed_bytes, allowed_bytes


class ModelNotLoadedError(UserCanFixError):
    """A turn was asked for while no model is there."""

    code = "model_not_loaded"

    def __init__(self, *, is_loading: bool = False) -> None:
        """Say whether waiting is enough."""
        todo = "wait until it is ready" if is_loading else "load a model first"
        state = "still loading" if is_loading else "not loaded"
        super().__init__(f"The model is {state}: {todo}.", state=state.replace(" ", "_"))
        self.is_loading = is_loading


class BusyError(UserCanFixError):
    """Another request holds the model."""

    code = "busy"

    def __init__(self, *, running_kind: str, running_id: int) -> None:
        """Name the request that has to end first."""
        super().__init__(
            f"Request {running_id} ({running_kind}) is still running: stop it or wait for its end.",
            running_kind=running_kind,
            running_id=running_id,
        )
        self.running_kind, self.running_id = running_kind, running_id


class InvalidSettingError(UserCanFixError):
    """A generation setting is outside its range."""

    code = "invalid_setting"

    def __init__(self, *, field: str, expected: str) -> None:
        """Name the setting and the values it may have."""
        super().__init__(f"The setting {field} is not usable: {expected}.", field=field)
        self.field, self.expected = field, expected


class InvalidTextError(UserCanFixError):
    """A text cannot be written as UTF-8 (lone surrogates) or is empty."""

    code = "invalid_text"

    def __init__(self, *, field: str, expected: str) -> None:
        """Name the field; the text itself is never repeated."""
        super().__init__(f"The field {field} cannot be used: {expected}.", field=field)
        self.field, self.expected = field, expected


class RequestCancelledError(UserCanFixError):
    """The request was stopped by a cancel request."""

    code = "cancelled"

    def __init__(self, *, kind: str) -> None:
        """Name the kind that was stopped."""
        super().__init__(f"The request {kind} was stopped: send it again when wanted.", kind=kind)
        self.kind = kind


class UnknownKindError(UserCanFixError):
    """A message of a kind that this version does not have."""

    code = "unknown_kind"

    def __init__(self, *, kind: str) -> None:
        """Name the kind, cut to a length that is safe to show."""
        shown = kind[:40]
        super().__init__(
            f"The message kind {shown!r} is not known: reload the page to have both sides of one "
            "version.",
            kind=shown,
        )
        self.kind = shown


class WrongVersionError(UserCanFixError):
    """A message of another protocol version."""

    code = "wrong_version"

    def __init__(self, *, expected: int) -> None:
        """Name the version that is spoken here."""
        super().__init__(
            f"The message is not of protocol version {expected}: reload the page.",
            expected=expected,
        )
        self.expected = expected


class BadMessageError(UserCanFixError):
    """A message whose shape is wrong."""

    code = "bad_message"

    def __init__(self, *, field: str, expected: str) -> None:
        """Name the path of the field and what was expected there, never the value."""
        super().__init__(
            f"The message field {field} is wrong: {expected}.", field=field, expected=expected
        )
        self.field, self.expected = field, expected


class BadRequestError(UserCanFixError):
    """A compile request, record or receipt that cannot be used; nothing was compiled."""

    code = "bad_request"

    def __init__(self, *, field: str, expected: str) -> None:
        """Name the path of the field and what was expected there, never the value."""
        super().__init__(f"{field}: {expected}.", field=field, expected=expected)
        self.field, self.expected = field, expected


class PlanNotKeptError(UserCanFixError):
    """A plan that was asked for again is no longer here."""

    code = "plan_not_kept"

    def __init__(self, *, plan_hash: str, kept_plans: int) -> None:
        """Say how many plans are kept."""
        super().__init__(
            f"The records behind the plan {plan_hash[:12]} are no longer here: the engine keeps "
            f"those of the last {kept_plans} turns until it stops; send the message again.",
            plan_hash=plan_hash,
            kept_plans=kept_plans,
        )
        self.plan_hash, self.kept_plans = plan_hash, kept_plans


class RecordNotFoundError(UserCanFixError):
    """A plan was made without the record that was asked for."""

    code = "record_not_found"

    def __init__(self, *, record_id: str) -> None:
        """Name the record, cut to a length that is safe to show."""
        shown = record_id[:128]
        super().__init__(
            f"The plan was made without a record {shown!r}: choose one of its rows.",
            record_id=shown,
        )
        self.record_id = shown


class RecordWithheldError(UserCanFixError):
    """A record was left out for a reason that forbids to show it."""

    code = "record_withheld"

    def __init__(self, *, record_id: str, reason: str) -> None:
        """Name the record and the reason of the plan."""
        super().__init__(
            f"The record {record_id} is not shown: the plan left it out as {reason}, and that "
            "holds for people too; open another row.",
            record_id=record_id,
            reason=reason,
        )
        self.record_id, self.reason = record_id, reason


class ModelFileError(FileIsBadError):
    """A model file was refused by the container reader."""

    code = "model_file"

    def __init__(
        self, message: str, *, reason: str, number: int, field: str, offset: int | None
    ) -> None:
        """Carry the reader's own sentence and its stable names.

        Args:
            message: the reader's sentence.
            reason: stable snake_case name of the refusal.
            number: numeric code of the container format.
            field: the header field, tensor or section.
            offset: byte offset in the file, where there is one.
        """
        super().__init__(message, reason=reason, number=number, field=field, offset=offset)
        self.reason, self.number, self.field, self.offset = reason, number, field, offset


class InvariantError(WeAreWrongError):
    """A condition that our own code guarantees does not hold."""

    code = "internal"

    def __init__(self, *, what: str) -> None:
        """Name the broken promise for the developer's log."""
        super().__init__(f"Internal promise broken: {what}.")
