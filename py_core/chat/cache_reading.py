"""Which records stand behind the rows of a cache, and whether a span may be cut out of it.

Takes the plan of each turn. A cut leaves traces of the span in the rows that are moved, so it is
made only where everything that left the prompt did so for want of room or relevance. What was
withdrawn, replaced or changed must leave no trace: its successors are read again. Does not know
how rows are moved.
"""

from py_core.compiler.plan import Plan, Reason

_HARMLESS = frozenset(
    {
        Reason.OVER_BUDGET,
        Reason.BEHIND_OVER_BUDGET,
        Reason.BELOW_RELEVANCE_FLOOR,
        Reason.MEMORY_NOT_NEEDED,
    }
)


class CacheReading:
    """The records that were read into the rows that a cache holds now."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._read: frozenset[str] = frozenset()

    def allows_traces(self, plan: Plan) -> bool:
        """Tell whether every record behind the rows is in this prompt, or stayed out harmlessly."""
        present = {node.envelope_hash for node in plan.nodes}
        harmless = {out.envelope_hash for out in plan.exclusions if out.reason in _HARMLESS}
        return self._read <= present | harmless

    def note(self, plan: Plan, *, has_traces: bool) -> None:
        """Note what this turn reads; with moved rows in the cache, what was read before stays."""
        present = frozenset(node.envelope_hash for node in plan.nodes)
        self._read = present | self._read if has_traces else present
