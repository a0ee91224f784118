"""Figures that tools print of a run, worked out from its records, and what else the same name is used for.

An expectation has the figure as the ledger works it out, and other readings that people really print. A printed figure
that is one of these others can be explained; it is still not the ledger's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ledger.ingest.checks.records import called_successes, everything, rows, succeeded
from ledger.ingest.statistics import between_ranks, nearest_rank, other_percentiles
from ledger.metrics import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.canonical import JsonObject

FORMULA, PERCENTILE = "F_FORMULA", "F_PERCENTILE_METHOD"
_FINE = 10**9
"""Times and rates of requests are counted in billionths of a ns and of a token a second: as fractions of as many
denominators as there are requests they would take minutes to add up, and nobody prints as many digits."""

_FINE_MS = _FINE * NS_PER_MS
_SERIES = re.compile(r"(mean|avg|median|p[1-9][0-9])_(ttft|e2el?|e2e_latency|tpot)_ms", re.ASCII)


REFUSED = "E_REPORTED_MISMATCH"
"""For a figure that counts something else than its name says: prompts as output, failed requests as answers, another
number of devices. Only sums, means and rates can be told to do so: a percentile over failed requests is a sample of
those that succeeded as well, by another method or by coincidence."""

_CALLED = "matches all requests that were called successes, those without a token too"
_EVERY = "matches all requests, failed ones too"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Another reading of a name.

    Attributes:
        value: the figure by it.
        hint: what it is.
        code: what a figure that is this one gets: another honest method or a mismatch a note, a wrong one a refusal.
    """

    value: Fraction
    hint: str
    code: str = "F_REPORTED_MISMATCH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a printed figure should be.

    Attributes:
        value: as the ledger works it out.
        others: other readings, in the order in which they are thought of.
        per_device: the figure is this over a number of devices.
    """

    value: Fraction
    others: Sequence[Reading] = field(default_factory=list)
    per_device: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """A repetition in totals.

    Attributes:
        rep: the repetition.
        gpus: devices of the node; none when the round does not say.
        seconds: its duration.
        prompt: tokens of prompts that count.
        completion: tokens of answers that count.
        counted: requests that count.
        called: requests that were called successes.
        total: all requests.
    """

    rep: JsonObject
    gpus: int | None
    seconds: Fraction
    prompt: int
    completion: int
    counted: int
    called: int
    total: int


def read_totals(rep: JsonObject, gpus: int | None) -> Totals:
    """Totals of a repetition. Its duration is that of its records where these are whole runs."""
    walls = [wall for _, wall in rows(rep, "wall_ns")] if "output_tok_s" in rep["metrics"] else []
    counted = succeeded(rep)
    return Totals(
        rep=rep,
        gpus=gpus or None,
        seconds=Fraction(sum(walls) or rep["wall_ns"], NS_PER_S),
        prompt=sum(tokens for _, tokens in rows(rep, "prompt_tokens")),
        completion=sum(tokens for _, tokens in rows(rep, "completion_tokens")),
        counted=sum(counted),
        called=sum(called_successes(rep)),
        total=len(counted),
    )


def expect(name: str, run: Totals) -> Expectation | None:
    """What a figure of a common name should be; none when the name is not known or the records cannot tell."""
    found = _SERIES.fullmatch(name)
    if found:
        return _expect_series(found[1], found[2], run)
    make = _TOTALS.get(name)
    return make(run) if make else None


@lru_cache(maxsize=1024)
def is_expected(name: str) -> bool:
    """Whether `expect` knows a name."""
    return name in _TOTALS or _SERIES.fullmatch(name) is not None


def output_rate(run: Totals) -> Fraction | None:
    """Tokens of answers in a second of the run."""
    return run.completion / run.seconds if run.completion else None


# Totals over the duration.


def _output(run: Totals) -> Expectation | None:
    rate = output_rate(run)
    if rate is None:
        return None
    both = Reading(value=(run.prompt + run.completion) / run.seconds, hint="matches (in+out)/duration", code=REFUSED)
    return Expectation(value=rate, others=[both])


def _total(run: Totals) -> Expectation | None:
    if not run.completion or not run.prompt:
        return None
    alone = Reading(value=run.completion / run.seconds, hint="matches out/duration")
    return Expectation(value=(run.prompt + run.completion) / run.seconds, others=[alone])


def _per_device(run: Totals) -> Expectation | None:
    rate = output_rate(run)
    return None if rate is None or run.gpus is None else Expectation(value=rate / run.gpus, per_device=rate)


def _requests(run: Totals) -> Expectation | None:
    if "output_tok_s" in run.rep["metrics"]:
        return None  # its records are whole runs
    called = Reading(value=run.called / run.seconds, hint=_CALLED)
    every = Reading(value=run.total / run.seconds, hint=_EVERY, code=REFUSED)
    return Expectation(value=run.counted / run.seconds, others=[called, every])


def _per_user(run: Totals) -> Expectation | None:
    """Two honest formulas: the mean of the requests' rates, and the rate of their mean gap."""
    cells = rows(run.rep, "completion_tokens", "ttft_ns", "e2e_ns")
    spans = [(tokens - 1, end - first) for _, tokens, first, end in cells if tokens > 1 and end > first]
    gaps = [_fine(span, steps) for steps, span in spans]
    if not any(gaps):
        return None
    rates = [_fine(steps * NS_PER_S, span) for steps, span in spans]
    steps, spent = (sum(each) for each in zip(*spans, strict=True))
    return Expectation(
        value=mean(rates) / _FINE,
        others=[
            Reading(value=NS_PER_S * _FINE / mean(gaps), hint="is the rate of the mean gap", code=FORMULA),
            Reading(value=Fraction(steps * NS_PER_S, spent), hint="is the rate of all gaps together", code=FORMULA),
            Reading(value=interpolated(rates, 50) / _FINE, hint="is the median of the rates", code=FORMULA),
        ],
    )


