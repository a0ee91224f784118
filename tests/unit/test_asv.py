"""The adapter of asv: samples where it keeps them, in both versions of its files, and what it could not run."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS, recognise
from ledger.ingest.asv_results import read_benchmarks
from tests.support.timed import ASV, changed, raw

BENCH = "results/bench.time_sum"
RESULT, PARAMS, STARTED, LOW, HIGH, QUARTER, NUMBER, REPEAT, SAMPLES = (
    f"{BENCH}/{at}" for at in (0, 1, 3, 5, 6, 7, 9, 10, 11)
)
NAN, INFINITY = float("nan"), float("inf")

VERSION_1: dict[str, Any] = {
    **{name: ASV[name] for name in ("commit_hash", "date", "params", "python", "requirements")},
    "results": {
        "bench.time_one": {
            "result": 3e-06,
            "samples": [3e-06, 2e-06, 4e-06],
            "stats": {"ci_99": [1e-06, 5e-06], "q_25": 2.5e-06, "q_75": 3.5e-06, "number": 10, "repeat": 3},
        },
        "bench.time_two": {
            "params": [["8", "16"]],
            "result": [None, 4.5e-06],
            "samples": [None, [4e-06, 5e-06]],
            "stats": [None, {"number": 20, "repeat": 2}],
        },
        "bench.mem_list": 728,
        "bench.time_failed": None,
        "bench.time_skipped": NAN,
    },
    "benchmark_version": {"bench.time_one": "f00d"},
    "started_at": {"bench.time_one": 1_800_000_000_123},
    "duration": {"bench.time_one": 1.5},
    "profiles": {},
    "version": 1,
}


def read(document: object) -> Any:  # noqa: ANN401 - the rows
    return ADAPTERS["asv"].read(raw(document), "run.json")


def refusal(document: object) -> tuple[str, str]:
    with pytest.raises(MalformedError) as caught:
        read(document)
    return caught.value.code, caught.value.where


def codes(document: object) -> list[list[str]]:
    return [[note.partition(":")[0] for note in row.notes] for row in read(document)]


def test_a_combination_of_parameters_is_a_row() -> None:
    first, second = read(ASV)
    assert (first.number, first.metrics, first.context, first.workload) == (0, ("ns_per_iteration",), 0, {})
    assert first.records == {"wall_ns": [30_000, 20_000, 40_000], "iterations": [10, 10, 10]}
    assert (first.wall_ns, first.started_at, first.commit) == (90_000, "2027-01-15T08:00:00Z", "abc1234")
    assert (second.number, second.records) == (1, {"wall_ns": [80_000, 100_000], "iterations": [20, 20]})
    assert first.harness == {"name": "asv"}
    assert (first.notes, second.notes) == ((), ())


def test_the_machine_is_the_node_and_the_environment_is_settings() -> None:
    first, second = read(changed(ASV, "branch", "main"))
    assert first.environment == {
        "cpu": "a cpu",
        "cores": 8,
        "os": "Linux 6.1",
        "extra": {"machine": "box", "arch": "x86_64", "ram": "16384"},
    }
    common = {
        "branch": "main",
        "env_name": "venv-py3.12",
        "python": "3.12",
        "params/python": "3.12",
        "params/numpy": "2.0",
        "requirements/numpy": "2.0",
        "env_vars/THREADS": "1",
        "benchmark": "bench.time_sum",
        "benchmark_version": "f00d",
    }
    assert (first.settings, second.settings) == (common | {"arguments/0": "8"}, common | {"arguments/0": "16"})


@pytest.mark.parametrize(("cores", "found"), [("8", 8), (8, 8), ("0", None), ("many", None), ("", None)])
def test_processors_are_counted_where_they_are_a_number(cores: object, found: int | None) -> None:
    assert read(changed(ASV, "params/num_cpu", cores))[0].environment.get("cores") == found


def test_a_file_without_facts_of_the_machine_has_none() -> None:
    assert read(changed(ASV, "params", {}))[0].environment == {}
    assert read(changed(ASV, "params", ...))[0].environment == {}


def test_what_was_printed_is_kept() -> None:
    assert read(ASV)[0].reported == {
        "result": "3e-06",
        "stats_ci_99_a": "1e-06",
        "stats_ci_99_b": "9e-06",
        "stats_q_25": "2.5e-06",
        "stats_q_75": "3.5e-06",
        "stats_number": 10,
        "stats_repeat": 3,
    }


def test_the_last_parameter_varies_fastest() -> None:
    cells = [[None] * 6, [["a", "b"], ["x", "y", "z"]]]
    (benchmark,) = read_benchmarks(changed(ASV, BENCH, cells), "f")
    assert [" ".join(benchmark.arguments(at)) for at in range(6)] == ["a x", "a y", "a z", "b x", "b y", "b z"]


def test_a_benchmark_without_parameters_has_one_result() -> None:
    cells = [[3e-06], [], "f00d", None, None, None, None, None, None, [10], None, [[3e-06, 3e-06]]]
    (row,) = read(changed(ASV, BENCH, cells))
    assert (row.started_at, row.records["wall_ns"]) == ("", [30_000, 30_000])
    assert not any(name.startswith("arguments/") for name in row.settings)


def test_a_version_is_part_of_what_was_measured() -> None:
    assert read(changed(ASV, f"{BENCH}/2", "beef"))[0].settings["benchmark_version"] == "beef"
    assert read(changed(ASV, f"{BENCH}/2", None))[0].settings["benchmark_version"] == ""


def test_a_commit_may_be_unnamed() -> None:
    assert read(changed(ASV, "commit_hash", None))[0].commit is None


# What is left out.
# ruff: noqa: N802 - the names of cases have capitals


def test_results_that_failed_or_were_skipped_are_left_out_aloud() -> None:
    for nothing in (None, NAN):
        document = changed(changed(ASV, f"{RESULT}/0", nothing), f"{SAMPLES}/0", None)
        (row,) = read(document)
        assert (row.number, row.settings["arguments/0"]) == (1, "16")
        assert row.notes[:1] == ("F_RESULT_SKIPPED: of 2 results 1 failed or were skipped: they are left out",)


def test_C03_a_result_that_is_nan_is_missing_and_said() -> None:
    without = changed(changed(ASV, f"{RESULT}/0", NAN), f"{SAMPLES}/0", None)
    (row,) = read(without)
    assert row.number == 1  # the value of the first is missing, and never 0
    assert [note for note in row.notes if "NONFINITE" in note] == ["F_NONFINITE: 1 result is NaN: no value"]
    # What another program makes of NaN, and what asv writes where a benchmark failed.
    (nothing,) = read(changed(without, f"{RESULT}/0", None))
    assert (nothing.number, nothing.records) == (1, row.records)
    assert [note.partition(":")[0] for note in nothing.notes] == ["F_RESULT_SKIPPED"]


def test_C38_a_file_of_nulls_is_refused() -> None:
    nulls = changed(ASV, "results", {"a.time_x": [None, []], "b.time_y": [None, []]})
    nulls["result_columns"] = ["result", "params"]
    assert recognise(raw(nulls), "run.json").name == "asv"
    assert refusal(nulls) == ("E_EMPTY_RESULTS", "run.json/results")


def test_results_without_samples_are_left_out_aloud() -> None:
    document = changed(ASV, "results/bench.mem_list", [[728], []])
    document["results"]["bench.time_all"] = [None, [["1", "2", "3"]]]
    document["results"]["bench.time_bare"] = []
    rows = read(document)
    assert [row.number for row in rows] == [0, 1]
    assert {note for row in rows for note in row.notes} == {
        "F_RESULT_SKIPPED: of 5 results 2 failed or were skipped and 1 have no samples: they are left out"
    }


def test_a_file_without_samples_has_none_and_one_without_results_is_empty() -> None:
    assert refusal(changed(ASV, SAMPLES, ...)) == ("E_NO_SAMPLES", "run.json")
    assert refusal(changed(ASV, SAMPLES, [None, None])) == ("E_NO_SAMPLES", "run.json")
    assert refusal(changed(ASV, RESULT, None)) == ("E_EMPTY_RESULTS", "run.json/results")
    assert refusal(changed(ASV, RESULT, [None, NAN])) == ("E_EMPTY_RESULTS", "run.json/results")
    assert refusal(changed(ASV, "results", {})) == ("E_EMPTY_RESULTS", "run.json/results")


# Flags.


def test_a_bound_that_is_infinite_is_flagged_where_it_is() -> None:
    document = changed(changed(ASV, f"{LOW}/1", -INFINITY), f"{HIGH}/1", INFINITY)
    first, second = read(document)
    assert first.notes == ()
    assert second.notes == ("F_NONFINITE: a bound is NaN or Infinity: too few samples to tell it",)
    assert (second.reported["stats_ci_99_a"], second.reported["stats_ci_99_b"]) == ("-Infinity", "Infinity")


def test_one_sample_has_no_deviation() -> None:
    document = changed(changed(changed(ASV, f"{SAMPLES}/1", [4.5e-06]), f"{REPEAT}/1", 1), f"{QUARTER}/1", 4.5e-06)
    assert codes(changed(document, f"{BENCH}/8/1", 4.5e-06)) == [[], ["F_N1"]]


@pytest.mark.parametrize(
    ("path", "printed", "name"),
    [
        (f"{RESULT}/0", 3.0001e-06, "result"),
        (f"{RESULT}/0", "3e-06", "result"),
        (f"{QUARTER}/0", 2.5002e-06, "q_25"),
        (f"{BENCH}/8/0", 3.4e-06, "q_75"),
        (f"{REPEAT}/0", 4, "repeat"),
    ],
)
def test_a_printed_figure_that_the_samples_do_not_give_is_flagged(path: str, printed: object, name: str) -> None:
    first, second = read(changed(ASV, path, printed))
    assert first.notes == (f"F_REPORTED_MISMATCH: {name} {printed} is not that of the samples",)
    assert second.notes == ()


def test_quartiles_have_five_digits() -> None:
    assert codes(changed(ASV, f"{QUARTER}/0", 2.5001e-06)) == [[], []]


# Version 1.


def test_version_1_is_read_alike() -> None:
    one, two = read(VERSION_1)
    assert one.records == {"wall_ns": [30_000, 20_000, 40_000], "iterations": [10, 10, 10]}
    assert (one.number, one.started_at, one.settings["benchmark_version"]) == (0, "2027-01-15T08:00:00Z", "f00d")
    assert two.records == {"wall_ns": [80_000, 100_000], "iterations": [20, 20]}
    assert (two.number, two.started_at, two.settings["arguments/0"]) == (2, "", "16")
    assert {note for row in (one, two) for note in row.notes} == {
        "F_RESULT_SKIPPED: of 6 results 3 failed or were skipped and 1 have no samples: they are left out",
        "F_NONFINITE: 1 result is NaN: no value",
    }
    assert one.reported["stats_q_25"] == "2.5e-06"


def test_version_1_may_be_without_starts_and_versions() -> None:
    document = changed(changed(VERSION_1, "benchmark_version", ...), "started_at", ...)
    assert [row.started_at for row in read(document)] == ["", ""]
    assert refusal(changed(VERSION_1, "started_at", [])) == ("E_FIELD", "run.json/started_at")
    for member in ("started_at", "benchmark_version"):
        place = f"{member}/bench.time_one"
        assert refusal(changed(VERSION_1, place, value=True)) == ("E_FIELD", f"run.json/{place}")


def test_version_1_without_statistics_does_not_say_how_many_calls_a_sample_is() -> None:
    document = changed(VERSION_1, "results/bench.time_one/stats", ...)
    assert refusal(document) == ("E_FIELD", "run.json/results/bench.time_one/stats/0")


# Refusals.


@pytest.mark.parametrize(
    ("path", "value", "code", "place"),
    [
        ("version", 3, "E_FORMAT", "version"),
        ("version", ..., "E_FORMAT", "version"),
        ("version", True, "E_FORMAT", "version"),
        ("results", [], "E_FORMAT", ""),
        ("results", ..., "E_FORMAT", ""),
        ("commit_hash", ..., "E_FORMAT", ""),
        ("commit_hash", "two words", "E_FIELD", "commit_hash"),
        ("result_columns", ..., "E_FIELD", "result_columns"),
        ("result_columns/0", "outcome", "E_FIELD", "result_columns"),
        ("result_columns/0", [], "E_FIELD", "result_columns"),
        ("result_columns", ["result", "params"], "E_COLUMN_COUNT", BENCH),
        (BENCH, 3.5, "E_FIELD", BENCH),
        (RESULT, 3.5, "E_FIELD", RESULT),
        (f"{RESULT}/2", 3.5, "E_FIELD", RESULT),
        (PARAMS, "8", "E_FIELD", PARAMS),
        (f"{PARAMS}/0", "8", "E_FIELD", f"{PARAMS}/0"),
        (f"{PARAMS}/0/1", 16, "E_FIELD", f"{PARAMS}/0"),
        (f"{BENCH}/2", 7, "E_FIELD", f"{BENCH}/2"),
        (STARTED, "today", "E_FIELD", STARTED),
        (NUMBER, [10], "E_FIELD", NUMBER),
        (f"{NUMBER}/1", 0, "E_FIELD", f"{NUMBER}/1"),
        (f"{NUMBER}/1", None, "E_FIELD", f"{NUMBER}/1"),
        (f"{SAMPLES}/1", [], "E_EMPTY_RESULTS", f"{SAMPLES}/1"),
        (f"{SAMPLES}/1", 4e-06, "E_FIELD", f"{SAMPLES}/1"),
        (f"{SAMPLES}/1/0", NAN, "E_SAMPLE", f"{SAMPLES}/1/0"),
        ("requirements/numpy", [], "E_FIELD", "requirements/numpy"),
        ("params", [], "E_FIELD", "params"),
        ("host", {}, "E_FIELD", "host"),
    ],
)
def test_what_is_no_result_is_refused_with_its_place(path: str, value: object, code: str, place: str) -> None:
    assert refusal(changed(ASV, path, value)) == (code, f"run.json/{place}".rstrip("/"))


def test_facts_of_a_machine_and_lists_of_benchmarks_are_no_results() -> None:
    machine = ASV["params"] | {"version": 1}
    benchmarks = {"bench.time_sum": {"name": "bench.time_sum", "params": [], "type": "time"}, "version": 2}
    for document in (machine, benchmarks):
        assert refusal(document) == ("E_FORMAT", "run.json")
        assert not ADAPTERS["asv"].recognises(raw(document))


@pytest.mark.parametrize("beside", [{}, {"version": 2}, {"commit_hash": "abc1234"}, {"version": 9, "params": {}}])
@pytest.mark.parametrize("nothing", [None, [None], [None, NAN], []])
def test_C38_results_that_are_all_null_are_none_whatever_else_is_missing(
    beside: dict[str, Any], nothing: object
) -> None:
    rows = {"a.time_x": [nothing, []], "b.time_y": [None, []], "c.time_z": []}
    document = {"result_columns": ["result", "params"], "results": rows} | beside
    assert recognise(raw(document), "run.json").name == "asv"
    assert refusal(document) == ("E_EMPTY_RESULTS", "run.json/results")


def test_C38_one_result_makes_a_file_without_a_commit_another_format() -> None:
    document = {"result_columns": ["result", "params"], "results": {"a": [None, []], "b": [[1.5], []]}}
    assert refusal(document)[0] == "E_FORMAT"
