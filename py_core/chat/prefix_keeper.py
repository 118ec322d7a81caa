"""Save the rows of a system text at the end of a turn, and restore them in a later visit.

Takes a store and, each turn, the model, the identity of its cache and the ids of the system text.
Gives how many tokens came back, or why stored bytes were thrown away. Nothing but the ids and rows
of a system text is ever saved. Does not know plans.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from kernels.kv_snapshot import (
    SnapshotFault,
    count_snapshot_bytes,
    restore_snapshot,
    take_snapshot,
)
from py_core.chat.cache_identity import CacheIdentity
from py_core.chat.loaded_model import LoadedModel
from py_core.store.prefix_store import PrefixStore

LARGEST_SAVED_BYTES = 32 * 2**20
"""A larger system text is read again each visit: 728 tokens of SmolLM2 with float32 rows."""

PrefixDiscarded = SnapshotFault | Literal["", "no_memory"]


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did.

    Attributes:
        tokens: that came back.
        discarded: why stored bytes were not used; empty where there were none, or they were.
        reads_afresh: whether this turn reads the system text, from its first token on.
    """

    tokens: int = 0
    discarded: PrefixDiscarded = ""
    reads_afresh: bool = False


class PrefixKeeper:
    """Restores and saves, each key at most once a visit."""

    def __init__(self, store: PrefixStore) -> None:
        """Start with nothing known."""
        self._store = store
        self._saved: set[str] = set()

    async def restore(
        self, model: LoadedModel, identity: CacheIdentity, ids: Sequence[int]
    ) -> Restored:
        """Fill the cache with the rows of `ids` where it lacks them and an earlier visit had them.

        What was forgotten in this visit was forgotten on purpose, and is read again.
        """
        present, key = model.cache.common_prefix(ids), identity.key_of(ids)
        if present == len(ids):
            return Restored()
        data = None if key in self._saved else await self._store.read(key)
        if data is None:
            return Restored(reads_afresh=present == 0)
        discarded = _fill(model, data, identity, ids)
        if discarded == "":
            self._saved.add(key)
            return Restored(tokens=len(ids) - present)
        await self._store.remove(key)
        return Restored(discarded=discarded, reads_afresh=model.cache.common_prefix(ids) == 0)

    async def save(
        self,
        model: LoadedModel,
        identity: CacheIdentity,
        ids: Sequence[int],
        *,
        reads_afresh: bool,
    ) -> None:
        """Save the rows of `ids`, if they are in the cache as reading them alone would give."""
        key, cache = identity.key_of(ids), model.cache
        is_pure = reads_afresh or model.ops.is_cut_invariant
        is_there = min(cache.common_prefix(ids), cache.exact_length) == len(ids)
        is_small = count_snapshot_bytes(cache, len(ids)) <= LARGEST_SAVED_BYTES
        if key in self._saved or not (ids and is_pure and is_there and is_small):
            return
        self._saved.add(key)
        with suppress(MemoryError):
            data = take_snapshot(cache, model.decoder.config, len(ids), identity=identity.hash)
            await self._store.write(key, identity.model, data)


def _fill(
    model: LoadedModel, data: bytes, identity: CacheIdentity, ids: Sequence[int]
) -> PrefixDiscarded:
    try:
        fault = restore_snapshot(
            model.cache, model.decoder.config, data, identity=identity.hash, ids=ids
        )
    except MemoryError:
        return "no_memory"
    return fault or ""
