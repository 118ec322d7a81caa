"""Whether the summaries suffice for this question, by rule.

Takes the question and what is known of the summaries, gives a route with its signs. Whatever
cannot be judged goes to the raw records: a summary is lossy, its sources are not.

    need = 0.20 [more than 20 words] + 0.25 [asks for a time] + 0.25 [asks for a cause]
         + 0.20 [best relevance under 0.3, or fewer than 3 summaries] + 0.10 [no clear best one]
    raw when need > 0.5, when a summary is in an open conflict, or when its lineage is missing

Source: TierMem, arXiv 2602.17913, rule variant; the entropy is computed in integers.
"""

from collections.abc import Sequence

from py_core.compiler.plan import Routing
from py_core.records.fields import LARGEST_PPM
from py_core.unicode_text import WORD, fold_case

LONG_QUESTION_WORDS = 20
LOW_RELEVANCE_PPM = 300_000
FEW_SUMMARIES = 3
UNCLEAR_ENTROPY_PPM = 1_500_000

_TIME_WORDS_TEXT = (
    "when date time day week month year yesterday today tomorrow ago before after since until "
    "during last first earlier later recently monday tuesday wednesday thursday friday saturday "
    "sunday january february march april may june july august september october november "
    "december"
)
_TIME_WORDS = frozenset(_TIME_WORDS_TEXT.split())
_CAUSE_WORDS_TEXT = (
    "why because cause caused causes reason reasons reasoning due therefore explain led leads"
)
_CAUSE_WORDS = frozenset(_CAUSE_WORDS_TEXT.split())


def route_question(
    question: str,
    relevances_ppm: Sequence[int],
    *,
    is_disputed: bool,
    has_lineage: bool,
    threshold_ppm: int = LARGEST_PPM // 2,
) -> Routing:
    """Choose between the summaries and their sources.

    Args:
        question: the current instruction.
        relevances_ppm: relevance of each summary.
        is_disputed: a summary contradicts another record and nothing decides it.
        has_lineage: every summary names its sources.
        threshold_ppm: need above which the sources are wanted.
    """
    words = WORD.findall(fold_case(question))
    parts = [
        (200_000, "long_question", len(words) > LONG_QUESTION_WORDS),
        (250_000, "asks_for_time", not _TIME_WORDS.isdisjoint(words)),
        (250_000, "asks_for_cause", not _CAUSE_WORDS.isdisjoint(words)),
        (200_000, "weak_summaries", _is_weak(relevances_ppm)),
        (100_000, "no_clear_best", count_entropy_ppm(relevances_ppm) > UNCLEAR_ENTROPY_PPM),
        (LARGEST_PPM, "disputed", is_disputed),
        (LARGEST_PPM, "lineage_missing", not has_lineage),
    ]
    need = min(LARGEST_PPM, sum(weight for weight, _, holds in parts if holds))
    return Routing(
        route="raw" if need > threshold_ppm else "summary",
        need_ppm=need,
        threshold_ppm=threshold_ppm,
        signs=tuple(name for _, name, holds in parts if holds),
    )


def _is_weak(relevances_ppm: Sequence[int]) -> bool:
    return len(relevances_ppm) < FEW_SUMMARIES or max(relevances_ppm) < LOW_RELEVANCE_PPM


def count_entropy_ppm(weights: Sequence[int]) -> int:
    """Give the entropy of weights in millionths of a bit.

    Example:
        four equal weights give 2_000_000.
    """
    total = sum(weights)
    if total == 0:
        return 0
    return sum(
        weight * (count_log2_ppm(total) - count_log2_ppm(weight)) // total
        for weight in weights
        if weight
    )


def count_log2_ppm(value: int) -> int:
    """Give the binary logarithm in millionths, by repeated squaring; the same on every machine."""
    whole = value.bit_length() - 1
    bits = 32
    mantissa = (value << bits) >> whole
    result, part = whole * LARGEST_PPM, LARGEST_PPM // 2
    while part:
        mantissa = (mantissa * mantissa) >> bits
        if mantissa >> (bits + 1):
            mantissa >>= 1
            result += part
        part //= 2
    return result
