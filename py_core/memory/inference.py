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
from py_core.store.heads import Standing

SOURCE = "inference:rules/1"
CONFIDENCE_PPM = 600_000
MOST_PENDING = 100


def suggest(message: str, message_id: str, snapshot: Snapshot, stamp: Stamp) -> Edit:
    """Write down what the message claims about its writer, as pending."""
    if scan(message):
        return Edit()
    taken = _list_taken(snapshot)
    never = read_never_list(snapshot.choices)
    fresh = [
        fact
        for fact in read_claims(message)
        if (fact.slot, fact.value) not in taken and fact.slot not in never
    ]
    pending = sum(head.standing is Standing.PENDING for head in snapshot.heads.values())
    room = max(0, MOST_PENDING - pending)
    records = [_compose_pending(fact, message_id, stamp) for fact in fresh]
    offered = [record for record in records if record.normalization_hash not in never][:room]
    return Edit(entries=tuple(Entry(record, Standing.PENDING) for record in offered))


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


def _list_taken(snapshot: Snapshot) -> set[tuple[str, str]]:
    """Give what is known, waits or was refused; list slots are compared by their text."""
    taken = set[tuple[str, str]]()
    for head in snapshot.heads.values():
        if head.standing is not Standing.WITHDRAWN:
            taken.update(head.claims)
            slot, _, value = head.text.partition(": ")
            taken.add((slot.replace(" for ", ".").replace(" ", "_"), value))
    return taken
