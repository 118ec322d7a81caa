"""New records of the memory, put together from texts and from their older versions.

Takes texts, a stamp and the ledger's revision; gives typed records with ids that follow from their
content, so that no randomness is needed and two tabs never share an id for different things. Does
not know what a change leads to.
"""

from collections.abc import Sequence
from typing import Any

from py_core.identity import content_hash
from py_core.memory.changes import Keep, Stamp
from py_core.memory.claims import read_claims
from py_core.records.fields import Fact
from py_core.records.kinds import Record
from py_core.records.record_text import make_record
from py_core.store.edits import Snapshot
from py_core.store.heads import Head

ID_DIGITS = 24

# A text of these slots is a trait of the person; anything else is a fact to know.
_PROFILE_SLOTS = (
    "name", "age", "home", "job", "employer", "allergy", "language", "likes", "dislikes",
)  # fmt: skip

_NEW_IN_EACH_VERSION = {
    "record_id", "kind", "tenant_binding", "payload", "observation_time", "recorded_at",
    "content_identity", "normalization_hash",
}  # fmt: skip


def compose(
    prefix: str, kind: str, payload: dict[str, Any], stamp: Stamp, **envelope: object
) -> Record:
    """Put a record together; everything in it decides its id.

    Raises:
        BadRequestError: a value is not what the kind of record allows.
    """
    value = {
        "kind": kind,
        "tenant_binding": stamp.tenant,
        "observation_time": stamp.now,
        "payload": payload,
        **envelope,
    }
    return make_record({"record_id": f"{prefix}-{content_hash(value)[:ID_DIGITS]}", **value})


def compose_memory(
    text: str, facts: Sequence[Fact], stamp: Stamp, *, is_deleted_before: bool, **envelope: object
) -> Record:
    """Put a memory together that the user agreed to: a trait of theirs or a durable fact.

    A trait that was once deleted comes back as a durable fact: that kind carries the time of the
    new consent, so the old deletion does not reach it.
    """
    payload = {"text": text, "facts": [fact.model_dump(mode="json") for fact in facts]}
    confirmed = {"review_status": "promoted", "promotion_state": "promoted", **envelope}
    if is_profile(facts) and not is_deleted_before:
        return compose("pref", "UserPreferenceAssertion", payload, stamp, **confirmed)
    durable = {**payload, "consented_at": stamp.now}
    return compose("mem", "LongTermMemoryRecord", durable, stamp, **confirmed)


def is_profile(facts: Sequence[Fact]) -> bool:
    """Tell whether claims describe the user."""
    return any(
        fact.slot in _PROFILE_SLOTS or fact.slot.startswith(("preference", "favo"))
        for fact in facts
    )


def revise(
    record: Record, stamp: Stamp, payload: dict[str, Any] | None = None, **changes: object
) -> Record:
    """Make a newer version; it names the older one and is never dated before it.

    A clock that jumped back must not make a correction look older than what it corrects.
    """
    value = record.model_dump(mode="json", exclude=_NEW_IN_EACH_VERSION)
    value.update(supersedes=[record.record_id], **changes)
    now = max(stamp.now, record.observation_time.isoformat())
    return compose(
        record.record_id.split("-")[0],
        record.kind,
        {**record.payload.model_dump(mode="json"), **(payload or {})},
        Stamp(record.tenant_binding, now),
        **value,
    )


def reword(record: Record, text: str, stamp: Stamp, **changes: object) -> Record:
    """Make a newer version with other words, and with the claims of these words."""
    payload: dict[str, Any] = {"text": text}
    payload["facts"] = [fact.model_dump(mode="json") for fact in read_claims(text)]
    if record.kind == "LongTermMemoryRecord":
        payload["consented_at"] = stamp.now
    return revise(record, stamp, payload, **changes)


def compose_tombstone(head: Head, stamp: Stamp) -> Record:
    """Put the mark of a deletion together; it shares the identity of what it deletes, no text."""
    return compose(
        "tomb",
        "Tombstone",
        {"is_deleted": True},
        stamp,
        content_identity=head.content_identity,
        supersedes=[head.record_id],
        source="user:forget",
        scope=head.scope,
        scope_id=head.scope_id,
    )


def write_retention(keep: Keep) -> dict[str, str | None]:
    """Write the retention of an envelope."""
    return {"rule": keep.rule, "keep_until": keep.until or None}


def list_deleted_identities(snapshot: Snapshot) -> frozenset[str]:
    """Give the content identities of everything that was ever deleted."""
    return frozenset(head.content_identity for head in snapshot.heads.of_kind("Tombstone"))
