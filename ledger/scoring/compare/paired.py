"""The rule ``paired-v1``: pairs of neighbouring runs, against pairs of runs of one build.

The value of a run is the median of its records, exact, from the raw ones. The unit of the test is the *pair of runs*,
not the request: the requests of a run share its process, its temperature and its luck, and fifty of them are not fifty
independent measurements. The effect of a pair is the ratio of its two values.

A verdict is given when all of this holds; otherwise the answer is ``UNRESOLVED``, with every reason:

1. At least `LEAST_RUNS` runs a side, alternated, an hour apart at most, one at a time (`order`).
2. At least `LEAST_RUNS` A/A pairs of the same node and workload: without a known noise nothing can exceed it.
3. The two-sided p-value of the exact signed-rank test with the A/A pairs in the ranking (`signed_rank`) is at most
   `LEVEL`, divided by the number of verdicts that are given together (Bonferroni).
4. The effect is larger than the noise. The effect is the middle ratio of the pairs. The noise is the larger of two
   distances: the one within which three quarters of the A/A pairs lie (of three: all), and the spread of the middle
   half of the pairs themselves (of fewer than five: of all).
5. The same effect stands with the order turned round: between each pair's second run and the next pair's first. What
   only drifts gains forwards what it loses backwards, and alternation alone does not cancel it.

Type-I error: 3 alone keeps a false verdict, better or worse, at 5 % when nothing differs, for all verdicts of one
comparison together; 4 and 5 only make it rarer, about 1 % as simulated. That holds as long as A/B and A/A pairs vary
alike and apart from each other, and a ratio is as likely as its inverse; it takes no normal distribution. What swings
to and fro from run to run, in step with the turns, breaks 3 (12 % as simulated, for neighbours with a correlation of
-1/2), and 4 and 5 keep it at 4 %. Where the A/A pairs were much quieter than the session, so that 3 says next to
nothing, they still keep it below 5 % for one verdict (3 % for three pairs of normal noise). Three pairs beside three
A/A pairs reach a p-value of 1.25 %, so three are enough for up to four verdicts. Three pairs alone could reach 25 % at
best, which is why 2 is asked for.

Power, for normal noise and as many A/A pairs, by the change in standard deviations of one run: three pairs resolve 3 in
1 of 3 cases, 5 in 3 of 4 and 8 nearly always; five pairs resolve 3 in 3 of 4 and 5 nearly always. Because of 4, more
pairs give more certainty and no finer scale: what lies within the noise of a pair is called no effect, however many
there are.

The wall-clock time of a whole run, and what is made of it, is shown and not judged beside figures of its requests: the
first run of a process carries its warm-up. It is judged where nothing else was measured, or where it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from ledger.scoring.compare.order import Steps, order_faults, steps
from ledger.scoring.compare.row3 import LEAST_RUNS
from ledger.scoring.compare.signed_rank import MOST_PAIRS, distance, pairs_needed, smallest_p, two_sided_p
from ledger.scoring.facts import decimal_text, median, reading_text, record_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.metrics import Metric
    from ledger.scoring.compare.side import CompareRun

RULE = "paired-v1"
LEVEL = Fraction(1, 20)
"""Chance of any false verdict in one comparison, better and worse together."""
SHOWN_ONLY = frozenset({"wall", "output_tok_s"})
"""Metrics that may carry a whole run's warm-up: not judged beside others."""

