"""Forced decoding: every configuration drafts and verifies for real, and all commit one reference text.

Tokens do not differ between configurations, only rounds and time, so rates are compared at equal text. The rate of a
workload is the arithmetic mean over its repeats and the printed spread is in per cent of that *mean*, where the row
harness takes the median; the overall rate is the mean over workloads. Because equal text is the whole point, other
numbers of tokens for one workload and repeat are refused.

The bench prints rates and judges nothing. Rule ``forced-v1`` is ours: the resolution of `row3.judge_values` over the
repeats, per workload and for the overall rate of each repeat, against the configuration that comes first.

Source: forced_bench.py of the TandemLLM project.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError
from ledger.scoring.compare.row3 import LEAST_RUNS, StatVerdict, judge_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.scoring.compare.gate import Outcome

RULE = "forced-v1"
OVERALL = "overall"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedRun:
    """One workload under one configuration: tokens after the first one, and time."""

    config: str
    workload: str
    repeat: int
    tokens: int
    ms: Fraction

    @property
    def rate(self) -> Fraction:
        """Tokens a second; 0 where no time was taken."""
        return 1000 * self.tokens / self.ms if self.ms else Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedRate:
    """The rate of one workload: mean over its repeats, and ``100 (highest - lowest) / mean``."""

    mean: Fraction
    spread_pct: Fraction
    repeats: int


def forced_rates(runs: Sequence[ForcedRun]) -> dict[str, dict[str, ForcedRate]]:
    """The rate of every workload, by configuration.

    Raises:
        RefusedError: ``E_REFERENCE`` when one workload has other numbers of tokens, ``E_UNPAIRED`` when a
            configuration lacks a workload or a repeat that another has.
    """
    table: dict[str, dict[str, list[ForcedRun]]] = defaultdict(lambda: defaultdict(list))
    lengths: dict[str, ForcedRun] = {}
    for run in runs:
        model = lengths.setdefault(run.workload, run)
        if run.tokens != model.tokens:
            raise RefusedError(
                "E_REFERENCE",
                f"{run.workload} has {run.tokens} tokens under {run.config} and {model.tokens} under {model.config}: "
                "another reference text",
                where="/rows",
            )
        if any(each.repeat == run.repeat for each in table[run.config][run.workload]):
            raise RefusedError(
                "E_UNPAIRED", f"{run.config} has repeat {run.repeat} of {run.workload} twice", where="/rows"
            )
        table[run.config][run.workload].append(run)
    wanted = {(run.workload, run.repeat) for run in runs}
    for config, workloads in table.items():
        lacking = sorted(wanted - {(run.workload, run.repeat) for each in workloads.values() for run in each})
        if lacking:
            workload, repeat = lacking[0]
            raise RefusedError("E_UNPAIRED", f"{config} lacks repeat {repeat} of {workload}", where="/rows")
    return {
        config: {workload: _rate([run.rate for run in each]) for workload, each in workloads.items()}
        for config, workloads in table.items()
    }


def overall(rates: Mapping[str, ForcedRate]) -> Fraction:
    """The mean over workloads."""
    return sum((rate.mean for rate in rates.values()), Fraction(0)) / len(rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedAnswer:
    """What a bench says.

    Attributes:
        base: the configuration that the others are held against.
        rates: of every workload, by configuration.
        verdicts: by configuration and workload, ``overall`` the last.
        outcome: in one word.
        code: why nobody can tell; empty for a pass or a failure.
        reason: in one sentence.
    """

    base: str
    rates: Mapping[str, Mapping[str, ForcedRate]]
    verdicts: Mapping[str, Mapping[str, StatVerdict]]
    outcome: Outcome
    code: str
    reason: str


def judge_forced(runs: Sequence[ForcedRun], *, ask_better: bool = False) -> ForcedAnswer:
    """Judge every configuration against the first one.

    Args:
        runs: in the order in which they ran; at least one.
        ask_better: the overall rate must be resolved better, not only no rate worse.

    Raises:
        RefusedError: what `forced_rates` refuses, and ``E_NO_PAIRS`` for one configuration alone.
    """
    rates = forced_rates(runs)
    base, *others = rates
    if not others:
        raise RefusedError("E_NO_PAIRS", "there is one configuration alone: nothing to compare it with", where="/rows")
    columns = {config: _columns([run for run in runs if run.config == config]) for config in rates}
    verdicts = {
        config: {
            name: judge_values("mean", columns[base][name], values, higher_is_better=True)
            for name, values in columns[config].items()
        }
        for config in others
    }
    outcome, code, reason = _decide(verdicts, ask_better=ask_better)
    return ForcedAnswer(base=base, rates=rates, verdicts=verdicts, outcome=outcome, code=code, reason=reason)


def _columns(runs: Sequence[ForcedRun]) -> dict[str, list[Fraction]]:
    """The rate of each repeat, by workload and overall."""
    by_workload: dict[str, dict[int, Fraction]] = defaultdict(dict)
    for run in runs:
        by_workload[run.workload][run.repeat] = run.rate
    repeats = sorted({run.repeat for run in runs})
    columns = {workload: [rates[repeat] for repeat in repeats] for workload, rates in by_workload.items()}
    return columns | {OVERALL: [sum(each, Fraction(0)) / len(each) for each in zip(*columns.values(), strict=True)]}


def _decide(verdicts: Mapping[str, Mapping[str, StatVerdict]], *, ask_better: bool) -> tuple[Outcome, str, str]:
    every = [(f"{config} on {name}", item) for config, found in verdicts.items() for name, item in found.items()]
    fewest = min(item.other.runs for _, item in every if item.other)
    if fewest < LEAST_RUNS:
        return "UNRESOLVED", "E_TOO_FEW_RUNS", f"{fewest} repeat(s), {LEAST_RUNS} are needed"
    worse = [title for title, item in every if item.worse]
    if worse:
        return "FAIL", "", f"resolved slower: {', '.join(worse)}"
    short = [config for config, found in verdicts.items() if not found[OVERALL].better]
    if ask_better and short:
        return "UNRESOLVED", "E_NEED_UNMET", f"not resolved better in the overall rate: {', '.join(short)}"
    return "PASS", "", "no rate is resolvedly slower at equal text"


def _rate(values: Sequence[Fraction]) -> ForcedRate:
    mean = sum(values, Fraction(0)) / len(values)
    spread = 100 * (max(values) - min(values)) / mean if mean else Fraction(0)
    return ForcedRate(mean=mean, spread_pct=spread, repeats=len(values))
