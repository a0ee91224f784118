"""Google Benchmark, ``--benchmark_format=json`` and ``--benchmark_out``.

A row of the file is one repetition: a mean over its iterations, in a unit of its own, which times the iterations is
what its clock saw. Rows of one name are the repetitions of one test and become the samples of one `Row`; rows that
summarise others (mean, BigO, …) stand in the same list and are no samples. Builds before 1.5 do not mark them: they are
known by the name that they lengthen.

Whatever a user adds to a row is measured if it is a number (a counter) or differs between repetitions, and is
otherwise part of what was measured.

Source: ``JSONReporter`` of github.com/google/benchmark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ledger.canonical import escape_pointer
from ledger.errors import MalformedError
from ledger.ingest.adapter import Row
from ledger.ingest.direction import read_tool_json
from ledger.ingest.google_benchmark_context import Context, read_context
from ledger.ingest.timed import (
    ONE_SAMPLE,
    as_members,
    deviation_differs,
    differs,
    is_counted,
    mismatch,
    read_count,
    read_duration,
    reported_value,
    setting_text,
    summarise,
    total_ns,
    whole_ns,
    wrong_kind,
)
from ledger.ingest.values import as_object, as_text, look
from ledger.ingest.words import counted
from ledger.json_input import NonFinite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ledger.canonical import JsonObject

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_IDENTITY = ("name", "run_name", "repetitions", "threads")
"""What all repetitions of one test share."""
_KNOWN = {
    *_IDENTITY,
    *("run_type", "repetition_index", "family_index", "per_family_instance_index"),
    *("iterations", "real_time", "cpu_time", "time_unit"),
    *("error_occurred", "error_message", "skipped", "skip_message"),
}
_SUFFIXES = ("_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS")
_COMPARED = ("mean", "median", "stddev")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repetition:
    """One row that was measured; `real` and `cpu` are nanoseconds per iteration."""

    at: int
    row: JsonObject
    real: Fraction
    cpu: Fraction
    iterations: int
    wall_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """The rows of a file by what they are: repetitions by their name, aggregates by that of what they summarise."""

    tests: dict[str, list[_Repetition]] = field(default_factory=lambda: defaultdict(list))
    aggregates: dict[str, list[JsonObject]] = field(default_factory=lambda: defaultdict(list))
    failed: list[JsonObject] = field(default_factory=list)


class GoogleBenchmark:
    """The adapter (see `ledger.ingest.adapter.Adapter`)."""

    name = "google-benchmark"
    about = "Google Benchmark --benchmark_format=json or --benchmark_out"

    def recognises(self, raw: bytes) -> bool:
        """See `Adapter`."""
        marked = b'"run_type"' in raw or b'"library_build_type"' in raw
        return b'"benchmarks"' in raw and (marked or (b'"real_time"' in raw and b'"time_unit"' in raw))

    def read(self, raw: bytes, what: str) -> list[Row]:
        """See `Adapter`. A row is a test: all repetitions of one name, at the place of the first."""
        document = as_object(read_tool_json(raw, what, nonfinite=True), what)
        rows = document.get("benchmarks")
        if not isinstance(rows, list):
            raise MalformedError("E_FORMAT", "expected a list of benchmarks of Google Benchmark", where=what)
        context = read_context(look(document, "context", what), f"{what}/context")
        if not rows:
            raise MalformedError("E_EMPTY_RESULTS", "the file holds no benchmark", where=f"{what}/benchmarks")
        file = _sort_rows(rows, f"{what}/benchmarks")
        _check_measured(file, f"{what}/benchmarks")
        return [_row(repetitions, file, context, f"{what}/benchmarks") for repetitions in file.tests.values()]


def _sort_rows(rows: Sequence[object], where: str) -> _File:
    file = _File()
    objects = [_object(row, f"{where}/{at}") for at, row in enumerate(rows)]
    names = Counter(as_text(row.get("name"), f"{where}/{at}/name") for at, row in enumerate(objects))
    for at, row in enumerate(objects):
        if "time_unit" in row:
            _unit(row, f"{where}/{at}")
        if _is_aggregate(row, names, f"{where}/{at}"):
            file.aggregates[row.get("run_name", row["name"].rpartition("_")[0])].append(row)
        elif row.get("error_occurred") or row.get("skipped"):
            file.failed.append(row)
        else:
            file.tests[row["name"]].append(_repetition(at, row, f"{where}/{at}"))
    return file


def _object(value: object, where: str) -> JsonObject:
    row = as_members(value, where)
    if "run_name" in row:
        as_text(row["run_name"], f"{where}/run_name")
    return row


def _is_aggregate(row: JsonObject, names: Counter[str], where: str) -> bool:
    if "run_type" in row:
        kind = row["run_type"]
        if kind not in ("iteration", "aggregate"):
            raise wrong_kind("iteration or aggregate", kind, f"{where}/run_type")
        return bool(kind == "aggregate")
    if "real_time" not in row:
        return "big_o" in row or "rms" in row
    return any(row["name"].endswith(end) and _is_summarised(row["name"].removesuffix(end), names) for end in _SUFFIXES)


def _is_summarised(name: str, names: Counter[str]) -> bool:
    """Whether an old build summarises the tests of a name: it repeated them, or shows nothing but their statistics."""
    return names[name] > 1 or (f"{name}_mean" in names and f"{name}_stddev" in names)


def _unit(row: JsonObject, where: str) -> int:
    """Nanoseconds in the row's unit."""
    unit = as_text(row.get("time_unit"), f"{where}/time_unit")
    if unit not in _UNITS:
        raise wrong_kind("ns, us, ms or s", unit, f"{where}/time_unit", code="E_UNIT")
    return _UNITS[unit]


