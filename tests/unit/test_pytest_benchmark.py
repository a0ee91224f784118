"""The adapter of pytest-benchmark: rounds of code that a commit holds, in nanoseconds of its clock."""

from __future__ import annotations

from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS
from tests.support.outside import outside_json
from tests.support.timed import PYTEST, changed, raw

STATS = "benchmarks/0/stats"


def read(document: object) -> Any:  # noqa: ANN401 - the rows
    return ADAPTERS["pytest-benchmark"].read(raw(document), "run.json")


def refusal(document: object) -> tuple[str, str]:
    with pytest.raises(MalformedError) as caught:
        read(document)
    return caught.value.code, caught.value.where


def test_a_test_is_a_row() -> None:
    (row,) = read(PYTEST)
    assert (row.number, row.metrics, row.context, row.workload) == (0, ("ns_per_iteration",), 0, {})
    assert row.records == {"wall_ns": [30_000, 20_000, 40_000], "iterations": [10, 10, 10]}
    assert (row.wall_ns, row.started_at, row.commit) == (90_000, "2027-01-15T08:00:00Z", "abc1234")
    assert row.harness == {"name": "pytest-benchmark", "version": "5.1.0"}
    assert row.notes == ()


def test_the_node_is_what_does_not_change_from_run_to_run() -> None:
    (row,) = read(PYTEST)
    assert row.environment == {
        "cpu": "a cpu",
        "cores": 8,
        "os": "Linux",
        "kernel": "6.1.0",
        "runtime": "CPython 3.12.1",
        "extra": {"node": "box", "machine": "x86_64"},
    }
    (older,) = read(changed(PYTEST, "machine_info/cpu", {"brand": "an old cpu"}))
    assert (older.environment["cpu"], "cores" in older.environment) == ("an old cpu", False)
    (oldest,) = read(changed(PYTEST, "machine_info", {"system": "Linux"}))
    assert oldest.environment == {"os": "Linux"}
    assert read(changed(PYTEST, "machine_info", {}))[0].environment == {}
    assert read(changed(PYTEST, "machine_info/cpu", {"vendor": "v"}))[0].environment.keys().isdisjoint({"cpu"})


def test_name_parameters_options_and_texts_are_settings_and_numbers_are_reported() -> None:
    (row,) = read(changed(PYTEST, "suite", "nightly"))
    assert row.settings == {
        "suite": "nightly",
        "group": "",
        "name": "test_sum[8]",
        "fullname": "bench.py::test_sum[8]",
        "param": "8",
        "params/size": "8",
        "params/shape": "[2,4]",
        "options/disable_gc": "false",
        "options/timer": "perf_counter",
        "options/min_rounds": "5",
        "options/warmup": "false",
        "extra_info/backend": "native",
        "extra_info/pinned": "true",
    }
    assert row.reported["extra_info/bytes"] == 4096
    assert (row.reported["mean"], row.reported["outliers"]) == ("3e-06", "1;0")
    assert "data" not in row.reported


def test_parameters_and_additions_may_be_missing() -> None:
    (row,) = read(changed(changed(PYTEST, "benchmarks/0/params", None), "benchmarks/0/extra_info", ...))
    assert not any(name.startswith(("params/", "extra_info/")) for name in row.settings)


@pytest.mark.parametrize("commit", [None, "unknown", "unversioned"])
def test_outside_of_a_repository_there_is_no_commit(commit: str | None) -> None:
    assert read(changed(PYTEST, "commit_info/id", commit))[0].commit is None


def test_a_local_time_lacks_its_zone() -> None:
    (row,) = read(changed(PYTEST, "datetime", "2027-01-15T08:00:00.123456"))
    assert row.started_at == "2027-01-15T08:00:00"
    assert [note.partition(":")[0] for note in row.notes] == ["F_TZ_MISSING"]
    assert read(changed(PYTEST, "datetime", "2027-01-15T08:00:00Z"))[0].notes == ()


def test_one_round_has_no_deviation() -> None:
    one = {"rounds": 1, "iterations": 1, "data": [0.5], "mean": 0.5, "stddev": 0, "ops": 2.0, "total": 0.5}
    (row,) = read(changed(PYTEST, STATS, one))
    assert [note.partition(":")[0] for note in row.notes] == ["F_N1"]


@pytest.mark.parametrize("name", ["min", "max", "mean", "median", "stddev", "total", "ops"])
def test_a_printed_figure_that_the_rounds_do_not_give_is_flagged(name: str) -> None:
    (row,) = read(changed(PYTEST, f"{STATS}/{name}", 0.5))
    assert row.notes == (f"F_REPORTED_MISMATCH: {name} 0.5 is not that of the samples",)


def test_quartiles_of_any_definition_are_kept_and_not_compared() -> None:
    (row,) = read(changed(changed(PYTEST, f"{STATS}/q1", 9.5), f"{STATS}/iqr", 9.5))
    assert (row.notes, row.reported["q1"]) == ((), "9.5")


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("commit_info/dirty", True, "E_DIRTY"),
        ("commit_info/dirty", 0, "E_FIELD"),
        ("commit_info/dirty", "no", "E_FIELD"),
        ("commit_info", ..., "E_FIELD"),
        ("commit_info", "abc1234", "E_FIELD"),
        ("commit_info/id", "two words", "E_FIELD"),
        ("machine_info", [], "E_FIELD"),
        ("machine_info/cpu/count", 0, "E_FIELD"),
        ("benchmarks", [], "E_EMPTY_RESULTS"),
        ("benchmarks/0", 7, "E_FIELD"),
        ("benchmarks/0/fullname", ..., "E_FIELD"),
        ("benchmarks/0/params", [8], "E_FIELD"),
        ("benchmarks/0/extra_info", "text", "E_FIELD"),
        ("benchmarks/0/options/warmup", {}, "E_FIELD"),
        ("benchmarks/0/marks", ["slow"], "E_FIELD"),
        (STATS, ..., "E_FIELD"),
        (f"{STATS}/data", ..., "E_NO_SAMPLES"),
        (f"{STATS}/data", None, "E_NO_SAMPLES"),
        (f"{STATS}/data", 7, "E_FIELD"),
        (f"{STATS}/data/2", "... and more", "E_SAMPLE"),
        (f"{STATS}/rounds", 0, "E_FIELD"),
        (f"{STATS}/iterations", ..., "E_FIELD"),
        (f"{STATS}/iterations", 1.5, "E_FIELD"),
        ("datetime", ..., "E_FIELD"),
        ("datetime", "yesterday", "E_FIELD"),
        ("version", 5, "E_FIELD"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(path: str, value: object, code: str) -> None:
    assert refusal(changed(PYTEST, path, value)) == (code, f"run.json/{path}")


@pytest.mark.parametrize("rounds", [2, 4])
def test_rounds_that_are_not_all_there_are_no_samples(rounds: int) -> None:
    assert refusal(changed(PYTEST, f"{STATS}/rounds", rounds)) == ("E_NO_SAMPLES", f"run.json/{STATS}/data")


def test_the_one_real_test_that_has_its_data_is_read_once_its_code_is_in_a_commit() -> None:
    document = outside_json("tool-outputs", "pytest-benchmark", "gab_pytest_several_units.json")
    document["commit_info"]["dirty"] = False
    document["benchmarks"] = document["benchmarks"][-1:]
    (row,) = read(document)
    assert row.records["wall_ns"] == [2005173128, 2005128499, 2005124843, 2002743888, 2001044877]
    assert [note.partition(":")[0] for note in row.notes] == ["F_TZ_MISSING"]
