"""The rule ``row3-v1``: medians over runs against the larger spread, as the row harness has it, in exact fractions.

For one statistic, with base *b* and other *o*, each summed up over its runs as median, lowest and highest:

* ``spread = 100 (highest - lowest) / median``, 0 where the median is 0; of a single run it is 0;
* ``delta = 100 (median_o - median_b) / median_b``, ``noise`` = the larger of the two spreads;
* *disjoint* when the lowest of one side is above the highest of the other, strictly;
* *resolved* when disjoint and ``|delta| > noise``, strictly; then it is better or worse by its direction.

"not resolved" is not "equal". The rule has no least number of runs: with one run a side the noise is 0 and every
difference is resolved, which is why whoever uses it must ask for runs himself (`LEAST_RUNS`). Where the rule divides by
a median of 0 we say ``n/a`` and why. The harness calculates with doubles; fractions part from it only where two sides
of a comparison are equal to the last digit.

Source: row3.py of the TandemLLM project (statistics of a run, ``compare``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.metrics import NS_PER_MS, NS_PER_S
from ledger.scoring.facts import median

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.scoring.compare.side import CompareRun

RULE = "row3-v1"
LEAST_RUNS = 3
"""Runs a side below which a spread says nothing; the rule itself does not ask."""

HIGHER_IS_BETTER: Mapping[str, bool] = {
    "mean": True,
    "p50": True,
    "p90": True,
    "max": True,
    "ttft_p50_ms": False,
    "wall_s": False,
    "tok_blk": True,
    "ms_blk": False,
}
"""Every statistic that is compared, in the order in which it is printed."""

BETTER, WORSE, NOT_RESOLVED, ABSENT = "RESOLVED better", "RESOLVED WORSE", "not resolved", "n/a"
_LEAST_TOKENS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A statistic over the runs of a side."""

    median: Fraction
    lowest: Fraction
    highest: Fraction
    runs: int

    @property
    def spread_pct(self) -> Fraction:
        """``100 * (highest - lowest) / median``; 0 where the median is 0."""
        return 100 * (self.highest - self.lowest) / self.median if self.median else Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatVerdict:
    """What the rule says of one statistic. Figures are none where the verdict is ``n/a``.

    Attributes:
        name: of the statistic.
        base: over the base's runs; none when it has no value there.
        other: over the other side's runs; likewise.
        delta_pct: change of the median.
        noise_pct: the larger spread.
        disjoint: whether the ranges do not touch.
        verdict: one of the rule's four words.
        reason: why it is ``n/a``; empty otherwise.
    """

    name: str
    base: Summary | None
    other: Summary | None
    delta_pct: Fraction | None
    noise_pct: Fraction | None
    disjoint: bool | None
    verdict: str
    reason: str = ""

    @property
    def resolved(self) -> bool:
        """Whether the rule sees a difference."""
        return self.verdict in (BETTER, WORSE)

    @property
    def better(self) -> bool:
        """Whether it sees a gain."""
        return self.verdict == BETTER

    @property
    def worse(self) -> bool:
        """Whether it sees a loss."""
        return self.verdict == WORSE


def summarise(values: Sequence[Fraction]) -> Summary | None:
    """A statistic over runs; none of no run."""
    if not values:
        return None
    return Summary(median=median(values), lowest=min(values), highest=max(values), runs=len(values))


def judge_values(
    name: str, base: Sequence[Fraction], other: Sequence[Fraction], *, higher_is_better: bool
) -> StatVerdict:
    """Judge one statistic by its values in the runs of both sides. No value is below 0."""
    one, two = summarise(base), summarise(other)
    if one is None or two is None:
        silent = " and ".join(side for side, found in (("base", one), ("other", two)) if found is None)
        return _absent(name, one, two, f"{silent} did not measure it in every run")
    if not one.median:
        return _absent(name, one, two, "the base's median is 0: there is no change in per cent of it")
    delta = 100 * (two.median - one.median) / one.median
    noise = max(one.spread_pct, two.spread_pct)
    disjoint = two.lowest > one.highest or two.highest < one.lowest
    verdict = NOT_RESOLVED
    if disjoint and abs(delta) > noise:
        verdict = BETTER if (delta > 0) == higher_is_better else WORSE
    return StatVerdict(
        name=name, base=one, other=two, delta_pct=delta, noise_pct=noise, disjoint=disjoint, verdict=verdict
    )


