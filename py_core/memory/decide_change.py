"""What a wished change would do: the one decision behind every button and command of the memory.

Takes a change, the ledger as it is and a stamp; gives a verdict, which is an account for the user
and an edit for the ledger. The same verdict is shown as a preview and committed as it is. Does not
know the page or the store.
"""

from collections.abc import Collection, Mapping
from typing import assert_never

from py_core.memory.changes import (
    Confirm,
    Correct,
    Forget,
    KeepFor,
    KeepSummary,
    MemoryChange,
    Rebuild,
    Reject,
    Remember,
    Retract,
    Stamp,
    Sweep,
)
from py_core.memory.claims import read_claims
from py_core.memory.compare import compare
from py_core.memory.compose import (
    compose,
    compose_memory,
    list_deleted_identities,
    revise,
    reword,
    write_retention,
)
from py_core.memory.forget import forget, make_root, require_head
from py_core.memory.influence import Root
from py_core.memory.never_list import read_never_list, write_never_list
from py_core.memory.rebuild import SummaryShop
from py_core.memory.repair import make_barrier, plan_repair
from py_core.memory.retention import find_ended
from py_core.memory.retry_repair import list_withdrawn, plan_retry
from py_core.memory.sensitivity import Finding, redact, require_clean, scan
from py_core.memory.verdict import Verdict
from py_core.memory.versions import find_versions
from py_core.memory_errors import ChangeRefusedError
from py_core.records.kinds import Record, ShortTermSummary
from py_core.store.edits import Edit, Entry, Restand, Snapshot
from py_core.store.heads import Head, Standing

_CORRECTABLE = frozenset({Standing.ACTIVE, Standing.PENDING, Standing.WITHDRAWN})


def want_records(change: MemoryChange, heads: Mapping[str, Head]) -> Collection[str]:
    """Name the records that a decision has to open."""
    match change:
        case Confirm() | Correct() | KeepFor():
            return [change.record_id] if change.record_id in heads else []
        case Rebuild():
            plan = plan_retry(heads, change.record_ids or list_withdrawn(heads), SummaryShop(heads))
            return {key for item in plan.to_rebuild for key in item.support}
        case Remember() | Reject() | Forget() | Retract() | Sweep() | KeepSummary():
            return []
        case _:
            assert_never(change)


