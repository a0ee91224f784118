"""Statistics as tools print them, exactly: to hold a printed figure against its samples.

Percentiles are taken of values in their order (`in_order`), so that values are sorted once for all of them. Which one a
tool prints is a matter of definition, and the definitions are apart by up to the distance of two samples.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from ledger.scoring.facts import double, mean, median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["between_ranks", "in_order", "mean", "median", "nearest_even_rank", "nearest_rank", "other_percentiles"]


def in_order(values: Iterable[Fraction]) -> list[Fraction]:
    """Values from the smallest on. Fractions are compared only where their doubles are equal: that takes long."""
    return [value for _, value in sorted((double(value), value) for value in values)]


def nearest_rank(ordered: Sequence[int | Fraction], percent: int | Fraction) -> Fraction:
    """The smallest value that at least `percent` of all do not exceed: the percentile of the ledger."""
    return Fraction(ordered[max(0, int(-(-percent * len(ordered) // 100)) - 1)])


def nearest_even_rank(ordered: Sequence[int | Fraction], percent: int | Fraction) -> Fraction:
    """The value whose rank from 0 is nearest to `percent` of the last one, half to even."""
    return Fraction(ordered[round(Fraction(percent * (len(ordered) - 1)) / 100)])


def between_ranks(ordered: Sequence[int | Fraction], percent: int | Fraction) -> Fraction:
    """The percentile between the two nearest ranks, linearly: what numpy gives by default."""
    at = Fraction(percent * (len(ordered) - 1)) / 100
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def other_percentiles(ordered: Sequence[int], percent: int | Fraction) -> list[tuple[Fraction, str]]:
    """A percentile by each method beside the nearest rank that people use honestly, and what to call it.

    Of an even number of values the upper of the two in the middle is among them: it is the value at the index
    ``int(n * 0.5)``.
    """
    last = len(ordered) - 1
    rank, index = Fraction(percent * last) / 100, int(Fraction(percent * len(ordered)) / 100)
    return [
        (between_ranks(ordered, percent), "lies between two samples"),
        (Fraction(ordered[min(index, last)]), "is the sample at the index int(n * p)"),
        (Fraction(ordered[ceil(rank)]), "is the sample of the upper rank"),
        (Fraction(ordered[int(rank)]), "is the sample of the lower rank"),
        (nearest_even_rank(ordered, percent), "is the sample whose rank is nearest, half to even"),
    ]
