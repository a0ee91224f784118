"""vLLM ``bench latency --output-json``: the seconds of every iteration, and nothing of what was run.

An iteration is one batch from prompts to last tokens, prefill included: a `wall`, from which no rate of decoding
follows. Model, lengths, batch and time are at best in the name of the file, so the caller must say them.

Source: ``main`` in vllm/benchmarks/latency.py of github.com/vllm-project/vllm.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.canonical import MAX_INT
from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.vllm.fields import bad_field, nanoseconds, positive, reported_of, settings_of
from ledger.ingest.vllm.figures import Printed, compare_statistics
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

_MARKS = ("avg_latency", "latencies", "percentiles")
_READ = ("latencies", "percentiles")
_PRINTED = re.compile(r"(avg|mean|median|std|p\d+(\.\d+)?)_.+|.+_(throughput|per_second)|run_number", re.ASCII)
_PERCENT = re.compile(r"\d{1,2}(\.\d{1,9})?|100", re.ASCII)


class VllmLatency:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "vllm-latency"
    about = "vllm bench latency --output-json"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return raw.lstrip()[:1] == b"{" and all(f'"{mark}"'.encode() in raw for mark in _MARKS)

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`."""
        run = read_tool_json(raw, what)
        if not isinstance(run, dict) or not all(mark in run for mark in _MARKS):
            raise MalformedError("E_FORMAT", "expected a result of vllm bench latency --output-json", where=what)
        samples, percentiles = _samples(run, what), _percentiles(run, what)
        printed = [
            Printed("avg_latency", run["avg_latency"], "mean"),
            *([Printed("std_latency", run["std_latency"], "std")] if "std_latency" in run else []),
            *(Printed(f"percentiles/{name}", value, Fraction(name)) for name, value in percentiles.items()),
        ]
        row = Row(
            number=0,
            metrics=("wall",),
            context=None,
            workload=None,
            records={"wall_ns": samples},
            wall_ns=sum(samples),
            started_at="",
            reported=reported_of(run, _READ, _is_printed, what)
            | {
                f"p{name}_latency": value
                for name, value in reported_of(percentiles, (), bool, f"{what}/percentiles").items()
            },
            settings=settings_of(run, _READ, _is_printed, what),
            environment={},
            weights={},
            harness={"name": "vllm bench latency"},
            commit=None,
            notes=(
                "F_WORKLOAD_GIVEN: the file says neither lengths nor batch: they are what the caller says",
                *(["F_N1: one iteration, which has no deviation"] if len(samples) == 1 else []),
                *compare_statistics(samples, printed, NS_PER_S),
            ),
        )
        return [row]


def _is_printed(name: str) -> bool:
    return _PRINTED.fullmatch(name) is not None


def _samples(run: JsonObject, what: str) -> list[int]:
    latencies, where = run["latencies"], f"{what}/latencies"
    if not isinstance(latencies, list):
        raise bad_field(f"expected a list of seconds, found {latencies!r}", what, "latencies")
    if not latencies:
        raise MalformedError("E_EMPTY_RESULTS", "latencies holds no iteration", where=where)
    samples = [positive(nanoseconds(item, f"{where}/{at}"), f"{where}/{at}") for at, item in enumerate(latencies)]
    if sum(samples) > MAX_INT:
        raise MalformedError("E_SAMPLE", f"iterations of {sum(samples)} ns in all are no durations", where=where)
    return samples


def _percentiles(run: JsonObject, what: str) -> JsonObject:
    found = run["percentiles"]
    if not isinstance(found, dict):
        raise bad_field(f"expected percentiles by name, found {found!r}", what, "percentiles")
    for name, value in found.items():
        if not _PERCENT.fullmatch(name) or isinstance(value, dict | list):
            raise bad_field(f"expected a percentile, found {name!r}: {value!r}", f"{what}/percentiles", name)
    return found
