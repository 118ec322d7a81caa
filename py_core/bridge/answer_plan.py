"""The kinds plan.record and receipt.export: look into a plan that is still on the shelf.

Takes the shelf and a payload, gives a record or a file. Does not know ids, tasks or models.
"""

import json
from typing import assert_never

from py_core.bridge.plan_messages import (
    Document,
    ExportedFile,
    PlanRecordPayload,
    ReceiptExportPayload,
    RecordShown,
)
from py_core.chat.plan_shelf import KeptPlan, PlanShelf
from py_core.compiler.plan import Plan, Reason
from py_core.compiler.receipt import Receipt, make_receipt
from py_core.compiler.request import write_request_file
from py_core.errors import RecordNotFoundError, RecordWithheldError
from py_core.records.request_file import RequestFile

# What a session may not see, and what was deleted, is not shown on the way of the plan either.
WITHHELD = frozenset({Reason.TENANT_MISMATCH, Reason.ABOVE_CLEARANCE, Reason.TOMBSTONED})

SHORT_HASH_CHARS = 12


def show_record(shelf: PlanShelf, payload: PlanRecordPayload) -> RecordShown:
    """Give the record behind a row.

    Raises:
        PlanNotKeptError: the plan is not on the shelf.
        RecordNotFoundError: the plan was made without it.
        RecordWithheldError: the plan left it out for a reason that forbids to show it.
    """
    kept, record_id = shelf.find(payload.plan_hash), payload.record_id
    _refuse_withheld(kept.plan, record_id)
    for record in kept.request.records:
        if record.record_id == record_id:
            return RecordShown(record=record, envelope_hash=record.envelope_hash)
    raise RecordNotFoundError(record_id=record_id)


def export_document(shelf: PlanShelf, payload: ReceiptExportPayload) -> ExportedFile:
    """Write a file of a plan; its name says what it is and of which plan.

    Raises:
        PlanNotKeptError: the plan is not on the shelf.
    """
    kept, document = shelf.find(payload.plan_hash), payload.document
    return ExportedFile(
        document=document,
        file_name=f"tinyloom-{document}-{kept.plan.plan_hash[:SHORT_HASH_CHARS]}.json",
        text=_write(kept, document),
    )


def _refuse_withheld(plan: Plan, record_id: str) -> None:
    for exclusion in plan.exclusions:
        if exclusion.record_id == record_id and exclusion.reason in WITHHELD:
            raise RecordWithheldError(record_id=record_id, reason=exclusion.reason.value)


def _write(kept: KeptPlan, document: Document) -> str:
    value = _choose(kept, document).model_dump(mode="json")
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"


def _choose(kept: KeptPlan, document: Document) -> Receipt | Plan | RequestFile:
    match document:
        case "receipt":
            return make_receipt(kept.plan)
        case "plan":
            return kept.plan
        case "request":
            return write_request_file(kept.request)
        case _:
            assert_never(document)
