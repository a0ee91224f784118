"""What vLLM's benchmarks print of their samples, worked out again and compared.

Samples are whole nanoseconds, so a printed time may be a nanosecond or two off; what else separates it from ours is
the rounding of the print and of doubles. A percentile between two samples is drawn linearly by the tool, while the
ledger's is the nearest rank: both are no error, but a reader must know which one stands there.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.ingest.printed import differs
from ledger.ingest.statistics import between_ranks, nearest_rank
from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROUNDED = 2  # nanoseconds: of a time, or of the difference of two
_LONGEST = 40
_FINE = 10**6  # a root is taken to a millionth of a nanosecond

Statistic: TypeAlias = "Literal['mean', 'std'] | Fraction"
"""A fraction is a percentile, 0 to 100."""
MEDIAN = Fraction(50)


class Printed(NamedTuple):
    """A statistic of samples as it stands in a file."""

    name: str
    value: object
    statistic: Statistic


def compare(name: str, value: object, exact: Fraction, others: Mapping[str, Fraction] | None = None) -> list[str]:
    """The note on a printed figure that is not what its file's counts give; nothing where none is printed.

    Args:
        name: what the tool calls it.
        value: as printed.
        exact: what it must be.
        others: what people take for it, by description: named when it is that.
    """
    if value is None or not differs(value, exact):
        return []
    found = [text for text, other in (others or {}).items() if not differs(value, other)]
    return [_mismatch(name, value, exact, found)]


def compare_statistics(
    samples: Sequence[int],
    printed: Sequence[Printed],
    ns_per_unit: int,
    *,
    others: Mapping[str, Sequence[int]] | None = None,
    slack_ns: int = _ROUNDED,
) -> list[str]:
    """Notes on statistics that are not those of the samples, and on percentiles of another method.

    Args:
        samples: nanoseconds; without one there is nothing to compare.
        printed: as they stand in the file.
        ns_per_unit: of what is printed.
        others: samples that people take instead, by description: named when the figure is of those.
        slack_ns: how far a sample may be off because the times that it is made of were rounded.
    """
    if not samples:
        return []
    ordered, slack = sorted(samples), Fraction(slack_ns, ns_per_unit)
    notes, between = [], []
    for name, value, statistic in printed:
        exact = statistic_of(ordered, statistic) / ns_per_unit
        rank = nearest_rank(ordered, statistic) / ns_per_unit if isinstance(statistic, Fraction) else exact
        if not differs(value, rank, slack):
            continue
        if not differs(value, exact, slack):
            # Of an even number of samples, the ledger's median is between the two in the middle as well.
            between += [name] if statistic != MEDIAN else []
            continue
        found = [
            text
            for text, other in (others or {}).items()
            if other and not differs(value, statistic_of(sorted(other), statistic) / ns_per_unit, slack)
        ]
        notes.append(_mismatch(name, value, exact, found))
    if between:
        drawn = "is drawn" if len(between) == 1 else "are drawn"
        notes.append(f"F_PERCENTILE_METHOD: {', '.join(between)} {drawn} between two samples, and not the nearest rank")
    return notes


def _mismatch(name: str, value: object, exact: Fraction, found: Sequence[str]) -> str:
    hint = f"; it matches {found[0]}" if found else ""
    text = str(value)[:_LONGEST]
    return f"F_REPORTED_MISMATCH: {name} is printed as {text}; what the file holds gives {reading_text(exact)}{hint}"


def statistic_of(ordered: Sequence[int], statistic: Statistic) -> Fraction:
    """A statistic of sorted samples; a percentile lies between two of them, linearly."""
    if statistic == "mean":
        return Fraction(sum(ordered), len(ordered))
    if statistic == "std":  # of all samples, not an estimate from them
        count, total = len(ordered), sum(ordered)
        square = count * sum(value * value for value in ordered) - total * total
        return Fraction(isqrt(square * _FINE * _FINE), count * _FINE)
    return between_ranks(ordered, statistic)