Word: TypeAlias = Literal["BETTER", "WORSE", "UNRESOLVED", "SHOWN"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedVerdict:
    """What the rule says of one metric of one test.

    Attributes:
        test: what was asked for.
        metric: entry of the registry.
        word: the verdict; ``SHOWN`` for a metric that is not judged.
        base: median over the base's runs; none when a run has no value.
        other: likewise.
        pairs: ratio of each pair, other over base, in time order; empty where there are no pairs.
        turned: ratios with the order turned round.
        nulls: ratios of the A/A pairs.
        effect: the middle ratio of the pairs; of two middle ones that nearer to 1.
        noise: distance from 1 that an effect must exceed, as a ratio of at least 1.
        p: two-sided p-value; none where no test was made.
        level: what it is held against.
        reasons: codes and sentences for ``UNRESOLVED``.
    """

    test: str
    metric: Metric
    word: Word
    base: Fraction | None
    other: Fraction | None
    pairs: tuple[Fraction, ...] = ()
    turned: tuple[Fraction, ...] = ()
    nulls: tuple[Fraction, ...] = ()
    effect: Fraction | None = None
    noise: Fraction | None = None
    p: Fraction | None = None
    level: Fraction = LEVEL
    reasons: tuple[tuple[str, str], ...] = ()


def judge_pairs(
    metric: Metric,
    base: Sequence[CompareRun],
    other: Sequence[CompareRun],
    nulls: Sequence[Fraction],
    *,
    verdicts: int = 1,
    shown_only: bool = False,
) -> PairedVerdict:
    """Judge one metric of one test.

    Args:
        metric: entry of the registry.
        base: runs of one side.
        other: runs of the other.
        nulls: ratios of A/A pairs of the same test, node and settings; the first `MOST_PAIRS` are taken.
        verdicts: how many are given together.
        shown_only: work out the figures and give no verdict.
    """
    one, two = run_values(metric, base), run_values(metric, other)
    judged = _Judged(metric=metric, level=LEVEL / verdicts, nulls=tuple(nulls[:MOST_PAIRS]), base=one, other=two)
    reasons = _faults(judged, base, other)
    found = steps(one, two) if one and two and not order_faults(base, other) else Steps(pairs=(), between=())
    p = two_sided_p(found.pairs, judged.nulls) if 0 < len(found.pairs) <= MOST_PAIRS else None
    if not reasons and p is not None:
        reasons = judged.weigh(found, p)
    return PairedVerdict(
        test=base[0].test if base else "",
        metric=metric,
        word="SHOWN" if shown_only else "UNRESOLVED" if reasons else judged.direction(found),
        base=_middle_value(one),
        other=_middle_value(two),
        pairs=found.pairs,
        turned=found.between,
        nulls=judged.nulls,
        effect=centre(found.pairs) if found.pairs else None,
        noise=judged.noise(found) if found.pairs and nulls else None,
        p=p,
        level=judged.level,
        reasons=() if shown_only else tuple(reasons),
    )


def run_values(metric: Metric, runs: Sequence[CompareRun]) -> list[tuple[CompareRun, Fraction]]:
    """Every run with its value; empty when one has none."""
    found = []
    for run in runs:
        values = record_values(metric, run.records) if all(name in run.records for name in metric.columns) else ()
        if not values:
            return []
        found.append((run, median(values)))
    return found


def null_ratios(metric: Metric, first: Sequence[CompareRun], second: Sequence[CompareRun]) -> tuple[Fraction, ...]:
    """Ratios of the A/A pairs of one noise session; nothing where it is confounded or lacks the metric."""
    one, two = run_values(metric, first), run_values(metric, second)
    if not one or not two or order_faults(first, second):
        return ()
    return steps(one, two).pairs


def centre(ratios: Sequence[Fraction]) -> Fraction:
    """The middle ratio; of two middle ones that nearer to 1, and 1 between two sides of it: swapped sides invert it."""
    ordered = sorted(ratios)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if low < 1 < high:
        return Fraction(1)
    return min(low, high, key=distance)


def _middle_value(values: Sequence[tuple[CompareRun, Fraction]]) -> Fraction | None:
    return median([value for _, value in values]) if values else None


def _faults(judged: _Judged, base: Sequence[CompareRun], other: Sequence[CompareRun]) -> list[tuple[str, str]]:
    """What forbids to test at all."""
    faults = []
    fewest = min(len(base), len(other))
    if fewest < LEAST_RUNS:
        faults.append(("E_TOO_FEW_RUNS", f"{fewest} run(s) on a side, {LEAST_RUNS} are needed"))
    if fewest > MOST_PAIRS:
        faults.append(("E_TOO_MANY_RUNS", f"{fewest} runs a side; the exact test is made for up to {MOST_PAIRS}"))
    if not judged.base or not judged.other:
        faults.append(("E_EMPTY_RESULTS", f"a run has no value of {judged.metric.name}"))
    faults += order_faults(base, other)
    if len(judged.nulls) < LEAST_RUNS:
        said = f"{len(judged.nulls)} A/A pair(s) known, {LEAST_RUNS} are needed: measure one build against itself"
        faults.append(("E_NOISE_UNKNOWN", said))
    return faults


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    metric: Metric
    level: Fraction
    nulls: tuple[Fraction, ...]
    base: list[tuple[CompareRun, Fraction]]
    other: list[tuple[CompareRun, Fraction]]

    def noise(self, found: Steps) -> Fraction:
        return max(_quarter_exceed(self.nulls), _middle_spread(found.pairs))

    def weigh(self, found: Steps, p: Fraction) -> list[tuple[str, str]]:
        """Why what was measured in order shows nothing."""
        reasons = []
        count, known = len(found.pairs), len(self.nulls)
        if smallest_p(count, known) > self.level:
            needed = pairs_needed(self.level, known)
            said = f"{count} pairs cannot reach a level of {decimal_text(self.level, 4)}; {needed} can"
            reasons.append(("E_LEVEL", said))
        elif p > self.level:
            said = f"p = {decimal_text(p, 4)} is above {decimal_text(self.level, 4)}"
            reasons.append(("E_NOT_SIGNIFICANT", said))
        effect, noise = centre(found.pairs), self.noise(found)
        if distance(effect) <= noise:
            said = f"the change of {percent(effect)} % is within the noise of {percent(noise)} %"
            reasons.append(("E_WITHIN_NOISE", said))
        turned = centre(found.between)
        if not reasons and ((turned > 1) != (effect > 1) or distance(turned) <= noise):
            said = f"{percent(effect)} % in pairs, {percent(turned)} % with the order turned round: it drifts"
            reasons.append(("E_DRIFT", said))
        return reasons

    def direction(self, found: Steps) -> Word:
        gained = (centre(found.pairs) > 1) == (self.metric.better == "higher")
        return "BETTER" if gained else "WORSE"


def _quarter_exceed(ratios: Sequence[Fraction]) -> Fraction:
    """The distance that at most a quarter of the ratios exceed."""
    ordered = sorted(map(distance, ratios))
    return ordered[len(ordered) - 1 - len(ordered) // 4]


def _middle_spread(ratios: Sequence[Fraction]) -> Fraction:
    """How far the ratios of the middle half are apart, as a ratio of at least 1."""
    ordered, left_out = sorted(ratios), (len(ratios) - 1) // 4
    return ordered[len(ordered) - 1 - left_out] / ordered[left_out]


def percent(ratio: Fraction) -> str:
    """A ratio as a change in per cent, for reading."""
    return reading_text(100 * (ratio - 1))
