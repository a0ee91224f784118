"""The arithmetic of a tier: how large a gain is, and what it is worth.

The same few lines run on exact rationals and on IEEE 754 doubles; a rule says which (``numbers``). Histories that were
decided on doubles are replayed on doubles, in the order of operations that is written here: 1.02 over 1.0 is a gain of
0.020000000000000018 there and exactly 0.02 here.

    gain = (value - frontier) / frontier      with the sign turned where less is better
    size = (value - frontier) / denominator   the gain itself without a denominator
    size is multiplied by min(1 + slope * (frontier / denominator - 1), max) where a rule boosts, never by less than 1
    credited = min(size, cap * gain)          size itself without a cap

A gain counts when it exceeds the significant share. The tier is the highest band that `credited` reaches, the edge
included; below all bands it is the rule's floor tier.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.rule import Numbers, Rule
    from ledger.scoring.rung import Figure

Number: TypeAlias = Fraction | float

NONE = "none"


def reader(numbers: Numbers) -> Callable[[str | Fraction], Number]:
    """How a rule of this number mode reads a decimal or a fraction."""
    return _rational if numbers == "exact" else _double


def _rational(value: str | Fraction) -> Number:
    return Fraction(value)


def _double(value: str | Fraction) -> Number:
    return float(value)


class Bands(NamedTuple):
    """The numbers of a rule that decide a tier, read once.

    Attributes:
        share: gain that must be exceeded.
        cap: multiple of the gain that is credited; none for no cap.
        boost: slope and limit; none for no boost.
        bands: tier and the gain from which it is given, the highest first.
        floor_tier: tier below all bands.
    """

    share: Number
    cap: Number | None
    boost: tuple[Number, Number] | None
    bands: tuple[tuple[str, Number], ...]
    floor_tier: str


def read_bands(rule: Rule, noise: Fraction | None = None) -> Bands:
    """The bands of a rule; measured noise, when given, raises the significant share."""
    read = reader(rule.numbers)
    share = read(rule.share)
    if noise is not None:
        share = max(share, read(noise))
    return Bands(
        share=share,
        cap=None if rule.cap is None else read(rule.cap),
        boost=None if rule.boost is None else (read(rule.boost[0]), read(rule.boost[1])),
        bands=tuple((tier, read(edge)) for tier, edge in rule.bands),
        floor_tier=rule.floor_tier or NONE,
    )


class Gain(NamedTuple):
    """What a value is worth.

    Attributes:
        tier: ``none`` or a tier.
        gain: over the frontier.
        size: over the denominator.
        credited: what was held against the bands.
        bound: what decided: ``significance``, ``cap``, ``denominator`` or ``gain``.
    """

    tier: str
    gain: Number
    size: Number
    credited: Number
    bound: str


def judge_gain(
    value: Number, frontier: Number, denominator: Number | None, bands: Bands, *, lower: bool = False
) -> Gain:
    """The tier of a value over a frontier that is not 0."""
    delta = frontier - value if lower else value - frontier
    gain = delta / frontier
    size = gain if denominator is None else delta / denominator
    if denominator is not None and bands.boost is not None:
        slope, limit = bands.boost
        size = size * min(1 + slope * max(0, frontier / denominator - 1), limit)
    credited, bound = size, "gain" if denominator is None else "denominator"
    if bands.cap is not None and bands.cap * gain < size:
        credited, bound = bands.cap * gain, "cap"
    if gain <= bands.share:
        return Gain(NONE, gain, size, credited, "significance")
    for tier, edge in bands.bands:
        if credited >= edge:
            return Gain(tier, gain, size, credited, bound)
    return Gain(bands.floor_tier, gain, size, credited, bound)


def is_fragile(
    value: Figure, frontier: Figure, denominator: Number | None, rule: Rule, bands: Bands, *, lower: bool = False
) -> bool:
    """Whether half a unit in the last place of the value or of the frontier would change the tier."""
    read = reader(rule.numbers)
    tiers = {
        judge_gain(read(value.value + a * value.half_unit), read(base), denominator, bands, lower=lower).tier
        for a in (-1, 0, 1)
        for b in (-1, 0, 1)
        if (base := frontier.value + b * frontier.half_unit) > 0
    }
    return len(tiers) > 1
