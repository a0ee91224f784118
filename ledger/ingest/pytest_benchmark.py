"""pytest-benchmark, ``--benchmark-json`` and files saved with ``--benchmark-save-data``.

The raw data are ``stats.data``, seconds per iteration of every round; with the iterations of a round they give back
what its clock saw. A file that is saved without them holds statistics alone, and one of uncommitted code measured
something that nobody can fetch. Quartiles and outliers follow definitions that changed with the versions: they are kept
and not compared.

Source: ``Metadata.as_dict`` and ``Stats`` of github.com/ionelmc/pytest-benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json, refuse_direction
from ledger.ingest.timed import (
    LOCAL_TIME,
    ONE_SAMPLE,
    as_members,
    compare_printed,
    differs,
    is_counted,
    json_text,
    mismatch,
    read_count,
    read_duration,
    read_start,
    reported_value,
    setting_texts,
    summarise,
    total_ns,
    whole_ns,
    wrong_kind,
)
from ledger.ingest.values import as_label, as_object, as_text, look
from ledger.metrics import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ledger.canonical import JsonObject

_FILE = ("machine_info", "commit_info", "benchmarks", "datetime", "version")
_BENCHMARK = ("params", "extra_info", "options", "stats")
_MACHINE = {"system": "os", "release": "kernel"}
_NO_COMMIT = (None, "unknown", "unversioned")
"""What stands for the commit outside of a repository."""


class PytestBenchmark:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "pytest-benchmark"
    about = "pytest-benchmark --benchmark-json, or a file saved with --benchmark-save-data"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        return all(member in raw for member in (b'"machine_info"', b'"commit_info"', b'"benchmarks"'))

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a test."""
        document = as_object(read_tool_json(raw, what), what)
        benchmarks = document.get("benchmarks")
        if not isinstance(benchmarks, list) or "machine_info" not in document:
            raise MalformedError("E_FORMAT", "expected machine_info and benchmarks of pytest-benchmark", where=what)
        commit = _commit(document, what)
        if not benchmarks:
            raise MalformedError("E_EMPTY_RESULTS", "the file holds no benchmark", where=f"{what}/benchmarks")
        run = _read_run(document, commit, what)
        return [_row(at, benchmark, run, f"{what}/benchmarks/{at}") for at, benchmark in enumerate(benchmarks)]


# What all tests of a file share.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One run of the tests."""

    commit: str | None
    started_at: str
    environment: JsonObject
    harness: JsonObject
    settings: dict[str, str]


def _read_run(document: JsonObject, commit: str | None, what: str) -> _Run:
    version = document.get("version")
    others = {name: value for name, value in document.items() if name not in _FILE}
    return _Run(
        commit=commit,
        started_at=read_start(look(document, "datetime", what), f"{what}/datetime"),
        environment=_environment(as_members(document["machine_info"], f"{what}/machine_info"), f"{what}/machine_info"),
        harness={"name": "pytest-benchmark"} | ({"version": as_text(version, f"{what}/version")} if version else {}),
        settings=setting_texts(others, what),
    )


def _commit(document: JsonObject, what: str) -> str | None:
    """The commit, unless there is none.

    Raises:
        MalformedError: ``E_DIRTY``: the code that was measured is in no commit.
    """
    info = as_members(look(document, "commit_info", what), f"{what}/commit_info")
    dirty = info.get("dirty")
    if dirty is True:
        raise MalformedError("E_DIRTY", "uncommitted code was measured", where=f"{what}/commit_info/dirty")
    if dirty is not None and dirty is not False:
        raise wrong_kind("true or false", dirty, f"{what}/commit_info/dirty")
    commit = info.get("id")
    return None if commit in _NO_COMMIT else as_label(commit, f"{what}/commit_info/id")


