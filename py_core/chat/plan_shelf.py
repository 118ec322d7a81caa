"""The plans of the last turns, each with the request that it was compiled from.

Takes plans as they are made; gives them back by hash, so that a record can be looked at and a
receipt can be checked by whoever holds the request. Does not know turns, models or messages.
"""

from dataclasses import dataclass

from py_core.compiler.plan import Plan
from py_core.compiler.request import CompileRequest
from py_core.errors import PlanNotKeptError

KEPT_PLANS = 32


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan and everything that decided it."""

    plan: Plan
    request: CompileRequest


class PlanShelf:
    """Keeps the newest plans in memory; the oldest makes room."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: dict[str, KeptPlan] = {}

    def keep(self, plan: Plan, request: CompileRequest) -> None:
        """Put a plan on the shelf; an equal one is kept once, as the newest."""
        self._kept.pop(plan.plan_hash, None)
        self._kept[plan.plan_hash] = KeptPlan(plan, request)
        if len(self._kept) > KEPT_PLANS:
            del self._kept[next(iter(self._kept))]

    def find(self, plan_hash: str) -> KeptPlan:
        """Give a plan with its request.

        Raises:
            PlanNotKeptError: it was never made here, or has made room.
        """
        kept = self._kept.get(plan_hash)
        if kept is None:
            raise PlanNotKeptError(plan_hash=plan_hash, kept_plans=KEPT_PLANS)
        return kept
