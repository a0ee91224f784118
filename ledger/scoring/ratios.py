"""Exact numbers in columns: numerators, denominators, and the double nearest to each quotient.

A record has one number per metric and a round has hundreds of records, so making a fraction of each would cost more
than all the rest of a replay. A double is the nearest to its quotient, so doubles are never in another order than
their quotients; fractions are made only of the numbers that are asked for, and among equal doubles to tell them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from operator import truediv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Ratios:
    """Positive numbers, in the order of the records that have one.

    Attributes:
        numerators: of the numbers, not reduced.
        denominators: of the numbers.
        doubles: the double nearest to each.
    """

    numerators: Sequence[int]
    denominators: Sequence[int]
    doubles: Sequence[float]

    @classmethod
    def of(cls, numerators: Sequence[int], denominators: Sequence[int]) -> Ratios:
        """Those records of two columns of terms that have a number: both terms are above 0.

        Raises:
            TypeError: one is none.
        """
        if numerators and not (min(numerators) > 0 and min(denominators) > 0):
            defined = [pair for pair in zip(numerators, denominators, strict=True) if pair[0] > 0 and pair[1] > 0]
            numerators, denominators = [one for one, _ in defined], [other for _, other in defined]
        return cls(numerators, denominators, [*map(truediv, numerators, denominators)])

    def __len__(self) -> int:
        return len(self.doubles)

    def fractions(self) -> tuple[Fraction, ...]:
        """The numbers, exact."""
        return tuple(map(Fraction, self.numerators, self.denominators))

    def median(self) -> Fraction:
        """Middle number, or the mean of the two middle ones. There is at least one."""
        ordered = sorted(self.doubles)
        middle = len(ordered) // 2
        one, below = self._at_rank(middle, ordered)
        if len(ordered) % 2:
            return Fraction(one, below)
        other, beneath = self._at_rank(middle - 1, ordered)
        return Fraction(one * beneath + other * below, 2 * below * beneath)

    def _at_rank(self, rank: int, ordered: Sequence[float]) -> tuple[int, int]:
        double = ordered[rank]
        at = self.doubles.index(double)
        if ordered[rank - 1 : rank + 2].count(double) == 1 or len(ordered) == 1:
            return self.numerators[at], self.denominators[at]
        pairs = zip(self.numerators, self.denominators, self.doubles, strict=True)
        equal = sorted(Fraction(one, below) for one, below, each in pairs if each == double)
        return equal[rank - ordered.index(double)].as_integer_ratio()
