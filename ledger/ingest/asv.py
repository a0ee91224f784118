"""asv (airspeed velocity), a file of results: one machine, one commit, one environment.

The raw data are ``samples``, seconds per call, which only ``asv run --record-samples`` keeps; with the number of calls
that were timed together (``stats_number``) they give back what the clock saw. Without them the file holds medians and
intervals. asv writes a bare ``NaN`` for what it skipped and ``Infinity`` for a bound that it cannot tell: the first is
no result, the second no bound.

The digest of a benchmark's source (``version``) is a setting: asv itself does not compare what differs in it.

Source: github.com/airspeed-velocity/asv, ``asv/results.py``, and ``TimeBenchmark`` of asv_runner, which divides a
sample by its number of calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.asv_results import Benchmark, read_benchmarks
from ledger.ingest.direction import read_tool_json
from ledger.ingest.timed import (
    ONE_SAMPLE,
    differs,
    mismatch,
    read_count,
    read_duration,
    read_epoch_ms,
    reported_value,
    setting_texts,
    summarise,
    total_ns,
    whole_ns,
    wrong_kind,
)
from ledger.ingest.values import as_label, as_object
from ledger.ingest.words import counted, verb
from ledger.json_input import NonFinite
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

_MACHINE = ("machine", "arch", "cpu", "num_cpu", "os", "ram")
_SETTINGS = ("requirements", "env_vars")
_KNOWN = {
    *("commit_hash", "date", "params", "result_columns", "results", "durations", "version"),
    *("benchmark_version", "started_at", "duration", "profiles"),  # version 1
    *_SETTINGS,
}
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)
# Quartiles are cut to five significant digits when they are written.
_FIVE_DIGITS = Fraction(5, 10**5)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all results of a file share."""

    commit: str | None
    environment: JsonObject
    settings: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """One combination of one benchmark's parameters that has samples.

    Attributes:
        number: position among all results of the file.
        benchmark: of the combination.
        at: position among the benchmark's own.
        value: the printed median.
        samples: as printed.
    """

    number: int
    benchmark: Benchmark
    at: int
    value: object
    samples: object

    @property
    def where(self) -> str:
        """Where its samples stand."""
        return self.benchmark.place("samples", self.at)

    def statistic(self, name: str) -> object:
        """What asv printed; see `ledger.ingest.asv_results.STATISTICS`."""
        column = self.benchmark.statistics[name]
        return None if column is None else column[self.at]


