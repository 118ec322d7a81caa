"""Which marks of deletion, retractions and links a turn needs.

Takes heads and the ids in play, gives the ids of the records that act on them. Deletions are named
even when nothing of what they delete is there: the newest of them are listed in every plan. Does
not open records.
"""

from collections.abc import Collection, Iterable
from typing import Final

from py_core.store.head_table import HeadTable
from py_core.store.heads import Head

MOST_UNSEEN_TOMBSTONES: Final = 32


def list_acting(heads: HeadTable, names: Collection[str], identities: Collection[str]) -> list[str]:
    """List what acts.

    Args:
        heads: The ledger.
        names: Ids of all records and messages of the request.
        identities: Content identities of its memories.
    """
    tombstones = [head for head in heads.of_kind("Tombstone") if head.is_active]
    seen = [head for head in tombstones if _deletes(head, names, identities)]
    unseen = sorted(_without(tombstones, seen), key=lambda head: (-head.sequence, head.record_id))
    others = [
        head
        for kind in ("Retraction", "SupersessionLink")
        for head in heads.of_kind(kind)
        if head.is_active and any(target in names for target in head.targets)
    ]
    return [head.record_id for head in (*seen, *unseen[:MOST_UNSEEN_TOMBSTONES], *others)]


def _deletes(head: Head, names: Collection[str], identities: Collection[str]) -> bool:
    return head.content_identity in identities or any(older in names for older in head.supersedes)


def _without(heads: Iterable[Head], others: Iterable[Head]) -> list[Head]:
    known = {head.record_id for head in others}
    return [head for head in heads if head.record_id not in known]
