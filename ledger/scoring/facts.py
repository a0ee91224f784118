"""Facts: the numbers of a round, computed again from its raw records, exactly.

What a tool printed is never used. A record that failed, or in which a column was not observed, gives no value; warm-up
repetitions give none. The value of a repetition is the median of its records, the value of an arm is the median over
its repetitions, so one slow sample moves nothing. All values are fractions; `decimal_text` rounds them for reading
only.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ledger.metrics import METRICS, Metric
from ledger.scoring.ratios import Ratios

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.canonical import JsonObject
    from ledger.rule import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class RepFact:
    """One repetition: what its records gave.

    Attributes:
        entry: position in the round's list of repetitions.
        order: place in time of the run.
        ratios: value of every record that has one, in their order.
        median: middle value, or the mean of the two middle values.
    """

    entry: int
    order: int
    ratios: Ratios
    median: Fraction

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Value of every record."""
        return self.ratios.fractions()

    @property
    def mean(self) -> Fraction:
        """Arithmetic mean of the records."""
        return mean(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFact:
    """One arm, metric and context.

    Attributes:
        arm: role of the arm.
        metric: entry of the registry; gives unit and direction.
        context: tokens in context, as measured.
        reps: repetitions that have a value, in time order.
        median: median over the repetitions' medians.
        lowest: the lowest of them.
        highest: the highest of them.
    """

    arm: str
    metric: Metric
    context: int
    reps: tuple[RepFact, ...]
    median: Fraction
    lowest: Fraction
    highest: Fraction

    @property
    def spread_pct(self) -> Fraction | None:
        """``100 * (highest - lowest) / median``; none for one repetition, which has no spread."""
        if len(self.reps) == 1:
            return None
        high, below_high = self.highest.as_integer_ratio()
        low, below_low = self.lowest.as_integer_ratio()
        middle, below = self.median.as_integer_ratio()
        return Fraction(100 * (high * below_low - low * below_high) * below, below_high * below_low * middle)


def round_facts(body: JsonObject) -> list[ArmFact]:
    """Facts of a round that satisfies its schema and `ledger.round.check_round`.

    Returns:
        One per arm, metric and context that has a value, ordered by metric, context and arm.
    """
    groups: dict[tuple[str, int, str], list[RepFact]] = defaultdict(list)
    for entry, rep in enumerate(body["reps"]):
        if rep["warmup"]:
            continue
        for name in rep["metrics"]:
            ratios = _record_ratios(METRICS[name], rep["records"])
            if ratios:
                fact = RepFact(entry=entry, order=rep["order"], ratios=ratios, median=ratios.median())
                groups[name, rep["context"], rep["arm"]].append(fact)
    return [_arm_fact(*key, reps) for key, reps in sorted(groups.items())]


def _arm_fact(metric: str, context: int, arm: str, reps: list[RepFact]) -> ArmFact:
    # Fractions are compared only where their doubles are equal: that takes long, and the answer is the same.
    medians = [middle for _, middle in sorted((double(rep.median), rep.median) for rep in reps)]
    return ArmFact(
        arm=arm,
        metric=METRICS[metric],
        context=context,
        reps=tuple(reps),
        median=_middle(medians),
        lowest=medians[0],
        highest=medians[-1],
    )


def record_values(metric: Metric, records: dict[str, list[Any]]) -> tuple[Fraction, ...]:
    """Values of a metric for the records that succeeded and have all its columns."""
    return _record_ratios(metric, records).fractions()


def _record_ratios(metric: Metric, records: dict[str, list[Any]]) -> Ratios:
    columns = [records[name] for name in metric.columns]
    if metric.supplied in records:
        columns[0] = [*map(_without, columns[0], records[metric.supplied])]
    if "ok" not in records:
        with suppress(TypeError):  # a column that was not observed in a record is None, and no number
            return Ratios.of(*metric.formula(*columns))
    succeeded = records.get("ok") or [True] * len(columns[0])
    rows = [cells for ok, *cells in zip(succeeded, *columns, strict=True) if ok and None not in cells]
    return Ratios.of(*metric.formula(*([row[at] for row in rows] for at in range(len(columns)))))


def _without(count: int | None, supplied: int | None) -> int | None:
    """What was computed of a count; none where either is unknown, for what a cache supplied may be all of it."""
    return None if count is None or supplied is None else count - supplied


def mean(values: Sequence[Fraction]) -> Fraction:
    """Arithmetic mean. `values` is not empty.

    Pairs are added, then pairs of pairs, over the product of what is below them: one after the other, the sum of a few
    thousand fractions takes minutes, for each has another number below the line.
    """
    sums = [value.as_integer_ratio() for value in values]
    while len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=False)
        odd = sums[len(sums) & ~1 :]
        sums = [(one * under + other * below, below * under) for (one, below), (other, under) in pairs] + odd
    ((total, below),) = sums
    return Fraction(total, below * len(values))


