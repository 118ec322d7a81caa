"""The compiler: a request in, the plan of one prompt out.

Takes records, session, capacity, policy and a token counter; gives the plan with its ids, or
refuses. Knows no clock, no model and no store: the same request gives the same plan everywhere.
"""

from py_core.compiler.apply_supersession import apply_supersession
from py_core.compiler.assemble_plan import assemble_plan
from py_core.compiler.assign_authority import assign_authority
from py_core.compiler.draft import Step, open_draft
from py_core.compiler.filter_access import filter_access
from py_core.compiler.fit_budget import fit_budget
from py_core.compiler.normalize import normalize
from py_core.compiler.plan import Plan
from py_core.compiler.rank_candidates import rank_candidates
from py_core.compiler.render_prompt import render_prompt
from py_core.compiler.request import CompileRequest
from py_core.compiler.resolve_conflicts import resolve_conflicts
from py_core.compiler.screen_untrusted import screen_untrusted

STEPS: tuple[Step, ...] = (
    normalize,
    assign_authority,
    apply_supersession,
    resolve_conflicts,
    filter_access,
    screen_untrusted,
    rank_candidates,
    fit_budget,
    render_prompt,
)


def compile_context(request: CompileRequest) -> Plan:
    """Compile the prompt of one turn.

    Raises:
        ContextOverflowError: tiers 1 and 2 do not fit; nothing is ever cut from them.
        BadRequestError: two records share an id but not their content.
    """
    draft = open_draft(request.records)
    for step in STEPS:
        draft = step(draft, request)
    return assemble_plan(draft, request)
