"""Whether the best hits have anything to do with the question at all.

Takes the share of the question's words that one document holds and the largest cosine, gives a
factor from 0 to 1 for all scores: scores that are scaled to their largest always look relevant.
Bounds were read off questions asked to their own conversation and to a foreign one: nine in ten
own questions reach the upper bound, nine in ten foreign ones stay below the middle. Does not know
documents.
"""

from typing import Final

PPM: Final = 1_000_000
COVERAGE_BOUNDS_PPM: Final = (240_000, 360_000)
COSINE_BOUNDS_PPM: Final = (420_000, 480_000)


def find_strength(coverage_ppm: int, cosine_ppm: int | None) -> int:
    """Give the factor in millionths: the better of what words and vectors say.

    Example:
        a question of which 30 % is known, without an embedder: half strength.
    """
    lexical = _rise(coverage_ppm, COVERAGE_BOUNDS_PPM)
    return lexical if cosine_ppm is None else max(lexical, _rise(cosine_ppm, COSINE_BOUNDS_PPM))


def _rise(value: int, bounds: tuple[int, int]) -> int:
    low, high = bounds
    return min(PPM, max(0, (value - low) * PPM // (high - low)))