def _repetition(at: int, row: JsonObject, where: str) -> _Repetition:
    unit = _unit(row, where)
    iterations = read_count(row.get("iterations"), f"{where}/iterations", "iterations")
    real, cpu = (read_duration(look(row, name, where), f"{where}/{name}") * unit for name in ("real_time", "cpu_time"))
    wall_ns = whole_ns(real, iterations, f"{where}/real_time")
    return _Repetition(at=at, row=row, real=real, cpu=cpu, iterations=iterations, wall_ns=wall_ns)


def _check_measured(file: _File, where: str) -> None:
    if file.tests:
        return
    if file.failed:
        raise MalformedError("E_ALL_FAILED", "every benchmark failed or was skipped", where=where)
    raise MalformedError("E_NO_SAMPLES", "only rows that summarise others: keep those of the repetitions", where=where)


# One test.


def _row(repetitions: list[_Repetition], file: _File, context: Context, where: str) -> Row:
    settings, measured = _added(repetitions, where)
    aggregates = _aggregates_of(repetitions[0].row, file)
    return Row(
        number=repetitions[0].at,
        metrics=("ns_per_iteration",),
        context=0,
        workload={},
        records={
            "wall_ns": [each.wall_ns for each in repetitions],
            "iterations": [each.iterations for each in repetitions],
        },
        wall_ns=total_ns([each.wall_ns for each in repetitions], f"{where}/{repetitions[0].at}"),
        started_at=context.started_at,
        reported=context.reported
        | {name: _column(repetitions, name) for name in ("real_time", "cpu_time", "time_unit", *measured)}
        | {f"real_time {name}": reported_value(row.get("real_time")) for name, row in aggregates.items()},
        settings=context.settings | settings,
        environment=context.environment,
        weights={},
        harness=context.harness,
        commit=None,
        notes=(*context.notes, *_notes(repetitions, file, context), *_compare(repetitions, aggregates)),
    )


def _column(repetitions: Sequence[_Repetition], name: str) -> list[object]:
    return [reported_value(each.row.get(name)) for each in repetitions]


def _added(repetitions: Sequence[_Repetition], where: str) -> tuple[dict[str, str], list[str]]:
    """Settings of a test, and the names of what its rows measured beside their times."""
    first, settings, measured = repetitions[0], {}, []
    for name in dict.fromkeys(name for each in repetitions for name in each.row if name not in _KNOWN):
        places = [f"{where}/{each.at}/{escape_pointer(name)}" for each in repetitions]
        values = [each.row.get(name) for each in repetitions]
        texts = [setting_text(value, place) for value, place in zip(values, places, strict=True)]
        if any(map(is_counted, values)) or len({*texts}) > 1:
            measured.append(name)
        else:
            settings[name] = texts[0]
    for name in _IDENTITY:
        if name in first.row:
            settings[name] = setting_text(first.row[name], f"{where}/{first.at}/{name}")
        for each in repetitions:
            if each.row.get(name) != first.row.get(name):
                raise MalformedError(
                    "E_FIELD", f"repetitions of one name differ in {name}", where=f"{where}/{each.at}/{name}"
                )
    return settings, measured


def _notes(repetitions: Sequence[_Repetition], file: _File, context: Context) -> list[str]:
    found = [ONE_SAMPLE] if len(repetitions) == 1 else []
    over = sum(each.cpu > each.real * context.cores for each in repetitions)
    if over:
        found.append(
            f"F_CPU_TIME: more processor time than {context.cores} processors have in {over} of {len(repetitions)} rows"
        )
    aggregates = sum(map(len, file.aggregates.values()))
    if aggregates:
        found.append(f"F_AGGREGATE_SKIPPED: {counted(aggregates, 'row')} of the file left out: a summary of others")
    if file.failed:
        found.append(f"F_RESULT_SKIPPED: {counted(len(file.failed), 'row')} of the file left out: failed or skipped")
    if any(isinstance(value, NonFinite) for each in repetitions for value in each.row.values()):
        found.append("F_NONFINITE: a counter is NaN or Infinity; it is kept as text")
    return found


# What summarises it.


def _aggregates_of(row: JsonObject, file: _File) -> dict[str, JsonObject]:
    """The aggregates of a test that its repetitions must give, by their kind."""
    found = file.aggregates.get(str(row.get("run_name", row["name"])), [])
    kinds = {str(each.get("aggregate_name", each["name"].rpartition("_")[2])): each for each in found}
    return {kind: kinds[kind] for kind in _COMPARED if kind in kinds and "time_unit" in kinds[kind]}


def _compare(repetitions: Sequence[_Repetition], aggregates: dict[str, JsonObject]) -> list[str]:
    if not aggregates:
        return []
    summary, notes = summarise([each.real for each in repetitions]), []
    for kind, row in aggregates.items():
        printed, unit = row.get("real_time"), _UNITS[row["time_unit"]]
        if kind == "stddev":
            wrong = deviation_differs(printed, summary, unit)
        else:
            wrong = differs(printed, summary.exact[kind] / unit)
        if wrong:
            notes.append(mismatch(f"{kind} of real_time", printed))
    return notes
