"""What the memory answers: pages, records, reports, in strict frozen models.

Takes nothing, gives types. Preview and apply share one report. Knows no requests.
"""

from typing import Annotated, Literal

from pydantic import Field

from py_core.bridge.message_shape import Message

GroupName = Literal["standing", "subject", "scope", "tier", "source", "kind"]


class KeepData(Message):
    """How long to keep; `until` is ISO time in UTC for that rule, else empty."""

    rule: Literal["forever", "session", "until"] = "forever"
    until: Annotated[str, Field(max_length=40)] = ""


class MemoryRow(Message):
    """One record as it is listed."""

    record_id: str
    kind: str
    standing: Literal["active", "pending", "withdrawn", "superseded", "rejected"]
    tier: int | None
    subject: str
    scope: str
    source: str
    observed_at: str
    keep: KeepData
    confidence_ppm: int
    text: str
    is_cut: bool


class StorageFacts(Message):
    """How much room the memory takes, and whether the browser may evict it."""

    used_bytes: int
    quota_bytes: int | None
    is_persistent: bool


class MemoryPage(Message):
    """A part of the list."""

    rows: tuple[MemoryRow, ...]
    total: int
    groups: dict[GroupName, dict[str, int]]
    revision: int
    storage: StorageFacts


class HistoryEdgeData(Message):
    """A link of the history graph."""

    begin: str
    end: str
    kind: Literal["supersedes", "derived_from", "deletes", "withdrawn_by"]


class PlanUse(Message):
    """A plan that the record stood in."""

    at: str
    plan_hash: str


class RawTurn(Message):
    """A message of this conversation that a record was made of."""

    record_id: str
    text: str


class MemoryDetail(Message):
    """One record opened; `record_json` is the record in its canonical form."""

    record_id: str
    text: str
    record_json: str
    nodes: tuple[MemoryRow, ...]
    edges: tuple[HistoryEdgeData, ...]
    gone_ids: tuple[str, ...]
    raw_sources: tuple[str, ...]
    raw_turns: tuple[RawTurn, ...]
    plans: tuple[PlanUse, ...]


class SecretData(Message):
    """Where a secret stands in the text that was sent; not the secret."""

    kind: str
    begin: int
    end: int


class AffectedData(Message):
    """A record that is withdrawn with the change, and what it would be made of again."""

    record_id: str
    text: str
    spread: Literal["declared", "echoed", "undeclared"]
    verdict: Literal["rebuild", "not_rebuildable", "not_worth_it", "has_no_sources"]
    cost: int
    value: int
    support: tuple[str, ...]
    needs: tuple[str, ...]


class LineageData(Message):
    """How a summary came about."""

    summariser: str
    summariser_version: str
    prompt_policy_hash: str
    omissions: tuple[str, ...]
    confidence_ppm: int
    sources: tuple[str, ...]
    supersedes: tuple[str, ...]


class ChangeReport(Message):
    """What a change does, or has done; `rebuilt` pairs old and new ids."""

    is_made: bool
    kept: tuple[MemoryRow, ...]
    secrets: tuple[SecretData, ...]
    contradicts: tuple[MemoryRow, ...]
    repeats: tuple[MemoryRow, ...]
    erased: tuple[str, ...]
    affected: tuple[AffectedData, ...]
    rebuilt: tuple[tuple[str, str], ...]
    lineage: LineageData | None
    revision: int


class SummaryDraft(Message):
    """A summary that nobody keeps yet; the report says what keeping it would do."""

    draft_id: str
    report: ChangeReport


class MemoryStatusShown(Message):
    """Which store this is; a loss comes with a sentence that says what to do."""

    ledger_id: str
    revision: int
    loss: Literal["", "emptied", "rolled_back", "replaced"]
    warning: str


class MemoryExported(Message):
    """The lines of an export."""

    text: str
    records: int


class MemoryImported(Message):
    """What an import brought."""

    is_made: bool
    added: int
    known: int
    deleted_here: int
    with_secrets: int
    foreign: int
    deletes: tuple[str, ...]


class MemoryErased(Message):
    """Everything is gone."""

    revision: int


class StartupFileState(Message):
    """One start-up file: its text, or why it is not there or not usable."""

    path: str
    state: Literal["ok", "missing", "broken"]
    title: str
    text: str
    problem: str


class BootPart(Message):
    """One part of what a session begins with, in its fixed order."""

    part: Literal["identity", "status", "cursor", "profile", "outbox"]
    items: tuple[str, ...]


class StartupState(Message):
    """All start-up files in reading order, and the package that a session begins with."""

    files: tuple[StartupFileState, ...]
    is_complete: bool
    boot: tuple[BootPart, ...]
    boot_hash: str


MemoryValue = (
    MemoryPage
    | MemoryDetail
    | ChangeReport
    | MemoryExported
    | MemoryImported
    | MemoryErased
    | StartupState
    | SummaryDraft
    | MemoryStatusShown
)