def judge_statistics(
    base: Sequence[Mapping[str, Fraction]], other: Sequence[Mapping[str, Fraction]]
) -> tuple[StatVerdict, ...]:
    """Judge every statistic of two sides, given the statistics of each of their runs.

    A statistic that a run of a side lacks is one that the side lacks: half of its runs are not its runs.
    """
    return tuple(
        judge_values(name, _column(base, name), _column(other, name), higher_is_better=higher)
        for name, higher in HIGHER_IS_BETTER.items()
    )


def _column(runs: Sequence[Mapping[str, Fraction]], name: str) -> list[Fraction]:
    return [run[name] for run in runs] if all(name in run for run in runs) else []


def _absent(name: str, base: Summary | None, other: Summary | None, reason: str) -> StatVerdict:
    return StatVerdict(
        name=name,
        base=base,
        other=other,
        delta_pct=None,
        noise_pct=None,
        disjoint=None,
        verdict=ABSENT,
        reason=reason,
    )


# The statistics of one run, from its records.


def run_statistics(run: CompareRun) -> dict[str, Fraction]:
    """The statistics that a run's records give, by the harness's names.

    A request counts when it succeeded, gave two tokens and took time after the first one; one that does not count
    takes its time to the first token with it. ``p90`` is the nearest rank, half rounded to even. The factors of a
    block pool all requests that went through a block.

    Returns:
        No statistic at all when no request counts, and no factor when no block is known.
    """
    usable = _usable(run)
    if not usable:
        return {}
    rates = sorted(Fraction((tokens - 1) * NS_PER_S, end - first) for tokens, first, end in usable)
    found = {
        "mean": sum(rates, Fraction(0)) / len(rates),
        "p50": median(rates),
        "p90": rates[min(len(rates) - 1, round(Fraction(9 * (len(rates) - 1), 10)))],
        "max": rates[-1],
        "ttft_p50_ms": median([Fraction(first, NS_PER_MS) for _, first, _ in usable]),
        "wall_s": Fraction(run.wall_ns, NS_PER_S),
    }
    return found | _block_factors(run)


def _usable(run: CompareRun) -> list[tuple[int, int, int]]:
    """Tokens, first token and end of every request that counts."""
    columns = [run.records.get(name) for name in ("completion_tokens", "ttft_ns", "e2e_ns")]
    if any(column is None for column in columns):
        return []
    succeeded = run.records.get("ok") or [True] * len(columns[0] or ())
    return [
        (tokens, first, end)
        for ok, tokens, first, end in zip(succeeded, *(column or () for column in columns), strict=True)
        if ok and None not in (tokens, first, end) and tokens >= _LEAST_TOKENS and end > first
    ]


def _block_factors(run: CompareRun) -> dict[str, Fraction]:
    records = run.records
    if "rounds" not in records or "completion_tokens" not in records:
        return {}
    blank = [None] * len(records["rounds"])
    rows = zip(
        records.get("ok") or [True] * len(blank),
        records["completion_tokens"],
        records["rounds"],
        records.get("decode_ns", blank),
        strict=True,
    )
    known = [(tokens - 1, rounds, decode) for ok, tokens, rounds, decode in rows if ok and tokens and rounds]
    blocks = sum(rounds for _, rounds, _ in known)
    if not blocks:
        return {}
    found = {"tok_blk": Fraction(sum(committed for committed, _, _ in known), blocks)}
    if all(decode is not None for _, _, decode in known):
        found["ms_blk"] = Fraction(sum(decode for _, _, decode in known), blocks * NS_PER_MS)
    return found
