"""An exact test of paired ratios in which the noise takes part: the signed-rank test with A/A pairs in the ranking.

An A/B pair is the ratio of two runs of different builds, an A/A pair that of two runs of one. When nothing differs,
both are drawn alike and a ratio is as likely as its inverse. Then, given how far all *n + k* ratios lie from 1, which
*n* of them belong to the A/B pairs is a draw without replacement, and every sign is a fair coin. So the sum of the
signed ranks of the A/B pairs has a distribution that can be counted: ``C(n + k, n) 2**n`` equally likely cases, no
normal distribution, no estimated variance. Without A/A pairs this is Wilcoxon's signed-rank test.

The smallest two-sided p-value that *n* pairs can reach is ``2 / (C(n + k, n) 2**n)``: 1/4 for three pairs alone, whose
signs say no more, and 1/80 beside three A/A pairs. Ratios of exactly 1 keep their rank and have no sign (Pratt);
equally far ones share the mean of their ranks, and the count is made with the ranks as they are, so the test stays
exact under ties.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_PAIRS = 60
"""Pairs of a kind up to which the count takes no longer than seconds."""


def distance(ratio: Fraction) -> Fraction:
    """How far a ratio is from 1, as a ratio of at least 1: the larger of x and 1/x, so that no side is favoured."""
    return max(ratio, 1 / ratio)


def two_sided_p(ratios: Sequence[Fraction], nulls: Sequence[Fraction]) -> Fraction:
    """Chance of signed ranks at least as one-sided as these when nothing differs.

    Args:
        ratios: of the A/B pairs, above 0.
        nulls: of the A/A pairs, above 0; may be empty.
    """
    weights = _weights([distance(ratio) for ratio in (*ratios, *nulls)])
    signs = [(ratio > 1) - (ratio < 1) for ratio in ratios]
    found = abs(sum(sign * weight for sign, weight in zip(signs, weights, strict=False)))
    ways = _count_sums(weights, len(ratios))
    return Fraction(sum(count for total, count in ways if abs(total) >= found), sum(count for _, count in ways))


def smallest_p(pairs: int, nulls: int) -> Fraction:
    """The least that `two_sided_p` can give for so many A/B and A/A pairs."""
    return min(Fraction(2, comb(pairs + nulls, pairs) * 2**pairs), Fraction(1))


def pairs_needed(level: Fraction, nulls: int) -> int:
    """The least number of A/B pairs with which a level can be reached beside so many A/A pairs."""
    pairs = 1
    while smallest_p(pairs, nulls) > level:
        pairs += 1
    return pairs


def _weights(distances: Sequence[Fraction]) -> list[int]:
    """Twice the rank of each, which is whole for the mean of tied ranks too; 0 where there is no sign to carry it."""
    ordered = sorted(distances)
    first: dict[Fraction, int] = {}
    last: dict[Fraction, int] = {}
    for rank, each in enumerate(ordered, 1):
        first.setdefault(each, rank)
        last[each] = rank
    return [first[each] + last[each] if each != 1 else 0 for each in distances]


def _count_sums(weights: Sequence[int], chosen: int) -> list[tuple[int, int]]:
    """In how many ways `chosen` of the weights, each with either sign, have a sum: (sum, ways) where there is one.

    The counts for all sums stand in the digits of one long number, so that adding two tables is one addition.
    """
    highest = max(weights, default=0)
    digit = (comb(len(weights), chosen) * 2**chosen).bit_length()
    tables = [1] + [0] * chosen  # by number chosen; a weight w adds highest + w or highest - w to the place
    for weight in weights:
        for size in range(chosen, 0, -1):
            before = tables[size - 1]
            tables[size] += (before << digit * (highest + weight)) + (before << digit * (highest - weight))
    found, mask = [], (1 << digit) - 1
    for place in range(2 * highest * chosen + 1):
        count = tables[chosen] >> digit * place & mask
        if count:
            found.append((place - highest * chosen, count))
    return found
