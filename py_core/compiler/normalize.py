"""Step 1: one candidate for each record, however often and in whatever order it came.

Takes the first draft, gives it without repetitions. The normalised text was computed and its hash
checked when the record was read; the payload stays as it is. Does not know authority.
"""

from dataclasses import replace

from py_core.compiler.candidate import Candidate
from py_core.compiler.draft import Draft, exclude
from py_core.compiler.plan import Exclusion, Reason
from py_core.compiler.request import CompileRequest
from py_core.errors import BadRequestError


def normalize(draft: Draft, request: CompileRequest) -> Draft:
    """Fold records that came twice; refuse two that share only the id.

    Raises:
        BadRequestError: one id, two contents.
    """
    kept: dict[str, Candidate] = {}
    excluded: list[Exclusion] = []
    for candidate in draft.kept:
        first = kept.setdefault(candidate.record_id, candidate)
        if first is candidate:
            continue
        if first.record.envelope_hash != candidate.record.envelope_hash:
            raise BadRequestError(
                field=f"records.{candidate.record_id}",
                expected="expected an id of its own, another record with other content has it",
            )
        excluded.append(exclude(candidate, "normalize", Reason.REPEATED_RECORD))
    return replace(draft, kept=tuple(kept.values()), excluded=(*draft.excluded, *excluded))
