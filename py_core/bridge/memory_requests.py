"""What the page asks of the memory: look, preview, apply, move, erase.

Takes nothing, gives frozen strict models. A change is one of a closed list of actions; preview and
apply take the same change and give the same report. Knows no ledger.
"""

from typing import Annotated, Literal

from pydantic import Field

from py_core.bridge.memory_values import GroupName, KeepData
from py_core.bridge.message_shape import LARGEST_PAGE_INTEGER, Message, Nothing, RequestEnvelope

LARGEST_TEXT_CHARS = 262_144
LARGEST_IMPORT_CHARS = 256 * 1024 * 1024
MOST_IDS = 10_000

RecordId = Annotated[str, Field(min_length=1, max_length=128)]
MemoryText = Annotated[str, Field(min_length=1, max_length=LARGEST_TEXT_CHARS)]


class RememberAction(Message):
    """Keep a text."""

    action: Literal["remember"]
    text: MemoryText
    sources: Annotated[tuple[RecordId, ...], Field(max_length=64)] = ()
    subject: Annotated[str, Field(max_length=512)] = ""
    keep: KeepData = KeepData()
    blacken: bool = False


class ConfirmAction(Message):
    """Agree with an inference or a summary."""

    action: Literal["confirm"]
    record_id: RecordId


class RejectAction(Message):
    """Refuse an inference, or everything like it."""

    action: Literal["reject"]
    record_id: RecordId
    never: bool = False


class CorrectAction(Message):
    """Put other words in its place."""

    action: Literal["correct"]
    record_id: RecordId
    text: MemoryText
    blacken: bool = False


class ForgetAction(Message):
    """Delete records for good."""

    action: Literal["forget"]
    record_ids: Annotated[tuple[RecordId, ...], Field(min_length=1, max_length=MOST_IDS)]


class RetractAction(Message):
    """Take a message back."""

    action: Literal["retract"]
    target_id: RecordId
    text: Annotated[str, Field(max_length=LARGEST_TEXT_CHARS)] = ""
    since: int = Field(default=0, ge=0, le=LARGEST_PAGE_INTEGER)


class KeepAction(Message):
    """Change how long a record is kept."""

    action: Literal["keep"]
    record_id: RecordId
    keep: KeepData


class SweepAction(Message):
    """Delete what is past its time; what was kept for a visit goes when the next one begins."""

    action: Literal["sweep"]


class RebuildAction(Message):
    """Make withdrawn records again; all of them when none is named."""

    action: Literal["rebuild"]
    record_ids: Annotated[tuple[RecordId, ...], Field(max_length=MOST_IDS)] = ()


class KeepSummaryAction(Message):
    """Keep a summary that `memory.summarise` has shown."""

    action: Literal["keep_summary"]
    draft_id: RecordId


ChangeData = Annotated[
    RememberAction
    | ConfirmAction
    | RejectAction
    | CorrectAction
    | ForgetAction
    | RetractAction
    | KeepAction
    | SweepAction
    | RebuildAction
    | KeepSummaryAction,
    Field(discriminator="action"),
]


class ChangePayload(Message):
    """One change."""

    change: ChangeData


class MemoryListPayload(Message):
    """Which part of the memory to list; an empty filter lets everything pass."""

    search: Annotated[str, Field(max_length=512)] = ""
    filters: dict[GroupName, str] = Field(default_factory=dict)
    offset: int = Field(default=0, ge=0, le=10_000_000)
    limit: int = Field(default=50, ge=1, le=500)


class MemoryShowPayload(Message):
    """The record to open."""

    record_id: RecordId


class MemoryImportPayload(Message):
    """The text of an export."""

    text: Annotated[str, Field(max_length=LARGEST_IMPORT_CHARS)]
    is_preview: bool = False


class StartupFileData(Message):
    """One start-up file to write."""

    path: Annotated[str, Field(max_length=80)]
    text: MemoryText


class MemoryStartupPayload(Message):
    """Read the start-up files, after writing one if given."""

    write: StartupFileData | None = None


class MemoryStatusPayload(Message):
    """What the page remembers of the store in another place.

    `is_accepted` takes the store as it is now, after the user was told of a loss.
    """

    known_id: Annotated[str, Field(max_length=64)] = ""
    known_revision: int = Field(default=0, ge=0, le=LARGEST_PAGE_INTEGER)
    is_accepted: bool = False


class SummarisePayload(Message):
    """Who writes the summary: the rule that picks sentences, or the loaded model."""

    mode: Literal["rule", "model"]


class MemoryList(RequestEnvelope):
    """List the memory."""

    kind: Literal["memory.list"]
    payload: MemoryListPayload


class MemoryShow(RequestEnvelope):
    """Open one record with its history."""

    kind: Literal["memory.show"]
    payload: MemoryShowPayload


class MemoryPreview(RequestEnvelope):
    """Show what a change would do."""

    kind: Literal["memory.preview"]
    payload: ChangePayload


class MemoryApply(RequestEnvelope):
    """Make a change."""

    kind: Literal["memory.apply"]
    payload: ChangePayload


class MemoryExport(RequestEnvelope):
    """Write everything down."""

    kind: Literal["memory.export"]
    payload: Nothing


class MemoryImport(RequestEnvelope):
    """Take over an export."""

    kind: Literal["memory.import"]
    payload: MemoryImportPayload


class MemoryErase(RequestEnvelope):
    """Delete everything."""

    kind: Literal["memory.erase"]
    payload: Nothing


class MemoryStartup(RequestEnvelope):
    """Read or write the start-up files."""

    kind: Literal["memory.startup"]
    payload: MemoryStartupPayload


class MemoryStatus(RequestEnvelope):
    """Ask whether the store is still the one that is remembered."""

    kind: Literal["memory.status"]
    payload: MemoryStatusPayload


class MemorySummarise(RequestEnvelope):
    """Draft a summary of the conversation; nothing is kept by it."""

    kind: Literal["memory.summarise"]
    payload: SummarisePayload


MemoryRequest = (
    MemoryList
    | MemoryShow
    | MemoryPreview
    | MemoryApply
    | MemoryExport
    | MemoryImport
    | MemoryErase
    | MemoryStartup
    | MemoryStatus
)
_VERBS = "list show preview apply export import erase startup status summarise"
MEMORY_KINDS = frozenset(f"memory.{verb}" for verb in _VERBS.split())