def median(values: Sequence[Fraction]) -> Fraction:
    """Middle value, or the mean of the two middle values. `values` is not empty."""
    return _middle(sorted(values))


def _middle(ordered: Sequence[Fraction]) -> Fraction:
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def double(value: Fraction) -> float:
    """The double nearest to a fraction, in a quarter of the time that `float` takes."""
    numerator, denominator = value.as_integer_ratio()
    return numerator / denominator


def arm_value(fact: ArmFact, statistic: Statistic) -> Fraction:
    """The value of an arm: the median over its repetitions of a statistic of their records.

    ``p90`` is the nearest rank: the smallest value that at least nine tenths of the records do not exceed.
    """
    if statistic == "median":
        return fact.median
    return median([_STATISTICS[statistic](rep) for rep in fact.reps])


_STATISTICS: Mapping[Statistic, Callable[[RepFact], Fraction]] = {
    "mean": lambda rep: rep.mean,
    "max": lambda rep: max(rep.values),
    "p90": lambda rep: sorted(rep.values)[-(-9 * len(rep.values) // 10) - 1],
}


def exact_text(value: Fraction) -> str:
    """A fraction as text without loss, of any length.

    The mean of a thousand records may have a denominator of more digits than Python agrees to print.
    """
    if value.denominator.bit_length() < _SHORT_BITS and value.numerator.bit_length() < _SHORT_BITS:
        return str(value)
    return f"{Decimal(value.numerator):f}/{Decimal(value.denominator):f}"


_SHORT_BITS = 10_000


def approximate(text: str) -> float:
    """The double nearest to what `exact_text` wrote, or to a decimal."""
    numerator, _, denominator = text.partition("/")
    return float(Decimal(numerator) / Decimal(denominator or 1))


def plain_decimal(value: Fraction) -> str:
    """A fraction that was read from a decimal as that decimal, every place of it and no needless zeros."""
    text = decimal_text(value, value.denominator.bit_length())  # 1 / 2^n has n places, 1 / 5^n fewer than bits
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimal_text(value: Fraction, places: int = 6, *, sign: bool = False) -> str:
    """A fraction as a decimal, rounded half to even at the last place; `sign` gives what is not below 0 a plus."""
    scaled = round(value * 10**places)
    whole, rest = divmod(abs(scaled), 10**places)
    before = "-" if scaled < 0 else "+" * sign
    return f"{before}{whole}" + (f".{rest:0{places}d}" if places else "")


def reading_text(value: Fraction) -> str:
    """A figure for reading, six places at most and no needless zeros."""
    return decimal_text(value).rstrip("0").rstrip(".")


def facts_to_json(facts: Sequence[ArmFact]) -> list[JsonObject]:
    """Facts for ``--json``: decimals for reading, and the exact fractions."""
    return [
        {
            "arm": fact.arm,
            "metric": fact.metric.name,
            "unit": fact.metric.unit,
            "better": fact.metric.better,
            "context": fact.context,
            "reps": [
                {
                    "order": rep.order,
                    "records": len(rep.values),
                    "median": decimal_text(rep.median),
                    "mean": decimal_text(rep.mean),
                    "median_exact": exact_text(rep.median),
                }
                for rep in fact.reps
            ],
            "median": decimal_text(fact.median),
            "median_exact": exact_text(fact.median),
            "lowest": decimal_text(fact.lowest),
            "highest": decimal_text(fact.highest),
            "spread_pct": None if fact.spread_pct is None else decimal_text(fact.spread_pct),
        }
        for fact in facts
    ]
