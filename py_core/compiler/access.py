"""Who may see a record.

Takes a record and a session, gives yes or no with the reason. Does not know tiers or relevance:
nothing that a search finds out can open a record.
"""

from py_core.compiler.plan import Reason
from py_core.records.envelope import Envelope
from py_core.records.fields import Sensitivity
from py_core.records.request_file import Session

_RANK = {name: rank for rank, name in enumerate(Sensitivity)}


def find_refusal(record: Envelope, session: Session) -> Reason | None:
    """Name the reason for which the session may not see a record, or none."""
    if record.tenant_binding != session.tenant:
        return Reason.TENANT_MISMATCH
    if _RANK[record.sensitivity] > _RANK[session.clearance]:
        return Reason.ABOVE_CLEARANCE
    keep_until = record.retention.keep_until
    if keep_until is not None and keep_until <= session.now:
        return Reason.RETENTION_ENDED
    return None
