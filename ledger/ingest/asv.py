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

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import NonFiniteText
from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.asv_results import STATISTICS, Benchmark, read_benchmarks
from ledger.ingest.timed import (
    ONE_SAMPLE,
    Summary,
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
)
from ledger.ingest.values import as_label, as_object, exponent_of, printed_decimal, read_json_lenient
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

_MACHINE = {"cpu": "cpu", "os": "os"}
_MACHINE_EXTRA = ("machine", "arch", "ram")
_MEASURED = ("commit_hash", "date", "params", "requirements", "env_vars", "result_columns", "results", "durations")
_VERSION_1 = ("benchmark_version", "started_at", "duration", "profiles")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all results of a file share."""

    commit: str | None
    environment: JsonObject
    settings: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """One combination of one benchmark's parameters that has samples."""

    number: int
    benchmark: Benchmark
    at: int
    samples: list[object]


class Asv:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "asv"
    about = "asv results of one commit, run with --record-samples"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return all(member in raw for member in (b'"commit_hash"', b'"results"', b'"requirements"', b'"params"'))

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a benchmark with one combination of its parameters."""
        document = as_object(read_json_lenient(raw, what), what)
        if not isinstance(document.get("results"), dict) or "commit_hash" not in document:
            raise MalformedError("E_FORMAT", "expected commit_hash and results of asv", where=what)
        found, left_out = _sampled(document, what)
        run = _read_run(document, what)
        return [_row(result, run, left_out) for result in found]


def _sampled(document: JsonObject, what: str) -> tuple[list[_Result], list[str]]:
    """Results with samples, and a note when there are others."""
    found: list[_Result] = []
    number = bare = 0
    for benchmark in read_benchmarks(document, what):
        for at, result in enumerate([None] if benchmark.results is None else benchmark.results):
            samples = benchmark.samples[at] if benchmark.samples else None
            if result is not None and not isinstance(result, NonFiniteText):
                if samples is None:
                    bare += 1
                else:
                    found.append(_Result(number=number, benchmark=benchmark, at=at, samples=_list(samples, benchmark, at)))
            number += 1
    if not found and bare:
        raise MalformedError("E_NO_SAMPLES", "results without samples; run asv with --record-samples", where=what)
    if not found:
        raise MalformedError("E_EMPTY_RESULTS", f"none of {number} results has a value", where=f"{what}/results")
    empty = number - bare - len(found)
    left_out = [f"{empty} that failed or were skipped"] if empty else []
    left_out += [f"{bare} without samples"] if bare else []
    return found, [f"F_RESULT_SKIPPED: of {number} results {' and '.join(left_out)} are left out"] if left_out else []
