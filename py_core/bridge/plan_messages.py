"""The messages that look into a plan made earlier: one record of it, and its files.

Takes JSON values, gives typed payloads and values. Does not know where plans are kept.
"""

from typing import Literal

from pydantic import Field

from py_core.bridge.message_shape import Message, RequestEnvelope, Sha256
from py_core.records.kinds import AnyRecord

Document = Literal["receipt", "plan", "request"]

LONGEST_RECORD_ID_CHARS = 128


class PlanRecordPayload(Message):
    """Which record of which plan."""

    plan_hash: Sha256
    record_id: str = Field(max_length=LONGEST_RECORD_ID_CHARS)


class ReceiptExportPayload(Message):
    """Which file of which plan.

    The receipt holds nothing of the user's and may be shown to anybody. The plan holds the texts
    of the prompt. The request holds all records and the key of this session, and is what
    `python -m py_core verify` compiles again.
    """

    plan_hash: Sha256
    document: Document


class PlanRecordAsked(RequestEnvelope):
    """Show the record behind a row of a plan."""

    kind: Literal["plan.record"]
    payload: PlanRecordPayload


class ReceiptExportAsked(RequestEnvelope):
    """Write a plan down as a file."""

    kind: Literal["receipt.export"]
    payload: ReceiptExportPayload


class RecordShown(Message):
    """A record as it was before the compiler looked at it."""

    record: AnyRecord
    envelope_hash: Sha256


class ExportedFile(Message):
    """A file for the owner to keep."""

    document: Document
    file_name: str
    text: str
