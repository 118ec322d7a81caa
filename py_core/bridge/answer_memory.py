"""The kinds memory.*: typed requests in, typed values out.

Takes a request, the keeper of the memory and the time; gives the value of the reply. Does not know
ids, tasks or where the memory is kept.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from py_core.bridge.memory_requests import (
    ChangeData,
    ConfirmAction,
    CorrectAction,
    ForgetAction,
    KeepAction,
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
    RejectAction,
    RememberAction,
    RetractAction,
    SweepAction,
)
from py_core.bridge.memory_values import (
    AffectedData,
    ChangeReport,
    HistoryEdgeData,
    KeepData,
    MemoryDetail,
    MemoryErased,
    MemoryExported,
    MemoryImported,
    MemoryPage,
    MemoryRow,
    MemoryValue,
    PlanUse,
    SecretData,
    StartupFileState,
    StartupState,
    StorageFacts,
)
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.memory.browse import BrowseAsk, BrowseRow, find_raw_sources, show_row
from py_core.memory.changes import (
    Confirm,
    Correct,
    Forget,
    Keep,
    KeepFor,
    MemoryChange,
    Reject,
    Remember,
    Retract,
    Sweep,
)
from py_core.memory.startup import PATHS, FilePackage
from py_core.memory.verdict import Verdict
from py_core.memory_errors import ChangeRefusedError
from py_core.records.kinds import Record
from py_core.records.record_text import write_record
from py_core.store.heads import Head, Standing, make_head


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
            verdict = await keeper.preview(_read_change(request.payload.change), now)
            value = await _report(verdict, keeper, {}, is_made=False)
        case MemoryApply():
            applied = await keeper.apply(_read_change(request.payload.change), now)
            value = await _report(applied.verdict, keeper, applied.rebuilt, is_made=True)
        case MemoryExport():
            text = await keeper.export()
            value = MemoryExported(text=text, records=text.count("\n") - 1)
        case MemoryImport():
            value = await _import(request.payload, keeper, now)
        case MemoryErase():
            await keeper.erase_everything()
            value = MemoryErased(revision=keeper.revision)
        case MemoryStartup():
            value = await _startup(request.payload, keeper)
        case _:
            assert_never(request)
    return value


async def _list(payload: MemoryListPayload, keeper: MemoryKeeper) -> MemoryPage:
    ask = BrowseAsk(payload.search, payload.filters, payload.offset, payload.limit)
    page = await keeper.browse(ask)
    use = await keeper.measure()
    return MemoryPage(
        rows=tuple(map(_to_row, page.rows)),
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
        nodes=tuple(map(_to_row, view.history.nodes)),
        edges=tuple(
            HistoryEdgeData(begin=edge.begin, end=edge.end, kind=edge.kind)
            for edge in view.history.edges
        ),
        gone_ids=view.history.gone_ids,
        raw_sources=find_raw_sources(heads, record_id),
        plans=tuple(PlanUse(at=at, plan_hash=plan_hash) for at, plan_hash in view.plans),
    )


async def _report(
    verdict: Verdict, keeper: MemoryKeeper, rebuilt: Mapping[str, str], *, is_made: bool
) -> ChangeReport:
    heads = await keeper.list_heads()
    return ChangeReport(
        is_made=is_made,
        kept=tuple(_to_new_row(record) for record in verdict.kept),
        secrets=tuple(
            SecretData(kind=finding.kind.value, begin=finding.begin, end=finding.end)
            for finding in verdict.findings
        ),
        contradicts=_to_rows(verdict.contradicts, heads),
        repeats=_to_rows(verdict.repeats, heads),
        erased=verdict.erased,
        affected=tuple(
            AffectedData(
                record_id=item.record_id,
                # What has just been deleted is not sent anywhere any more.
                text="" if is_made else show_row(item.head).excerpt,
                spread=item.spread,
                verdict=item.verdict,
                cost=item.cost,
                value=item.value,
            )
            for item in verdict.repair.affected
        ),
        rebuilt=tuple(sorted(rebuilt.items())),
        revision=keeper.revision,
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


async def _startup(payload: MemoryStartupPayload, keeper: MemoryKeeper) -> StartupState:
    if payload.write is not None:
        await keeper.write_startup(payload.write.path, payload.write.text)
    package = await keeper.read_startup()
    return StartupState(
        files=tuple(_describe_file(path, package) for path in PATHS),
        is_complete=package.is_complete,
    )


def _describe_file(path: str, package: FilePackage) -> StartupFileState:
    for file in package.files:
        if file.path == path:
            return StartupFileState(
                path=path, state="ok", title=file.title, text=file.text, problem=""
            )
    for error in package.broken:
        if error.path == path:
            return StartupFileState(
                path=path, state="broken", title="", text="", problem=error.message
            )
    return StartupFileState(path=path, state="missing", title="", text="", problem="")


def _read_change(data: ChangeData) -> MemoryChange:
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
        case SweepAction():
            change = Sweep()
        case _:
            assert_never(data)
    return change


def _read_keep(data: KeepData) -> Keep:
    return Keep(data.rule, data.until)


def _to_rows(record_ids: Iterable[str], heads: Mapping[str, Head]) -> tuple[MemoryRow, ...]:
    return tuple(_to_row(show_row(heads[key])) for key in record_ids if key in heads)


def _to_new_row(record: Record) -> MemoryRow:
    return _to_row(show_row(make_head(record, Standing.ACTIVE, 0)))


def _to_row(row: BrowseRow) -> MemoryRow:
    head = row.head
    return MemoryRow(
        record_id=head.record_id,
        kind=head.kind,
        standing=head.standing.value,
        tier=row.tier,
        subject=head.subject,
        scope=head.scope,
        source=head.source,
        observed_at=head.observed_at,
        keep=KeepData.model_validate({"rule": head.retention_rule, "until": head.keep_until}),
        confidence_ppm=head.confidence_ppm,
        text=row.excerpt,
        is_cut=len(row.excerpt) < head.text_chars,
    )