def _environment(machine: JsonObject, where: str) -> JsonObject:
    """Facts that stay the same from run to run: a clock rate is none of them."""
    texts = {name: as_text(value, f"{where}/{name}") for name, value in machine.items() if _is_text(value)}
    found: JsonObject = {ours: texts.pop(theirs) for theirs, ours in _MACHINE.items() if theirs in texts}
    python = " ".join(texts.pop(name) for name in ("python_implementation", "python_version") if name in texts)
    if python:
        found["runtime"] = python
    cpu = machine.get("cpu")
    if isinstance(cpu, dict):
        brand = cpu.get("brand_raw") or cpu.get("brand")
        if brand:
            found["cpu"] = as_text(brand, f"{where}/cpu/brand_raw")
        if cpu.get("count") is not None:
            found["cores"] = read_count(cpu["count"], f"{where}/cpu/count", "processors")
    return found | ({"extra": texts} if texts else {})


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


# One test.


def _row(number: int, value: object, run: _Run, where: str) -> Row:
    benchmark = as_members(value, where)
    stats = as_members(look(benchmark, "stats", where), f"{where}/stats")
    iterations = read_count(stats.get("iterations"), f"{where}/stats/iterations", "iterations")
    seconds = _samples(stats, f"{where}/stats")
    samples = [whole_ns(each, NS_PER_S * iterations, f"{where}/stats/data/{at}") for at, each in enumerate(seconds)]
    notes = [LOCAL_TIME] if not run.started_at.endswith("Z") else []
    notes += [ONE_SAMPLE] if len(samples) == 1 else []
    added = as_members(benchmark.get("extra_info") or {}, f"{where}/extra_info")
    refuse_direction(added, f"{where}/extra_info")
    counted = {f"extra_info/{name}": reported_value(value) for name, value in added.items() if is_counted(value)}
    return Row(
        number=number,
        metrics=("ns_per_iteration",),
        context=0,
        workload={},
        records={"wall_ns": samples, "iterations": [iterations] * len(samples)},
        wall_ns=total_ns(samples, f"{where}/stats/data"),
        started_at=run.started_at,
        reported={name: reported_value(value) for name, value in stats.items() if name != "data"} | counted,
        settings=run.settings | _settings(benchmark, where),
        environment=run.environment,
        weights={},
        harness=run.harness,
        commit=run.commit,
        notes=(*notes, *_compare(stats, seconds)),
    )


def _samples(stats: JsonObject, where: str) -> list[Fraction]:
    data = stats.get("data")
    if data is None:
        raise MalformedError(
            "E_NO_SAMPLES", "statistics without the rounds; run with --benchmark-save-data", where=f"{where}/data"
        )
    if not isinstance(data, list):
        raise wrong_kind("a list of rounds", data, f"{where}/data")
    seconds = [read_duration(each, f"{where}/data/{at}") for at, each in enumerate(data)]
    rounds = read_count(stats.get("rounds"), f"{where}/rounds", "rounds")
    if len(seconds) != rounds:
        raise MalformedError("E_NO_SAMPLES", f"{len(seconds)} of {rounds} rounds are there", where=f"{where}/data")
    return seconds


def _compare(stats: JsonObject, seconds: Sequence[Fraction]) -> list[str]:
    summary = summarise(seconds)
    notes = compare_printed(stats, summary)
    if summary.exact["total"] and differs(stats.get("ops"), 1 / summary.exact["mean"]):
        notes.append(mismatch("ops", stats["ops"]))
    return notes


def _settings(benchmark: JsonObject, where: str) -> dict[str, str]:
    """Which test, with which parameters and options; what a test adds to its result is a setting unless a number."""
    as_text(benchmark.get("fullname"), f"{where}/fullname")
    plain = {name: value for name, value in benchmark.items() if name not in _BENCHMARK}
    added = {name: value for name, value in (benchmark.get("extra_info") or {}).items() if not is_counted(value)}
    parameters = as_members(benchmark.get("params") or {}, f"{where}/params")
    return (
        setting_texts(plain, where)
        | setting_texts(_flat(parameters), f"{where}/params", "params/")
        | setting_texts(benchmark.get("options"), f"{where}/options", "options/")
        | setting_texts(_flat(added), f"{where}/extra_info", "extra_info/")
    )


def _flat(members: JsonObject) -> JsonObject:
    """What a test was called with may be nested: then as JSON."""
    return {name: json_text(value) if isinstance(value, dict | list) else value for name, value in members.items()}
