"""Changes, records and files of the memory as messages for the page.

Takes what the core decided, gives strict models. Does not decide anything.
"""

from collections.abc import Iterable, Mapping

from py_core.bridge.memory_values import (
    AffectedData,
    ChangeReport,
    KeepData,
    LineageData,
    MemoryRow,
    SecretData,
    StartupFileState,
)
from py_core.chat.memory_keeper import MemoryKeeper
from py_core.memory.browse import BrowseRow, show_row
from py_core.memory.startup import FilePackage
from py_core.memory.verdict import Verdict
from py_core.records.kinds import Record, ShortTermSummary
from py_core.store.heads import Head, Standing, make_head


def describe_change(
    verdict: Verdict, keeper: MemoryKeeper, rebuilt: Mapping[str, str], *, is_made: bool
) -> ChangeReport:
    """Describe what a change does, or has done; old ids to new ids of what was rebuilt."""
    heads = keeper.heads
    return ChangeReport(
        is_made=is_made,
        kept=tuple(to_new_row(record) for record in verdict.kept),
        secrets=tuple(
            SecretData(kind=finding.kind.value, begin=finding.begin, end=finding.end)
            for finding in verdict.findings
        ),
        contradicts=to_rows(verdict.contradicts, heads),
        repeats=to_rows(verdict.repeats, heads),
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
                support=item.support,
                needs=item.needs,
            )
            for item in verdict.repair.affected
        ),
        rebuilt=tuple(sorted(rebuilt.items())),
        lineage=describe_lineage(verdict.kept),
        revision=keeper.revision,
    )


def describe_lineage(kept: Iterable[Record]) -> LineageData | None:
    """Describe how a summary came about; nothing for other records."""
    for record in kept:
        if isinstance(record, ShortTermSummary):
            return LineageData(
                summariser=record.payload.summariser,
                summariser_version=record.payload.summariser_version,
                prompt_policy_hash=record.payload.prompt_policy_hash,
                omissions=record.payload.omissions,
                confidence_ppm=record.confidence_ppm,
                sources=record.derived_from,
                supersedes=record.supersedes,
            )
    return None


def describe_file(path: str, package: FilePackage) -> StartupFileState:
    """Describe one start-up file, there or not."""
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


def to_rows(record_ids: Iterable[str], heads: Mapping[str, Head]) -> tuple[MemoryRow, ...]:
    """Describe known records, those that are gone left out."""
    return tuple(to_row(show_row(heads[key])) for key in record_ids if key in heads)


def to_new_row(record: Record) -> MemoryRow:
    """Describe a record that is not written yet."""
    return to_row(show_row(make_head(record, Standing.ACTIVE, 0)))


def to_row(row: BrowseRow) -> MemoryRow:
    """Describe a row of a list."""
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
