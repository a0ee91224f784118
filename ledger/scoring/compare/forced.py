"""Forced decoding: every configuration drafts and verifies for real, and all commit one reference text.

Tokens do not differ between configurations, only rounds and time, so rates are compared at equal text. The rate of a
workload is the arithmetic mean over its repeats and the printed spread is in per cent of that *mean*, where the row
harness takes the median; the overall rate is the mean over workloads. Because equal text is the whole point, other
numbers of tokens for one workload and repeat are refused.

Source: forced_bench.py of the TandemLLM project.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedRun:
    """One workload under one configuration: tokens after the first one, time and rounds."""

    config: str
    workload: str
    repeat: int
    tokens: int
    ms: Fraction
    blocks: int

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


def _rate(values: Sequence[Fraction]) -> ForcedRate:
    mean = sum(values, Fraction(0)) / len(values)
    spread = 100 * (max(values) - min(values)) / mean if mean else Fraction(0)
    return ForcedRate(mean=mean, spread_pct=spread, repeats=len(values))