def decide_change(change: MemoryChange, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    """Decide.

    Raises:
        ChangeRefusedError: the change makes no sense in this state.
        SensitiveTextError: a text holds a secret and is not to be blacked out.
        BadRequestError: a value of the change is not what a record allows.
    """
    match change:
        case Remember():
            verdict = _remember(change, snapshot, stamp)
        case Confirm():
            verdict = _confirm(change, snapshot, stamp)
        case Reject():
            verdict = _reject(change, snapshot)
        case Correct():
            verdict = _correct(change, snapshot, stamp)
        case Forget():
            verdict = forget(change.record_ids, snapshot, stamp)
        case Retract():
            verdict = _retract(change, snapshot, stamp)
        case KeepFor():
            verdict = _keep_for(change, snapshot, stamp)
        case Sweep() | Rebuild() | KeepSummary():
            verdict = _tend(change, snapshot, stamp)
        case _:
            assert_never(change)
    return verdict


def _tend(change: Sweep | Rebuild | KeepSummary, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    """Decide what speaks of no single record."""
    match change:
        case Sweep():
            return _sweep(change, snapshot, stamp)
        case Rebuild():
            return _rebuild(change, snapshot)
        case KeepSummary():
            return _keep_summary(change.summary, snapshot)


def _sweep(change: Sweep, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    ended = find_ended(snapshot.heads, stamp.now, session_until=change.session_until)
    return forget(ended, snapshot, stamp) if ended else Verdict(Edit())


def _rebuild(change: Rebuild, snapshot: Snapshot) -> Verdict:
    """Change nothing yet: the barrier stands, and publishing is a commit of its own."""
    for record_id in change.record_ids:
        if require_head(record_id, snapshot).standing is not Standing.WITHDRAWN:
            raise ChangeRefusedError(field="record_ids", expected="has to name withdrawn records")
    wanted = change.record_ids or list_withdrawn(snapshot.heads)
    return Verdict(Edit(), repair=plan_retry(snapshot.heads, wanted, SummaryShop(snapshot.heads)))


def _keep_summary(summary: ShortTermSummary, snapshot: Snapshot) -> Verdict:
    """Keep it, unreviewed; of the same turns only the newest summary is served."""
    repeats = tuple(
        head.record_id
        for head in snapshot.heads.with_text(summary.normalization_hash or "")
        if head.is_active and head.derived_from == summary.derived_from
    )
    restands = tuple(
        Restand(older, Standing.SUPERSEDED, (summary.record_id,))
        for older in summary.supersedes
        if older in snapshot.heads
    )
    edit = Edit() if repeats else Edit(entries=(Entry(summary),), restands=restands)
    return Verdict(edit, (summary,), repeats=repeats)


def _remember(change: Remember, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    text, findings = _screen(change.text, blacken=change.blacken)
    record = _compose_wish(change, text, snapshot, stamp)
    contradicts, repeats = compare(record, snapshot)
    edit = Edit() if repeats else Edit(entries=(Entry(record),))
    return Verdict(edit, (record,), findings, contradicts, repeats)


def _compose_wish(change: Remember, text: str, snapshot: Snapshot, stamp: Stamp) -> Record:
    envelope: dict[str, object] = {
        "source": "user:remember",
        "subject": change.subject,
        "scope": change.scope,
        "scope_id": change.scope_id,
        "sensitivity": change.sensitivity,
        "derived_from": list(change.sources),
        "retention": write_retention(change.keep),
    }
    facts, deleted = read_claims(text), list_deleted_identities(snapshot)
    record = compose_memory(text, facts, stamp, is_deleted_before=False, **envelope)
    if record.content_identity in deleted:
        return compose_memory(text, facts, stamp, is_deleted_before=True, **envelope)
    return record


def _confirm(change: Confirm, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    """Promote: a pending inference becomes a profile field, a summary a reviewed one."""
    head, record = _require_record(change.record_id, snapshot)
    is_summary = head.kind == "ShortTermSummary" and head.is_active
    if head.standing is not Standing.PENDING and not is_summary:
        raise ChangeRefusedError(field="record_id", expected="has to wait for a review")
    newer = revise(record, stamp, review_status="promoted", promotion_state="promoted",
                   confidence_ppm=record.confidence_ppm if is_summary else 1_000_000)  # fmt: skip
    contradicts, repeats = compare(newer, snapshot)
    edit = _put_in_place(newer, head)
    return Verdict(
        edit, (newer,), (), contradicts, tuple(r for r in repeats if r != head.record_id)
    )


def _reject(change: Reject, snapshot: Snapshot) -> Verdict:
    head = require_head(change.record_id, snapshot)
    if head.standing is not Standing.PENDING:
        raise ChangeRefusedError(field="record_id", expected="has to wait for a review")
    choices: dict[str, str] = {}
    if change.never:
        slots = [slot for slot, _ in head.claims] or [head.normalization_hash]
        choices = write_never_list(read_never_list(snapshot.choices) | set(slots))
    return Verdict(Edit(restands=(Restand(head.record_id, Standing.REJECTED),), choices=choices))


def _correct(change: Correct, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    """Supersede, withdraw what was made of the old words, keep the old words for the history."""
    head, record = _require_record(change.record_id, snapshot)
    if head.standing not in _CORRECTABLE or not record.text:
        raise ChangeRefusedError(field="record_id", expected="has to be a memory that is in use")
    text, findings = _screen(change.text, blacken=change.blacken)
    # In the user's own words a withdrawn record stands for itself, not for what withdrew it.
    sources = [] if head.standing is Standing.WITHDRAWN else list(record.derived_from)
    newer = reword(record, text, stamp, source="user:correct", confidence_ppm=1_000_000,
                   review_status="promoted", promotion_state="promoted",
                   derived_from=sources)  # fmt: skip
    contradicts, _ = compare(newer, snapshot)
    chain = find_versions(snapshot.heads, head)
    roots = [make_root(snapshot.heads[key]) for key in chain]
    plan = plan_repair(
        snapshot.heads, roots, dict.fromkeys(chain, newer.record_id), SummaryShop(snapshot.heads)
    )
    edit = _put_in_place(newer, head).join(make_barrier(plan))
    others = tuple(key for key in contradicts if key != head.record_id)
    return Verdict(edit, (newer,), findings, others, repair=plan)


def _retract(change: Retract, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    """Hide a message from now on and withdraw what was made of it; the transcript keeps it."""
    payload = {"target_id": change.target_id, "reason": "taken back by the user"}
    retraction = compose(
        "retract", "Retraction", payload, stamp, source="user:retract",
        retention={"rule": "session"},
    )  # fmt: skip
    root = Root(change.target_id, stamp.tenant, change.since, change.text)
    plan = plan_repair(snapshot.heads, [root], {}, SummaryShop(snapshot.heads))
    edit = Edit(entries=(Entry(retraction),)).join(make_barrier(plan))
    return Verdict(edit, repair=plan)


def _keep_for(change: KeepFor, snapshot: Snapshot, stamp: Stamp) -> Verdict:
    head, record = _require_record(change.record_id, snapshot)
    newer = revise(record, stamp, retention=write_retention(change.keep))
    entry = Edit(
        entries=(Entry(newer, head.standing),),
        restands=(Restand(head.record_id, Standing.SUPERSEDED, (newer.record_id,)),),
    )
    return Verdict(entry, (newer,))


def _put_in_place(newer: Record, older: Head) -> Edit:
    return Edit(
        entries=(Entry(newer),),
        restands=(Restand(older.record_id, Standing.SUPERSEDED, (newer.record_id,)),),
    )


def _screen(text: str, *, blacken: bool) -> tuple[str, tuple[Finding, ...]]:
    """Search a text before it goes anywhere durable."""
    findings = scan(text)
    if not blacken:
        require_clean(text)
    return redact(text), findings


def _require_record(record_id: str, snapshot: Snapshot) -> tuple[Head, Record]:
    head = require_head(record_id, snapshot)
    record = snapshot.records.get(record_id)
    if record is None:
        raise ChangeRefusedError(field="record_id", expected="is not in the memory any more")
    return head, record