_TOTALS: Mapping[str, Callable[[Totals], Expectation | None]] = {
    "output_tok_s": _output,
    "output_throughput": _output,
    "output_tokens_per_s": _output,
    "total_tok_s": _total,
    "total_token_throughput": _total,
    "tok_s_per_gpu": _per_device,
    "output_tok_s_per_gpu": _per_device,
    "request_throughput": _requests,
    "requests_per_s": _requests,
    "req_s": _requests,
    "decode_tok_s": _per_user,
    "mean_decode_tok_s": _per_user,
    "output_tok_s_per_user": _per_user,
    "output_token_throughput_per_user": _per_user,
}
"""By the name that tools print."""


# Statistics of one time of the requests.


def _expect_series(statistic: str, time: str, run: Totals) -> Expectation | None:
    counted = _times(time, run.rep, succeeded)
    if not counted:
        return None
    value, is_mean = _statistic(statistic), statistic in _MEANS
    others = [] if is_mean else _other_methods(statistic, counted)
    called, every = (_times(time, run.rep, among) for among in (called_successes, everything))
    if len(called) > len(counted):
        others.append(Reading(value=value(called) / _FINE_MS, hint=_CALLED))
    if len(every) > len(called):
        code = REFUSED if is_mean else "F_REPORTED_MISMATCH"
        others.append(Reading(value=value(every) / _FINE_MS, hint=_EVERY, code=code))
    return Expectation(value=value(counted) / _FINE_MS, others=others)


def _other_methods(statistic: str, counted: Sequence[int]) -> list[Reading]:
    """The same percentile of the same requests by other honest methods: they are thought of first."""
    percent = 50 if statistic == "median" else int(statistic[1:])
    found = other_percentiles(sorted(counted), percent)
    return [Reading(value=value / _FINE_MS, hint=hint, code=PERCENTILE) for value, hint in found]


def _times(time: str, rep: JsonObject, among: Callable[[JsonObject], list[bool]]) -> list[int]:
    """Times, see `_FINE`. Of a request that does not count a time that is missing is 0: that is what tools average."""
    if time == "tpot":
        cells = rows(rep, "completion_tokens", "ttft_ns", "e2e_ns", among=everything)
        known = {at: _fine(end - first, count - 1) for at, count, first, end in cells if count > 1}
    else:
        column = "ttft_ns" if time == "ttft" else "e2e_ns"
        known = {at: each * _FINE for at, each in rows(rep, column, among=everything) if each}
    taken = enumerate(zip(among(rep), succeeded(rep), strict=True))
    return [known.get(at, 0) for at, (is_taken, counts) in taken if is_taken and (at in known or not counts)]


def _fine(numerator: int, denominator: int) -> int:
    """A quotient, see `_FINE`, rounded to the nearest."""
    return (2 * numerator * _FINE + denominator) // (2 * denominator)


def _statistic(name: str) -> Callable[[Sequence[int]], Fraction]:
    return _STATISTICS[name] if name in _STATISTICS else partial(_ranked, percent=int(name[1:]))


def mean(values: Sequence[int]) -> Fraction:
    """The arithmetic mean."""
    return Fraction(sum(values), len(values))


def _ranked(values: Sequence[int], percent: int) -> Fraction:
    return nearest_rank(sorted(values), percent)


def interpolated(values: Sequence[int], percent: int) -> Fraction:
    """The value so far along the line through all, which is mostly none of them; at 50 percent their median."""
    return between_ranks(sorted(values), percent)


_STATISTICS: Mapping[str, Callable[[Sequence[int]], Fraction]] = {
    "mean": mean,
    "avg": mean,
    "median": partial(interpolated, percent=50),
}
_MEANS = {"mean", "avg"}
