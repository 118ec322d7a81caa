"""The lattice of authority: ten tiers, and who outranks whom.

Takes tiers, gives comparisons. A smaller number has more authority, which misleads; therefore
tiers are compared here and nowhere else. Does not know records.
"""

from enum import IntEnum


class Tier(IntEnum):
    """Who may overrule whom, strongest first."""

    SYSTEM_POLICY = 1
    CURRENT_INSTRUCTION = 2
    VERIFIED_NOW = 3
    EARLIER_USER = 4
    SESSION_STATE = 5
    USER_PROFILE = 6
    DURABLE_MEMORY = 7
    REVIEWED_SUMMARY = 8
    UNREVIEWED = 9
    UNTRUSTED = 10


CORE_TIERS = (Tier.SYSTEM_POLICY, Tier.CURRENT_INSTRUCTION)


def outranks(one: Tier, other: Tier) -> bool:
    """Tell whether `one` has more authority than `other`."""
    return one < other


def is_core(tier: Tier) -> bool:
    """Tell whether a tier belongs to the block that is never cut."""
    return tier in CORE_TIERS


def is_trusted(tier: Tier) -> bool:
    """Tell whether text of a tier may stand outside the boundary marks."""
    return outranks(tier, Tier.UNREVIEWED)
