"""Join rankings that carry no scores: reciprocal rank fusion.

Takes lists of ids, best first; gives scores. For hosted results that come in an order and nothing
else; where scores exist they are added instead, which keeps more of the evidence on LoCoMo.
Does not know records.

Source: G. Cormack, C. Clarke and S. Buettcher, Reciprocal Rank Fusion (2009), with their k = 60.
"""

from collections.abc import Sequence
from typing import Final

RANK_OFFSET: Final = 60
_PPM = 1_000_000


def fuse_ranks(rankings: Sequence[Sequence[str]]) -> dict[str, int]:
    """Give each id its score in millionths of the best possible one, best first.

    Example:
        an id that is first in all lists has 1,000,000.
    """
    best = len(rankings) * _PPM // (RANK_OFFSET + 1)
    totals: dict[str, int] = {}
    for ranking in rankings:
        for rank, name in enumerate(dict.fromkeys(ranking), start=1):
            totals[name] = totals.get(name, 0) + _PPM // (RANK_OFFSET + rank)
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    return {name: totals[name] * _PPM // best for name in ordered}
