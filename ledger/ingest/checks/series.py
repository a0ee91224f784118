"""Repetitions in the order of time: a first one or a first sample that was cold, and values that go one way.

How often chance alone gives a code, for two equal arms of 3, 5 or 10 repetitions with 1 to 3 % of normal noise: drift
in about 2 % of the rounds, in both directions together, and a cold first repetition in 0.3 % at most. Arms that took
turns are never confounded. Arms that ran in one go are when they drift, or when they differ enough to look like it, and
the more surely the more repetitions there are: such a difference and a change with time are one thing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from ledger.ingest.checks.notes import Note
from ledger.scoring.facts import ArmFact, RepFact, reading_text, round_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ledger.canonical import JsonObject

_FEWEST_FOR_DRIFT = 5
# Square of the quantile of the normal distribution that chance exceeds once in a hundred (2.3263).
_RARE = Fraction(54119, 10000)
_FEWEST_FOR_COLD = 3
_COLD = Fraction(11, 10)
_NEARLY_COLD = 1.09


def note_series(body: JsonObject, built_by: str) -> Iterator[Note]:
    """Single samples, cold first repetitions and samples, and drift. Nothing is ever left out for it."""
    facts = round_facts(body)
    if not built_by:  # an adapter knows what of its tool's files is one sample, and has said so
        yield from _note_single(facts)
    warm = {rep["arm"] for rep in body["reps"] if rep["warmup"]}
    for fact in facts:
        yield from _note_cold(fact, warmed=fact.arm in warm)
    series: dict[tuple[str, int], list[tuple[RepFact, str]]] = defaultdict(list)
    for fact in facts:
        series[fact.metric.name, fact.context] += [(rep, fact.arm) for rep in fact.reps]
    slot = body["slot"]["metric"], body["slot"]["context"]
    for key, reps in series.items():
        yield from _note_drift(key, sorted(reps, key=lambda item: item[0].entry), scored=key == slot)


# One sample.


def _note_single(facts: Sequence[ArmFact]) -> Iterator[Note]:
    """Figures of one sample, once for each repetition: two of them are apart by chance, and nobody knows how far."""
    single = {fact.reps[0].entry for fact in facts if len(fact.reps) == 1 and len(fact.reps[0].ratios) == 1}
    for entry in sorted(single):
        yield Note("F_N1", "one sample, which has no deviation", f"/reps/{entry}", entry)


# Cold.


def _note_cold(fact: ArmFact, *, warmed: bool) -> Iterator[Note]:
    advice = "" if warmed else "; no repetition is marked as warm-up"
    name, lower = f"{fact.metric.name} of {fact.arm}", fact.metric.better == "lower"
    times = [rep.median for rep in fact.reps]
    if is_cold(times, lower=lower):
        entry = fact.reps[0].entry
        yield Note("F_COLD_FIRST", _cold_text(name, "repetition", times) + advice, f"/reps/{entry}", entry)
    if "wall_ns" in fact.metric.columns:  # samples of one thing, one after the other; requests are of many lengths
        for rep in fact.reps:
            if _may_be_cold(rep.ratios.doubles, lower=lower) and is_cold(rep.values, lower=lower):
                text = _cold_text(name, "sample", rep.values)
                yield Note("F_COLD_SAMPLE", text + advice, f"/reps/{rep.entry}/records", rep.entry)


def _may_be_cold(values: Sequence[float], *, lower: bool) -> bool:
    """False where `is_cold` is false for sure: fractions are made of few samples that way."""
    others = values[1:]
    if not others:
        return False
    return values[0] > max(others) * _NEARLY_COLD if lower else values[0] * _NEARLY_COLD < min(others)


def is_cold(values: Sequence[Fraction], *, lower: bool) -> bool:
    """Whether the first value is apart from all others: by a tenth of the worst, and by more than all they differ."""
    if len(values) < _FEWEST_FOR_COLD:
        return False
    first, others = values[0], values[1:]
    best, worst = (min(others), max(others)) if lower else (max(others), min(others))
    apart = first > worst * _COLD if lower else first * _COLD < worst
    return apart and abs(first - worst) > abs(worst - best)


def _cold_text(name: str, what: str, values: Sequence[Fraction]) -> str:
    shown = [reading_text(value) for value in (values[0], min(values[1:]), max(values[1:]))]
    return f"the first {what} gives {shown[0]} for {name}, the others {shown[1]} to {shown[2]}"


# Drift.


def _note_drift(key: tuple[str, int], reps: Sequence[tuple[RepFact, str]], *, scored: bool) -> Iterator[Note]:
    """Drift of a metric at a context; of the slot's own, arms that ran in one go too: nothing else says who is faster.

    What stands beside the slot rises and falls with much that leaves the slot alone.
    """
    name = f"{key[0]} at context {key[1]}"
    values = [rep.median for rep, _ in reps]
    rising, falling = count_pairs(values)
    if not drifts(values):
        return
    arms = [arm for _, arm in reps]
    turns = 1 + sum(one != other for one, other in pairwise(arms))
    mixed_up = 1 < len({*arms}) == turns
    way = "rises" if rising > falling else "falls"
    yield Note(
        "F_DRIFT",
        f"{name} {way} with time in {max(rising, falling)} of {len(values) * (len(values) - 1) // 2} pairs of "
        f"{len(values)} repetitions, from {reading_text(values[0])} to {reading_text(values[-1])}",
        "/reps",
    )
    if scored and mixed_up:
        text = f"{name} changes with time and each arm ran in one go: arm and time cannot be told apart"
        yield Note("F_CONFOUNDED", text, "/reps")


def count_pairs(values: Sequence[Fraction]) -> tuple[int, int]:
    """Pairs of values of which the later is higher, and of which it is lower."""
    ordered: list[Fraction] = []
    rising = falling = 0
    for value in values:
        place = bisect_left(ordered, value)
        rising += place
        falling += len(ordered) - bisect_right(ordered, value)
        ordered.insert(place, value)
    return rising, falling


def drifts(values: Sequence[Fraction]) -> bool:
    """Whether chance would order values like this in one direction less than once in a hundred times.

    Kendall's test for a trend: rising less falling pairs of n values have a variance of n (n - 1) (2n + 5) / 18, and
    are near enough to normal from five values on; fewer cannot be that rare. Counted out over all orders of five to
    nine values, a trend in either direction is seen in 1.1 to 1.7 % of them. Arms that take turns and differ may hide a
    drift, and never make one.
    """
    count = len(values)
    rising, falling = count_pairs(values)
    return count >= _FEWEST_FOR_DRIFT and 18 * (rising - falling) ** 2 > _RARE * count * (count - 1) * (2 * count + 5)
