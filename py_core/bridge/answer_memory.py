"""The kinds memory.*: typed requests in, typed values out.

Takes a request, the keeper of the memory and the time; gives the value of the reply. Does not know
ids, tasks or where the memory is kept.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from py_core.bridge.describe_memory import describe_change, describe_file, to_row
from py_core.bridge.memory_requests import (
    ChangeData,
    ConfirmAction,
    CorrectAction,
    ForgetAction,
    KeepAction,
    KeepSummaryAction,
    MemoryApply,
    MemoryErase,
    MemoryExport,
    MemoryImport,
    MemoryImportPayload,
    MemoryList,
    MemoryListPayload,
    MemoryPreview,
    MemoryRequest,
    MemoryShow,
    MemoryStartup,
    MemoryStartupPayload,
    MemoryStatus,
    MemoryStatusPayload,
    RebuildAction,
    RejectAction,
    RememberAction,
    RetractAction,
    SweepAction,
)
from py_core.bridge.memory_values import (
    BootPart,
    ChangeReport,
    HistoryEdgeData,
    KeepData,
    MemoryDetail,
    MemoryErased,
    MemoryExported,
    MemoryImported,
    MemoryPage,
    MemoryStatusShown,
    MemoryValue,
    PlanUse,
    StartupState,
    StorageFacts,
)
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.memory.browse import BrowseAsk, find_raw_sources
from py_core.memory.changes import (
    Confirm,
    Correct,
    Forget,
    Keep,
    KeepFor,
    KeepSummary,
    MemoryChange,
    Rebuild,
    Reject,
    Remember,
    Retract,
    Sweep,
)
from py_core.memory.startup import PATHS
from py_core.memory_errors import ChangeRefusedError
from py_core.records.kinds import Record
from py_core.records.record_text import write_record
from py_core.store.loss import Loss

_EXPORT = "Import an export if you have one; what was kept only here cannot be brought back."
WARNINGS: Mapping[Loss, str] = {
    "emptied": f"This browser no longer holds the memory that was kept here. {_EXPORT}",
    "rolled_back": f"The memory is older than it was; what came later is lost. {_EXPORT}",
    "replaced": f"Another memory stands where yours was. {_EXPORT}",
}


async def answer_memory(request: MemoryRequest, keeper: MemoryKeeper, now: str) -> MemoryValue:
    """Do what a request about the memory asks.

    Raises:
        TinyloomError: what went wrong, for an error reply.
    """
    value: MemoryValue
    match request:
        case MemoryList():
            value = await _list(request.payload, keeper)
        case MemoryShow():
            value = await _show(request.payload.record_id, keeper)
        case MemoryPreview():
            change = _read_change(request.payload.change, keeper)
            value = await report_preview(change, keeper, now)
        case MemoryApply():
            applied = await keeper.apply(_read_change(request.payload.change, keeper), now)
            value = describe_change(applied.verdict, keeper, applied.rebuilt, is_made=True)
        case MemoryExport():
            text = await keeper.export()
            value = MemoryExported(text=text, records=text.count("\n") - 1)
        case MemoryImport():
            value = await _import(request.payload, keeper, now)
        case MemoryErase():
            await keeper.erase_everything()
            value = MemoryErased(revision=keeper.revision)
        case MemoryStartup():
            value = await _startup(request.payload, keeper, now)
        case MemoryStatus():
            value = await _check(request.payload, keeper)
        case _:
            assert_never(request)
    return value


async def _list(payload: MemoryListPayload, keeper: MemoryKeeper) -> MemoryPage:
    ask = BrowseAsk(payload.search, payload.filters, payload.offset, payload.limit)
    page = await keeper.browse(ask)
    use = await keeper.measure()
    return MemoryPage(
        rows=tuple(map(to_row, page.rows)),
        total=page.total,
        groups={name: dict(counts) for name, counts in page.groups.items()},
        revision=keeper.revision,
        storage=StorageFacts(
            used_bytes=use.used_bytes,
            quota_bytes=use.quota_bytes,
            is_persistent=use.is_persistent,
        ),
    )


async def _show(record_id: str, keeper: MemoryKeeper) -> MemoryDetail:
    view = await keeper.show(record_id)
    if view is None:
        raise ChangeRefusedError(field="record_id", expected="is not in the memory any more")
    heads = await keeper.list_heads()
    return MemoryDetail(
        record_id=record_id,
        text=view.record.text,
        record_json=write_record(view.record),
        nodes=tuple(map(to_row, view.history.nodes)),
        edges=tuple(
            HistoryEdgeData(begin=edge.begin, end=edge.end, kind=edge.kind)
            for edge in view.history.edges
        ),
        gone_ids=view.history.gone_ids,
        raw_sources=find_raw_sources(heads, record_id),
        raw_turns=(),
        plans=tuple(PlanUse(at=at, plan_hash=plan_hash) for at, plan_hash in view.plans),
    )


async def _import(payload: MemoryImportPayload, keeper: MemoryKeeper, now: str) -> MemoryImported:
    report = await keeper.merge(payload.text, now, is_preview=payload.is_preview)
    return MemoryImported(
        is_made=not payload.is_preview,
        added=report.added,
        known=report.known,
        deleted_here=report.deleted_here,
        with_secrets=report.with_secrets,
        foreign=report.foreign,
        deletes=report.deletes,
    )


async def _startup(payload: MemoryStartupPayload, keeper: MemoryKeeper, now: str) -> StartupState:
    if payload.write is not None:
        await keeper.write_startup(payload.write.path, payload.write.text)
    package = await keeper.read_startup()
    boot = await keeper.read_boot(package, now)
    return StartupState(
        files=tuple(describe_file(path, package) for path in PATHS),
        is_complete=package.is_complete,
        boot=(
            BootPart(part="identity", items=_name_records(boot.identity)),
            BootPart(part="status", items=_name_records(boot.status)),
            BootPart(part="cursor", items=(boot.cursor,) if boot.cursor else ()),
            BootPart(part="profile", items=_name_records(boot.profile)),
            BootPart(part="outbox", items=boot.outbox),
        ),
        boot_hash=boot.package_hash,
    )


def _name_records(records: Iterable[Record]) -> tuple[str, ...]:
    return tuple(record.subject or record.record_id for record in records)


async def report_preview(change: MemoryChange, keeper: MemoryKeeper, now: str) -> ChangeReport:
    """Tell what a change would do."""
    verdict = await keeper.preview(change, now)
    return describe_change(verdict, keeper, {}, is_made=False)


async def _check(payload: MemoryStatusPayload, keeper: MemoryKeeper) -> MemoryStatusShown:
    if payload.is_accepted:
        await keeper.begin_anew()
        loss = None
    else:
        loss = await keeper.check(payload.known_id, payload.known_revision)
    return MemoryStatusShown(
        ledger_id=keeper.ledger_id,
        revision=keeper.revision,
        loss=loss or "",
        warning=WARNINGS[loss] if loss else "",
    )


def _read_change(data: ChangeData, keeper: MemoryKeeper) -> MemoryChange:
    change: MemoryChange
    match data:
        case RememberAction():
            keep = _read_keep(data.keep)
            change = Remember(
                data.text, data.sources, data.subject, keep=keep, blacken=data.blacken
            )
        case ConfirmAction():
            change = Confirm(data.record_id)
        case RejectAction():
            change = Reject(data.record_id, never=data.never)
        case CorrectAction():
            change = Correct(data.record_id, data.text, blacken=data.blacken)
        case ForgetAction():
            change = Forget(data.record_ids)
        case RetractAction():
            change = Retract(data.target_id, data.text, data.since)
        case KeepAction():
            change = KeepFor(data.record_id, _read_keep(data.keep))
        case SweepAction() | RebuildAction() | KeepSummaryAction():
            change = _read_tending(data, keeper)
        case _:
            assert_never(data)
    return change


def _read_tending(
    data: SweepAction | RebuildAction | KeepSummaryAction, keeper: MemoryKeeper
) -> MemoryChange:
    match data:
        case SweepAction():
            return Sweep()
        case RebuildAction():
            return Rebuild(data.record_ids)
        case KeepSummaryAction():
            return KeepSummary(keeper.find_draft(data.draft_id))


def _read_keep(data: KeepData) -> Keep:
    return Keep(data.rule, data.until)
