"""What vLLM's benchmarks print of their samples, worked out again and compared.

Samples are whole nanoseconds, so a printed time may be a nanosecond or two off; what else separates it from ours is
the rounding of the print and of doubles. What is divided by the duration of the run is off by the rounding of that. A
percentile between two samples is drawn linearly by the tool, while the ledger's is the nearest rank: both are no error,
but a reader must know which one stands there.

A mean or a rate of requests over those that failed is no measurement of the answers: it refuses the file. A percentile
over them is a sample of the others as well, by coincidence or by another method, and never refuses one.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ledger.errors import MalformedError
from ledger.ingest.printed import ROUNDED_DURATION, apart, differs
from ledger.ingest.statistics import between_ranks, nearest_rank, other_percentiles
from ledger.scoring.facts import reading_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROUNDED = 2  # nanoseconds: of a time, or of the difference of two
_LONGEST = 40
_FINE = 10**6  # a root is taken to a millionth of a nanosecond

Statistic: TypeAlias = "Literal['mean', 'std'] | Fraction"
"""A fraction is a percentile, 0 to 100."""
MEDIAN = Fraction(50)
OVER_ALL = "that over all requests, failed ones too"
"""What a figure of requests must not be: one that is more than 2 % off by it refuses the file."""


class Printed(NamedTuple):
    """A statistic of samples as it stands in a file."""

    name: str
    value: object
    statistic: Statistic


def compare(name: str, value: object, exact: Fraction, others: Mapping[str, Fraction] | None = None) -> list[str]:
    """The note on a printed count that is not what its file's lists give; nothing where none is printed.

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


def compare_rate(name: str, value: object, exact: Fraction, others: Mapping[str, Fraction], *, where: str) -> list[str]:
    """The same of what is divided by the duration of the run, which is printed in fewer digits than it was used in.

    Args:
        name: what the tool calls it.
        value: as printed.
        exact: what it must be.
        others: as in `compare`.
        where: place of the run, for errors.

    Raises:
        MalformedError: ``E_REPORTED_MISMATCH`` for a rate `OVER_ALL` requests.
    """
    if value is None or not differs(value, exact, exact * ROUNDED_DURATION):
        return []
    found = [text for text, other in others.items() if not differs(value, other, other * ROUNDED_DURATION)]
    note = _mismatch(name, value, exact, found)
    if found[:1] == [OVER_ALL]:
        _refuse_if_far(note, others[OVER_ALL], exact, f"{where}/{name}")
    return [note]


def compare_statistics(
    samples: Sequence[int],
    printed: Sequence[Printed],
    ns_per_unit: int,
    *,
    others: Mapping[str, Sequence[int]] | None = None,
    slack_ns: int = _ROUNDED,
    where: str = "",
) -> list[str]:
    """Notes on statistics that are not those of the samples, and on percentiles of another method.

    Args:
        samples: nanoseconds; without one there is nothing to compare.
        printed: as they stand in the file.
        ns_per_unit: of what is printed.
        others: samples that people take instead, by description: named when the figure is of those.
        slack_ns: how far a sample may be off because the times that it is made of were rounded.
        where: place of the run, for errors.

    Raises:
        MalformedError: ``E_REPORTED_MISMATCH`` for a mean `OVER_ALL` requests.
    """
    if not samples:
        return []
    ordered, slack = sorted(samples), Fraction(slack_ns, ns_per_unit)
    notes, methods = [], []
    for name, value, statistic in printed:
        exact = statistic_of(ordered, statistic) / ns_per_unit
        rank = nearest_rank(ordered, statistic) / ns_per_unit if isinstance(statistic, Fraction) else exact
        # Of an even number of samples, the ledger's median is between the two in the middle as well.
        if not differs(value, rank, slack) or (statistic == MEDIAN and not differs(value, exact, slack)):
            continue
        method = _method(value, ordered, statistic, ns_per_unit, slack)
        if method:
            methods.append((name, method))
            continue
        wrong = {
            text: statistic_of(sorted(other), statistic) / ns_per_unit
            for text, other in (others or {}).items()
            if other
        }
        found = [text for text, other in wrong.items() if not differs(value, other, slack)]
        notes.append(_mismatch(name, value, exact, found))
        if statistic == "mean" and found[:1] == [OVER_ALL]:
            _refuse_if_far(notes[-1], wrong[OVER_ALL], exact, f"{where}/{name}")
    return notes + _method_notes(methods)


def _method(value: object, ordered: Sequence[int], statistic: Statistic, ns_per_unit: int, slack: Fraction) -> str:
    """By which honest method a printed percentile is one of these samples; empty for none."""
    if not isinstance(statistic, Fraction):
        return ""
    methods = other_percentiles(ordered, statistic)
    return next((text for other, text in methods if not differs(value, other / ns_per_unit, slack)), "")


def _method_notes(methods: Sequence[tuple[str, str]]) -> list[str]:
    """One note for each method, with the names of the percentiles that are by it."""
    found: dict[str, list[str]] = {}
    for name, method in methods:
        found.setdefault(method, []).append(name)
    return [
        f"F_PERCENTILE_METHOD: {'each of ' * (len(names) > 1)}{', '.join(names)} {method}, and is not the nearest rank"
        for method, names in found.items()
    ]


def _refuse_if_far(note: str, wrong: Fraction, exact: Fraction, where: str) -> None:
    """Refuse a figure over the wrong requests, unless nobody is misled by much: then it is a note."""
    if apart(wrong, exact):
        code, _, message = note.partition(": ")
        raise MalformedError(code.replace("F_", "E_", 1), message, where=where)


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
