"""Exact arithmetic on what benchmark tools print, without the package: what the recomputations of figures share.

Numbers are read as `int` or `Decimal` and calculated as `Fraction`, so no digit is lost. A *raw sample* is what a clock
and a counter saw: a duration, and the work done in it. A mean, a median or a percentile over samples that a file does
not hold is printed, never raw. A duration in seconds or milliseconds was a count of nanoseconds before it went through
a double, so a sample takes it to the nearest nanosecond, as records hold it; what a tool printed is compared with the
file's own digits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Number = int | Decimal | Fraction

NS_PER_S = 10**9
NS_PER_MS = 10**6
_NS = {"ns": 1, "us": 10**3, "ms": NS_PER_MS, "s": NS_PER_S}
# A double has sixteen digits; the tools do a handful of operations with it.
DOUBLE_NOISE = Fraction(1, 10**14)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A figure that a tool printed, and the same figure worked out again.

    Attributes:
        name: what the tool calls it.
        text: the number as it stands in the file.
        exact: the figure, from the file's samples or totals.
        slack: how far `exact` may be off because what it is made of was rounded.
        cut: the tool cut the number off where others round.
    """

    name: str
    text: str
    exact: Fraction
    slack: Fraction = Fraction(0)
    cut: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both are one number within the rounding of the print."""
        exponent = Decimal(self.text).as_tuple().exponent
        last = Fraction(10) ** exponent if isinstance(exponent, int) else Fraction(0)
        tolerance = (last if self.cut else last / 2) + self.slack + abs(self.exact) * DOUBLE_NOISE
        return abs(Fraction(self.text) - self.exact) <= tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing that a file measures.

    Attributes:
        of: what the file calls it.
        rows: the tests of the file that it comes from, from 0 in the file's order.
        metric: name in the metric registry, or of a metric that the registry needs.
        context: tokens in context as measured, the mean where requests differ; none when the file does not say.
        reps: value of every raw sample, in the metric's unit, by repetition.
        printed: what the tool printed that its samples or totals must give.
    """

    of: str
    rows: tuple[int, ...]
    metric: str
    context: Fraction | None
    reps: tuple[tuple[Fraction, ...], ...]
    printed: tuple[Printed, ...] = ()

    @property
    def median(self) -> Fraction:
        """Median over the repetitions' medians."""
        return median([median(rep) for rep in self.reps])


def median(values: Sequence[Fraction]) -> Fraction:
    """Middle value, or the mean of the two middle values."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def mean(values: Sequence[Fraction]) -> Fraction:
    """Arithmetic mean."""
    return sum(values, Fraction(0)) / len(values)


def percentile(values: Sequence[Fraction], percent: int) -> Fraction:
    """Percentile between the two nearest ranks, linearly: what most tools print."""
    ordered = sorted(values)
    at = Fraction(percent * (len(ordered) - 1), 100)
    low = int(at)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (at - low)


def nearest_rank(values: Sequence[Fraction], percent: int) -> Fraction:
    """Percentile as a report of row runs takes it: the rank rounded half to even."""
    return sorted(values)[min(len(values) - 1, round(Fraction(percent * (len(values) - 1), 100)))]


def parse(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower static type
    """JSON with exact numbers; ``NaN`` and ``Infinity``, which are not JSON, become such a `Decimal`."""
    return json.loads(text, parse_float=Decimal, parse_constant=Decimal)


def parse_lines(text: str) -> list[Any]:
    """The lines that begin like JSON objects; lines of a log between them are left out."""
    return [parse(line) for line in text.splitlines() if line.startswith("{")]


def to_ns(value: Number, unit: str = "s") -> int:
    """A duration in whole nanoseconds, rounded half to even."""
    return round(Fraction(value) * _NS[unit])


def per_second(count: Number, ns: int) -> Fraction:
    """A rate."""
    return Fraction(count) * NS_PER_S / ns


def ratio(over: Number, under: Number) -> Fraction:
    """A quotient."""
    return Fraction(over) / Fraction(under)


def compare(exact: Mapping[str, Fraction], source: Mapping[str, Any]) -> tuple[Printed, ...]:
    """What `source` printed under these names; a name with dots leads into inner objects."""
    found = []
    for name, value in exact.items():
        inner: Any = source
        for step in name.split("."):
            inner = inner.get(step) if isinstance(inner, dict) else None
        if inner is not None:
            found.append(Printed(name=name, text=str(inner), exact=value))
    return tuple(found)
