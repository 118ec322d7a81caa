"""A plan as text that a person can follow.

Takes a plan, gives lines: the budget, what entered in the order of the prompt, what stayed out
with its reason, then what was found on the way. Does not decide or count anything.
"""

from collections.abc import Iterator

from py_core.compiler.plan import Plan

TIER_NAMES = {
    1: "system policy",
    2: "current instruction",
    3: "verified now",
    4: "earlier user",
    5: "session state",
    6: "user profile",
    7: "durable memory",
    8: "reviewed summary",
    9: "unreviewed",
    10: "untrusted",
}
SHOWN_CHARS = 72
BAR_CELLS = 60


def explain_plan(plan: Plan) -> str:
    """Write the plan as text."""
    return "\n".join(
        (*_head(plan), *_budget(plan), *_kept(plan), *_left_out(plan), *_findings(plan))
    )


def _head(plan: Plan) -> Iterator[str]:
    yield f"plan {plan.plan_hash}"
    yield (
        f"policy {plan.policy_version} ({plan.policy_identity[:12]}), model "
        f"{plan.model_identity}, tokenizer {plan.tokenizer_identity[:12]}, {plan.template}"
    )
    yield (
        f"memory {plan.memory_status}, truncation {plan.truncation_mode}, generation "
        f"{plan.generation}"
    )
    yield ""


def _budget(plan: Plan) -> Iterator[str]:
    allowance = plan.allowance
    yield f"BUDGET ({allowance.model_class} model)"
    for line in allowance.account:
        yield f"  {line}"
    for bar in allowance.bars:
        cells = bar.tokens * BAR_CELLS // allowance.context_tokens
        yield f"  {bar.name:<15} {bar.tokens:>6}  {'#' * cells}"
    yield ""


def _kept(plan: Plan) -> Iterator[str]:
    yield f"IN THE PROMPT ({len(plan.nodes)} records, {len(plan.frames)} frames)"
    for node in plan.nodes:
        tier = f"{node.tier} {TIER_NAMES[node.tier]}"
        flags = f"  [{', '.join(node.flags)}]" if node.flags else ""
        merged = f"  stands for {', '.join(node.provenance[1:])}" if node.provenance[1:] else ""
        yield (
            f"  {node.token_cost:>5} tokens  {tier:<22} {node.record_id}  "
            f"{node.rendering_template}/{node.level}{flags}{merged}"
        )
        yield f"        {_shorten(node.text)}"
    yield f"  {sum(frame.token_cost for frame in plan.frames):>5} tokens  in frames"
    yield ""


def _left_out(plan: Plan) -> Iterator[str]:
    yield f"LEFT OUT ({len(plan.exclusions)} records)"
    for exclusion in plan.exclusions:
        tier = "-" if exclusion.tier is None else f"{exclusion.tier} {TIER_NAMES[exclusion.tier]}"
        by = f" by {', '.join(exclusion.superseded_by)}" if exclusion.superseded_by else ""
        yield f"  {exclusion.record_id}  {tier}  {exclusion.reason}{by}  (step {exclusion.step})"
    yield ""


def _findings(plan: Plan) -> Iterator[str]:
    yield "FOUND ON THE WAY"
    for conflict in plan.conflicts:
        yield (
            f"  conflict on {conflict.slot}: {conflict.winner_id} against "
            f"{', '.join(conflict.loser_ids)}: {conflict.resolution} ({conflict.kind})"
        )
    for group in plan.duplicates:
        yield f"  duplicate: {group.kept_id} stands for {', '.join(group.suppressed_ids)}"
    for finding in plan.graph_findings:
        yield f"  {finding.kind}: {', '.join(finding.record_ids)}: {finding.effect}"
    if plan.routing is not None:
        signs = ", ".join(plan.routing.signs) or "no sign"
        yield f"  summaries: route {plan.routing.route} ({signs})"
    for lane in plan.lanes:
        yield f"  lane {lane.lane}: {lane.status}, {lane.candidates} candidates"
    if plan.boundary.is_used:
        mark, draws = plan.boundary.mark, plan.boundary.draws
        yield f"  boundary mark {mark} around the quoted text, draw {draws}"
    else:
        yield "  no quoted text, so no boundary mark"


def _shorten(text: str) -> str:
    line = text.replace("\n", " / ")
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}..."
