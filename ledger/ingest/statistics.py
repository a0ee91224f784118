"""Statistics as tools print them, exactly: to hold a printed figure against its samples."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.scoring.facts import median

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["between_ranks", "mean", "median", "nearest_even_rank", "nearest_rank"]


def mean(values: Sequence[Fraction]) -> Fraction:
    """Arithmetic mean. `values` is not empty, here and below."""
    return sum(values, Fraction(0)) / len(values)


def nearest_rank(values: Sequence[Fraction], percent: int) -> Fraction:
    """The smallest value that at least `percent` of all do not exceed: the percentile of the ledger."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]


def nearest_even_rank(values: Sequence[Fraction], percent: int) -> Fraction:
    """The value whose rank from 0 is nearest to `percent` of the last one, half to even."""
    return sorted(values)[round(Fraction(percent * (len(values) - 1), 100))]


def between_ranks(values: Sequence[Fraction], percent: int) -> Fraction:
    """The percentile between the two nearest ranks, linearly."""
    ordered, at = sorted(values), Fraction(percent * (len(values) - 1), 100)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
