"""What a message suggests about its writer, waiting for their word.

Takes a message of the user, gives an edit with pending records: in no tier, shown to nobody but
the user. Nothing is suggested that is known, was refused, or holds a secret. Does not know models.
"""

from py_core.memory.changes import Stamp
from py_core.memory.claims import read_claims
from py_core.memory.compose import compose
from py_core.memory.never_list import read_never_list
from py_core.memory.sensitivity import scan
from py_core.records.fields import Fact
from py_core.records.kinds import Record
from py_core.store.edits import Edit, Entry, Snapshot
from py_core.store.head_table import HeadTable
from py_core.store.heads import Standing

SOURCE = "inference:rules/1"
CONFIDENCE_PPM = 600_000
MOST_PENDING = 100


def suggest(message: str, message_id: str, snapshot: Snapshot, stamp: Stamp) -> Edit:
    """Write down what the message claims about its writer, as pending."""
    if scan(message):
        return Edit()
    never = read_never_list(snapshot.choices)
    fresh = [
        _compose_pending(fact, message_id, stamp)
        for fact in read_claims(message)
        if fact.slot not in never and not _is_known(fact, snapshot.heads)
    ]
    offered = [
        record
        for record in fresh
        if record.normalization_hash not in never and not _is_repeated(record, snapshot.heads)
    ]
    room = max(0, MOST_PENDING - snapshot.heads.count_standing(Standing.PENDING)) if offered else 0
    return Edit(entries=tuple(Entry(record, Standing.PENDING) for record in offered[:room]))


def _compose_pending(fact: Fact, message_id: str, stamp: Stamp) -> Record:
    slot = fact.slot.replace("_", " ").replace(".", " for ")
    payload = {"text": f"{slot}: {fact.value}", "facts": [fact.model_dump(mode="json")]}
    return compose(
        "pref",
        "UserPreferenceAssertion",
        payload,
        stamp,
        source=SOURCE,
        scope="user",
        derived_from=[message_id],
        confidence_ppm=CONFIDENCE_PPM,
        review_status="pending",
        promotion_state="pending_review",
    )


def _is_known(fact: Fact, heads: HeadTable) -> bool:
    """Tell whether a slot has this value already, waits for it, or was refused it."""
    return any(
        (fact.slot, fact.value) in head.claims
        for head in heads.with_slot(fact.slot)
        if head.standing is not Standing.WITHDRAWN
    )


def _is_repeated(record: Record, heads: HeadTable) -> bool:
    """Tell the same of a list, whose values are compared by their text."""
    return any(
        head.standing is not Standing.WITHDRAWN
        for head in heads.with_text(record.normalization_hash or "")
    )
