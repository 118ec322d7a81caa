"""Where the beginning ends that every turn of a conversation has in common.

Takes a plan, gives a number of its ids: the begin mark and the system turn with its frame. Nothing
that a user said or a memory holds stands there. Does not know caches.
"""

from py_core.compiler.plan import Plan

_SYSTEM_PARTS = frozenset({"begin_mark", "turn_open", "policy", "policy_break", "default_system"})


def count_system_tokens(plan: Plan) -> int:
    """Count the leading ids that belong to the system text; none where the prompt has none."""
    parts = [(frame.position, frame.name, frame.token_cost) for frame in plan.frames]
    parts += [(node.position, node.rendering_template, node.token_cost) for node in plan.nodes]
    total, has_text = 0, False
    for _, name, cost in sorted(parts):
        total += cost
        if name == "turn_close":
            return total if has_text else 0
        if name not in _SYSTEM_PARTS:
            break
        has_text = has_text or name in {"policy", "default_system"}
    return 0
