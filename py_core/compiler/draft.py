"""What goes from step to step: the records still in, those already out, and what was found.

Takes values from one step, hands them to the next. Frozen: a step returns a new draft. The law of
every step: what it keeps and what it excludes are together what it was given.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from py_core.compiler.candidate import Candidate, Piece, make_candidate
from py_core.compiler.plan import (
    Allowance,
    BoundaryMark,
    Conflict,
    DuplicateGroup,
    Exclusion,
    GraphFinding,
    Reason,
    Routing,
    StepName,
)
from py_core.compiler.request import CompileRequest
from py_core.records.kinds import Record


@dataclass(frozen=True, slots=True)
class Draft:
    """The state between two steps."""

    kept: tuple[Candidate, ...]
    excluded: tuple[Exclusion, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    duplicates: tuple[DuplicateGroup, ...] = ()
    graph_findings: tuple[GraphFinding, ...] = ()
    routing: Routing | None = None
    preferred_turns: frozenset[str] = field(default_factory=frozenset)
    """Earlier messages that stand in for a summary which does not suffice."""

    boundary: BoundaryMark | None = None
    allowance: Allowance | None = None
    is_truncated: bool = False
    repeats_request: bool = False
    pieces: tuple[Piece, ...] = ()


Step = Callable[[Draft, CompileRequest], Draft]


def open_draft(records: Iterable[Record]) -> Draft:
    """Make the first draft, in an order that does not depend on the order of arrival."""
    ordered = sorted(records, key=lambda record: (record.record_id, record.envelope_hash))
    return Draft(kept=tuple(make_candidate(record) for record in ordered))


def exclude(
    candidate: Candidate, step: StepName, reason: Reason, by: Iterable[str] = ()
) -> Exclusion:
    """Write down why a candidate stays out."""
    record = candidate.record
    return Exclusion(
        record_id=record.record_id,
        kind=record.kind,
        envelope_hash=record.envelope_hash,
        tier=None if candidate.tier is None else int(candidate.tier),
        step=step,
        reason=reason,
        superseded_by=tuple(by),
    )


def part(draft: Draft, step: StepName, find_reason: Callable[[Candidate], Reason | None]) -> Draft:
    """Keep the candidates without a reason to go, exclude the others with theirs."""
    kept: list[Candidate] = []
    excluded: list[Exclusion] = []
    for candidate in draft.kept:
        reason = find_reason(candidate)
        if reason is None:
            kept.append(candidate)
        else:
            excluded.append(exclude(candidate, step, reason))
    return replace(draft, kept=tuple(kept), excluded=(*draft.excluded, *excluded))


def leave_out(
    draft: Draft, step: StepName, reasons: Mapping[str, tuple[Reason, Sequence[str]]]
) -> Draft:
    """Exclude the candidates whose id has a reason and the records that caused it."""
    if not reasons:
        return draft
    kept: list[Candidate] = []
    excluded: list[Exclusion] = []
    for candidate in draft.kept:
        found = reasons.get(candidate.record_id)
        if found is None:
            kept.append(candidate)
        else:
            excluded.append(exclude(candidate, step, found[0], found[1]))
    return replace(draft, kept=tuple(kept), excluded=(*draft.excluded, *excluded))