class Asv:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "asv"
    about = "asv results of one commit, run with --record-samples"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`. Rows under names of columns are asv's, whatever else is missing."""
        if raw.lstrip()[:1] == b"{" and b'"result_columns"' in raw and b'"results"' in raw:
            return True
        return all(member in raw for member in (b'"commit_hash"', b'"results"', b'"requirements"', b'"params"'))

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a benchmark with one combination of its parameters."""
        document = as_object(read_tool_json(raw, what, nonfinite=True), what)
        _refuse_nulls(document, what)
        if not isinstance(document.get("results"), dict) or "commit_hash" not in document:
            raise MalformedError("E_FORMAT", "expected commit_hash and results of asv", where=what)
        found, left_out = _sampled(document, what)
        run = _read_run(document, what)
        return [_row(result, run, left_out) for result in found]


def _refuse_nulls(document: JsonObject, what: str) -> None:
    """Refuse rows of which none has a result, before anything else: that tells more than what the file lacks beside it.

    Raises:
        MalformedError: ``E_EMPTY_RESULTS``.
    """
    columns, results = document.get("result_columns"), document.get("results")
    if not isinstance(columns, list) or "result" not in columns or not isinstance(results, dict):
        return
    at = columns.index("result")
    cells = [row[at : at + 1] if isinstance(row, list) else [row] for row in results.values()]
    values = [value for cell in cells for each in cell for value in (each if isinstance(each, list) else [each])]
    if all(value is None or isinstance(value, NonFinite) for value in values):
        number = max(len(values), len(results))
        raise MalformedError("E_EMPTY_RESULTS", f"none of {number} results has a value", where=f"{what}/results")


def _sampled(document: JsonObject, what: str) -> tuple[list[_Result], list[str]]:
    """Results with samples, and notes of those that have none."""
    found: list[_Result] = []
    number = bare = nonfinite = 0
    for benchmark in read_benchmarks(document, what):
        for at, value in enumerate([None] if benchmark.results is None else benchmark.results):
            samples = None if benchmark.samples is None else benchmark.samples[at]
            nonfinite += isinstance(value, NonFinite)
            if value is None or isinstance(value, NonFinite):
                pass  # failed, or skipped
            elif samples is None:
                bare += 1
            else:
                found.append(_Result(number=number, benchmark=benchmark, at=at, value=value, samples=samples))
            number += 1
    if not found and bare:
        raise MalformedError("E_NO_SAMPLES", "results without samples; run asv with --record-samples", where=what)
    if not found:
        raise MalformedError("E_EMPTY_RESULTS", f"none of {number} results has a value", where=f"{what}/results")
    counts = {"failed or were skipped": number - bare - len(found), "have no samples": bare}
    others = " and ".join(f"{count} {how}" for how, count in counts.items() if count)
    notes = {
        f"F_RESULT_SKIPPED: of {number} results {others}: they are left out": others,
        f"F_NONFINITE: {counted(nonfinite, 'result')} {verb(nonfinite, 'is', 'are')} NaN: no value": nonfinite,
    }
    return found, [note for note, holds in notes.items() if holds]


# What all results of a file share.


def _read_run(document: JsonObject, what: str) -> _Run:
    commit = document["commit_hash"]
    params = document.get("params")
    texts = setting_texts(params, f"{what}/params")
    settings = setting_texts({name: value for name, value in document.items() if name not in _KNOWN}, what)
    for member in _SETTINGS:
        settings |= setting_texts(document.get(member), f"{what}/{member}", f"{member}/")
    settings |= {f"params/{name}": text for name, text in texts.items() if name not in _MACHINE}
    return _Run(
        commit=None if commit is None else as_label(commit, f"{what}/commit_hash"),
        environment=_environment({name: texts[name] for name in _MACHINE if texts.get(name)}),
        settings=settings,
    )


def _environment(machine: dict[str, str]) -> JsonObject:
    environment: JsonObject = {name: machine.pop(name) for name in ("cpu", "os") if name in machine}
    cores = machine.get("num_cpu", "")
    if _COUNT.fullmatch(cores):
        environment["cores"] = int(machine.pop("num_cpu"))
    return environment | ({"extra": machine} if machine else {})


# One result.


def _row(result: _Result, run: _Run, left_out: list[str]) -> Row:
    benchmark, where = result.benchmark, result.where
    calls = read_count(result.statistic("number"), benchmark.place("stats_number", result.at), "calls")
    if not isinstance(result.samples, list):
        raise wrong_kind("a list of samples", result.samples, where)
    if not result.samples:
        raise MalformedError("E_EMPTY_RESULTS", "there is no sample", where=where)
    seconds = [read_duration(each, f"{where}/{at}") for at, each in enumerate(result.samples)]
    samples = [whole_ns(each, NS_PER_S * calls, f"{where}/{at}") for at, each in enumerate(seconds)]
    reported = {"result": reported_value(result.value)}
    reported |= {f"stats_{name}": reported_value(result.statistic(name)) for name in benchmark.statistics}
    return Row(
        number=result.number,
        metrics=("ns_per_iteration",),
        context=0,
        workload={},
        records={"wall_ns": samples, "iterations": [calls] * len(samples)},
        wall_ns=total_ns(samples, where),
        started_at=read_epoch_ms(benchmark.started_at, benchmark.places.get("started_at", benchmark.where)),
        reported={name: value for name, value in reported.items() if value is not None},
        settings=run.settings | _settings(benchmark, result.at),
        environment=run.environment,
        weights={},
        harness={"name": "asv"},
        commit=run.commit,
        notes=(*_notes(result, len(samples)), *left_out, *_compare(result, seconds)),
    )


def _settings(benchmark: Benchmark, at: int) -> dict[str, str]:
    arguments = {f"arguments/{number}": value for number, value in enumerate(benchmark.arguments(at))}
    return {"benchmark": benchmark.name, "benchmark_version": benchmark.version} | arguments


def _notes(result: _Result, count: int) -> list[str]:
    notes = [ONE_SAMPLE] if count == 1 else []
    if any(isinstance(result.statistic(name), NonFinite) for name in result.benchmark.statistics):
        notes.append("F_NONFINITE: a bound is NaN or Infinity: too few samples to tell it")
    return notes


def _compare(result: _Result, seconds: Sequence[Fraction]) -> list[str]:
    """What asv printed, held against the samples; its interval is an estimate and is not worked out again."""
    summary = summarise(seconds)
    quartiles = dict(zip(("q_25", "q_75"), summary.quartiles, strict=True))
    wrong = {"result": result.value} if differs(result.value, summary.exact["median"]) else {}
    wrong |= {
        name: result.statistic(name)
        for name, exact in quartiles.items()
        if differs(result.statistic(name), exact, exact * _FIVE_DIGITS)
    }
    if result.statistic("repeat") not in (None, len(seconds)):
        wrong["repeat"] = result.statistic("repeat")
    return [mismatch(name, printed) for name, printed in wrong.items()]
