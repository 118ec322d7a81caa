"""Step 3: deletions, retractions and replacements take effect, in this order and for good.

Takes tiered candidates, gives those that still stand, and what was odd in the graph. Acts only
inside the session's tenant, and never upwards: a link from below a record's tier does nothing.
Does not know texts, so no wording can bring a deleted record back.

    tombstone    every record of its content identity or named by it, final in any order
    retraction   the named record, tier 4 and below; a retracted record replaces nothing
    link         the older record, unless the link is void (circle, itself, unknown, from below)
    source gone  every record made from one that is gone, unless it is the replacement itself
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush

from py_core.compiler.authority import Tier, is_core, outranks
from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import Draft, leave_out
from py_core.compiler.plan import GraphFinding, Reason
from py_core.compiler.request import CompileRequest
from py_core.compiler.supersession_graph import (
    find_components,
    find_cycles,
    gather_edges,
    topological_order,
)
from py_core.records.kinds import Retraction, SupersessionLink, Tombstone

NOTHING = "nothing to act on"

Removals = dict[str, tuple[Reason, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class _Scene:
    """The candidates of one tenant and what has been found about them so far."""

    by_id: dict[str, Candidate]
    foreign_ids: frozenset[str]
    gone: Removals = field(default_factory=dict)
    findings: list[GraphFinding] = field(default_factory=list)

    def note(self, kind: str, record_ids: Iterable[str], effect: str) -> None:
        self.findings.append(
            GraphFinding.model_validate(
                {"kind": kind, "record_ids": tuple(record_ids), "effect": effect}
            )
        )

    def remove(self, record_id: str, reason: Reason, by: Iterable[str]) -> None:
        self.gone.setdefault(record_id, (reason, tuple(sorted(set(by)))))


def apply_supersession(draft: Draft, request: CompileRequest) -> Draft:
    """Remove what is deleted, taken back or replaced, and everything made from it."""
    tenant = request.session.tenant
    own = {c.record_id: c for c in draft.kept if c.record.tenant_binding == tenant}
    foreign = frozenset(c.record_id for c in draft.kept if c.record_id not in own)
    scene = _Scene(by_id=own, foreign_ids=foreign)
    _apply_tombstones(scene)
    _apply_retractions(scene)
    edges = _apply_links(scene)
    _withdraw_descendants(scene, edges)
    for candidate in own.values():
        if candidate.is_acting:
            scene.remove(candidate.record_id, Reason.ACTED, ())
    left = leave_out(draft, "apply_supersession", scene.gone)
    ordered = sorted(scene.findings, key=lambda finding: (finding.kind, finding.record_ids))
    return replace(left, graph_findings=tuple(ordered))


def _apply_tombstones(scene: _Scene) -> None:
    by_identity: dict[str, list[Candidate]] = {}
    for candidate in scene.by_id.values():
        record = candidate.record
        if not candidate.is_acting and record.content_identity and record.normalization_hash:
            by_identity.setdefault(record.content_identity, []).append(candidate)
            by_identity.setdefault(record.normalization_hash, []).append(candidate)
    for candidate in scene.by_id.values():
        if isinstance(candidate.record, Tombstone):
            _apply_tombstone(scene, candidate.record, by_identity)


def _apply_tombstone(
    scene: _Scene, tombstone: Tombstone, by_identity: dict[str, list[Candidate]]
) -> None:
    hashes = [tombstone.content_identity or "", tombstone.normalization_hash or ""]
    targets = [candidate for found in hashes for candidate in by_identity.get(found, ())]
    targets += [
        scene.by_id[target]
        for target in tombstone.supersedes
        if target in scene.by_id and not scene.by_id[target].is_acting
    ]
    if not targets:
        scene.note("unseen_tombstone", [tombstone.record_id], "nothing to delete here; kept")
    for target in targets:
        if is_core(target.ranked_tier):
            ids = [tombstone.record_id, target.record_id]
            scene.note("protected_target", ids, "tiers 1 and 2 cannot be deleted by a record")
        else:
            _, known = scene.gone.get(target.record_id, (Reason.TOMBSTONED, ()))
            by = tuple(sorted({*known, tombstone.record_id}))
            scene.gone[target.record_id] = (Reason.TOMBSTONED, by)


def _apply_retractions(scene: _Scene) -> None:
    for candidate in scene.by_id.values():
        record = candidate.record
        if not isinstance(record, Retraction) or candidate.record_id in scene.gone:
            continue
        target = scene.by_id.get(record.payload.target_id)
        ids = [record.record_id, record.payload.target_id]
        if target is None:
            _note_missing(scene, "unknown_older", ids)
        elif isinstance(target.record, Tombstone):
            scene.note("protected_target", ids, "a deletion cannot be taken back; ignored")
        elif outranks(target.ranked_tier, Tier.EARLIER_USER) and not target.is_acting:
            scene.note("outranked_link", ids, "a retraction reaches tier 4 and below; ignored")
        else:
            scene.remove(target.record_id, Reason.RETRACTED, [record.record_id])


def _apply_links(scene: _Scene) -> frozenset[tuple[str, str]]:
    """Remove the older ends of all links that hold, and give these links."""
    claims: set[tuple[str, str]] = set()
    for candidate in scene.by_id.values():
        if scene.gone.get(candidate.record_id, (None, ()))[0] is Reason.RETRACTED:
            continue
        if isinstance(candidate.record, SupersessionLink):
            claims.add((candidate.record.payload.newer_id, candidate.record.payload.older_id))
        elif not isinstance(candidate.record, Tombstone):
            claims.update((candidate.record_id, older) for older in candidate.record.supersedes)
    sound = [claim for claim in sorted(claims) if _is_sound(scene, *claim)]
    graph = gather_edges(sound)
    component = find_components(graph)
    for cycle in find_cycles(component):
        scene.note("cycle", cycle, "the links of a circle cancel out; its records stay")
    links = [(newer, older) for newer, older in sound if component[newer] != component[older]]
    _remove_older(scene, links)
    return frozenset(links)


def _is_sound(scene: _Scene, newer: str, older: str) -> bool:
    """Tell whether a claim may act; write down why not."""
    ids = (newer, older)
    if newer == older:
        scene.note("self_link", [newer], "a record cannot replace itself; ignored")
        return False
    target, source = scene.by_id.get(older), scene.by_id.get(newer)
    if target is None or target.is_acting:
        return _note_missing(scene, "unknown_older", ids)
    if source is None:
        # Its authority is unknown, so it counts as the lowest; otherwise an untrusted record could
        # change what is trusted by being there or not.
        _note_missing(scene, "unknown_newer", ids)
        return not outranks(target.ranked_tier, Tier.UNTRUSTED)
    is_retracted = scene.gone.get(newer, (None, ()))[0] is Reason.RETRACTED
    if outranks(target.ranked_tier, source.ranked_tier):
        scene.note("outranked_link", ids, "a lower tier cannot replace a higher one; ignored")
        return False
    return not is_retracted


def _note_missing(scene: _Scene, kind: str, ids: Iterable[str]) -> bool:
    names = tuple(ids)
    if scene.foreign_ids.intersection(names):
        scene.note("foreign_link", names, "links end at the border of a tenant; ignored")
    else:
        is_newer = kind == "unknown_newer"
        effect = "counts as untrusted, so only such a record goes" if is_newer else NOTHING
        scene.note(kind, names, effect)
    return False


def _remove_older(scene: _Scene, links: list[tuple[str, str]]) -> None:
    newer_of: dict[str, list[str]] = {}
    for newer, older in links:
        newer_of.setdefault(older, []).append(newer)
    for node in topological_order(gather_edges(links)):
        if node in newer_of:
            scene.remove(node, Reason.SUPERSEDED, newer_of[node])


def _withdraw_descendants(scene: _Scene, links: frozenset[tuple[str, str]]) -> None:
    """Remove what was made from something gone; the replacement of its own source stays.

    A replacement from a lower tier withdraws nothing of a higher one: the strongest cause of each
    removal travels down with it, causes first that are strongest.
    """
    children: dict[str, list[str]] = {}
    for candidate in scene.by_id.values():
        for source in candidate.record.derived_from:
            children.setdefault(source, []).append(candidate.record_id)
    queue = [(_find_cause(scene, record_id), record_id) for record_id in scene.gone]
    heapify(queue)
    while queue:
        cause, source = heappop(queue)
        is_final = scene.gone[source][0] is not Reason.SUPERSEDED
        for child in sorted(children.get(source, ())):
            tier = scene.by_id[child].ranked_tier
            is_replacement = (child, source) in links and not is_final
            is_protected = is_core(tier) or outranks(tier, cause) or is_replacement
            if child not in scene.gone and not scene.by_id[child].is_acting and not is_protected:
                scene.remove(child, Reason.SOURCE_WITHDRAWN, [source])
                heappush(queue, (cause, child))


def _find_cause(scene: _Scene, record_id: str) -> Tier:
    """Give the strongest tier behind a removal; deletions and retractions count as the user's."""
    reason, by = scene.gone[record_id]
    if reason is not Reason.SUPERSEDED:
        return Tier.SYSTEM_POLICY
    known = [scene.by_id[newer].ranked_tier for newer in by if newer in scene.by_id]
    return min(known, default=Tier.UNTRUSTED)
