"""What a tool printed, held against what its samples and totals give."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.ingest.values import as_decimal, exponent_of, printed_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.ingest.fields import Fields

DOUBLE_NOISE = Fraction(1, 10**9)
"""Tools calculate in doubles: sixteen digits, of which sums over many samples lose some."""

ROUNDED_DURATION = Fraction(1, 1000)
"""Tools divide by a duration that they print in fewer digits than they used."""

_APART = Fraction(2, 100)
_COLD = 10
_SHOWN = 40


def find_mismatches(source: Fields, exact: Mapping[str, Fraction], slack: Fraction = Fraction(0)) -> list[str]:
    """A note for every figure that the tool printed otherwise.

    Args:
        source: the object that they stand in; a name with dots leads into inner objects. Absent ones are not compared.
        exact: the figures by name, in the tool's unit.
        slack: how far apart they may be because the tool measured another end.
    """
    notes = []
    for name, value in exact.items():
        printed = _find(source.values, name)
        if printed is not None and differs(printed, value, slack):
            notes.append(f"F_REPORTED_MISMATCH: {name} {str(printed)[:_SHOWN]} is not that of the samples")
    return notes


def _find(value: object, name: str) -> object:
    for step in name.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def differs(printed: object, exact: Fraction, slack: Fraction = Fraction(0), *, rounded: bool = True) -> bool:
    """Whether a printed figure is another than the exact one; what is no number is.

    Args:
        printed: as it stands in the file.
        exact: the figure, in the tool's unit.
        slack: how far apart they may be for what is behind the figure.
        rounded: the tool may have rounded what it printed: half a unit in the last place is no difference. That place
            is never before the point, whatever the exponent.
    """
    number = printed_number(printed)
    if number is None:
        return True
    if rounded:
        slack += Fraction(10) ** min(0, exponent_of(as_decimal(printed, ""))) / 2
    return abs(number - exact) > slack + abs(exact) * DOUBLE_NOISE


def mean_rate_notes(name: str, printed: object, rate_of_mean: Fraction) -> list[str]:
    """Notes on a printed mean of the rates of requests, whose samples the file does not have.

    Half of it can be checked: a mean of rates is the rate of the mean time or more (Jensen's inequality), and the two
    are one figure only where all requests took the same time.

    Args:
        name: what the tool calls it.
        printed: as it stands in the file; nothing is said of one that is absent.
        rate_of_mean: the reciprocal of the mean time per token, in the same unit.
    """
    number = printed_number(printed)
    if printed is None:
        return []
    notes = []
    if number is not None and apart(number, rate_of_mean):
        notes.append(f"F_FORMULA: {name} is a mean of rates, more than 2 % from the rate of the mean time of a token")
    if number is None or (number < rate_of_mean and differs(printed, rate_of_mean)):
        notes.append(f"F_REPORTED_MISMATCH: {name} {str(printed)[:_SHOWN]} is not that of the samples")
    return notes


def apart(one: Fraction, other: Fraction) -> bool:
    """Whether two figures of at least 0 are more than 2 % of the second apart."""
    return abs(one - other) > other * _APART


def is_first_token_cold(highest: Fraction | None, median: Fraction | None) -> bool:
    """Whether the highest time to a first token is more than ten times the median; 0 was not measured."""
    return highest is not None and median is not None and highest > _COLD * median > 0
