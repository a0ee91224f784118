"""The adapter of Google Benchmark: one unit per row, repetitions under one name, and rows that are no samples."""

# ruff: noqa: N802 - the names of faults have capitals

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values
from tests.support.timed import GOOGLE, changed, raw

MEAN, MEDIAN, STDDEV = (f"benchmarks/{at}" for at in (3, 4, 5))


def read(document: object) -> Any:  # noqa: ANN401 - the rows
    return ADAPTERS["google-benchmark"].read(raw(document), "run.json")


def refusal(document: object) -> tuple[str, str]:
    with pytest.raises(MalformedError) as caught:
        read(document)
    return caught.value.code, caught.value.where


def codes(document: object) -> list[list[str]]:
    return [[note.partition(":")[0] for note in row.notes] for row in read(document)]


def plain(name: str, real: float = 8.0, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members have any type
    """A row as builds before 1.5 wrote it."""
    return {"name": name, "iterations": 100, "real_time": real, "cpu_time": real, "time_unit": "ns"} | members


def of_rows(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"context": GOOGLE["context"], "benchmarks": list(rows)}


def test_the_repetitions_of_a_name_are_the_samples_of_one_row() -> None:
    (row,) = read(GOOGLE)
    assert (row.number, row.metrics, row.context, row.workload) == (0, ("ns_per_iteration",), 0, {})
    assert row.records == {"wall_ns": [3500, 2500, 4500], "iterations": [1000, 1000, 1000]}
    assert (row.wall_ns, row.started_at, row.commit) == (10_500, "2027-01-15T08:00:00Z", None)
    assert row.harness == {"name": "google-benchmark", "version": "v1.9.0"}
    assert row.notes == ("F_AGGREGATE_SKIPPED: 4 rows of the file left out: a summary of others",)


def test_tests_are_numbered_by_the_place_of_their_first_repetition() -> None:
    rows = read(of_rows(plain("a"), plain("b", 2.0), plain("a", 4.0), plain("c")))
    assert [(row.number, row.settings["name"], row.records["wall_ns"]) for row in rows] == [
        (0, "a", [800, 400]),
        (1, "b", [200]),
        (3, "c", [800]),
    ]


def test_the_node_is_its_processors_and_its_name() -> None:
    (row,) = read(changed(GOOGLE, "context/aslr_enabled", value=True))
    assert row.environment == {
        "cores": 4,
        "extra": {"host": "box", "cpu_scaling_enabled": "false", "aslr_enabled": "true"},
    }
    bare = {"date": "2027-01-15 08:00:00", "num_cpus": 2}
    (row,) = read(of_rows(plain("a")) | {"context": bare})
    assert (row.environment, row.harness) == ({"cores": 2}, {"name": "google-benchmark"})
    assert row.settings == {"name": "a"}


def test_names_threads_and_texts_are_settings() -> None:
    (row,) = read(changed(changed(GOOGLE, "context/allocator", "own"), "context/executable", "C:\\build\\bench.exe"))
    assert row.settings == {
        "library_build_type": "release",
        "executable": "bench.exe",
        "context/allocator": "own",
        "name": "BM_sum/8",
        "run_name": "BM_sum/8",
        "repetitions": "3",
        "threads": "1",
        "label": "native",
    }
    assert refusal(changed(GOOGLE, "context/allocator", {})) == ("E_FIELD", "run.json/context/allocator")


def test_what_was_printed_is_kept_and_counters_too() -> None:
    (row,) = read(changed(GOOGLE, "benchmarks/1/hits", 7))
    assert row.reported == {
        "mhz_per_cpu": 3000,
        "load_avg": ["0.5", "0.25"],
        "real_time": ["3.5", "2.5", "4.5"],
        "cpu_time": ["2.0", "2.0", "2.0"],
        "time_unit": ["ns", "ns", "ns"],
        "items_per_second": ["1000000000.0"] * 3,
        "hits": [None, 7, None],
        "real_time mean": "3.5",
        "real_time median": "3.5",
        "real_time stddev": "1.0",
    }


def test_a_text_that_differs_between_repetitions_was_measured() -> None:
    (row,) = read(changed(GOOGLE, "benchmarks/1/label", "12 % misses"))
    assert row.reported["label"] == ["native", "12 % misses", "native"]
    assert "label" not in row.settings
    assert refusal(changed(GOOGLE, "benchmarks/1/label", ["a"])) == ("E_FIELD", "run.json/benchmarks/1/label")


@pytest.mark.parametrize("name", ["threads", "repetitions", "run_name"])
def test_repetitions_of_one_name_share_what_they_measure(name: str) -> None:
    other = "other" if name == "run_name" else 2
    assert refusal(changed(GOOGLE, f"benchmarks/2/{name}", other)) == ("E_FIELD", f"run.json/benchmarks/2/{name}")
    assert refusal(changed(GOOGLE, f"benchmarks/2/{name}", ...)) == ("E_FIELD", f"run.json/benchmarks/2/{name}")


# Units.


def test_C22_the_same_time_in_two_units_is_the_same_time() -> None:
    (row,) = read(of_rows(plain("BM_x", 1500), plain("BM_x", 1.5, time_unit="us", cpu_time=1.5)))
    assert record_values(METRICS["ns_per_iteration"], row.records) == (Fraction(1500),) * 2
    assert row.notes == ()
    for unit in ("ticks", "NS", ""):
        ticks = of_rows(plain("BM_x", 1500), plain("BM_x", 1.5, time_unit=unit))
        assert refusal(ticks) == ("E_UNIT", "run.json/benchmarks/1/time_unit")


@pytest.mark.parametrize(("unit", "ns"), [("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9)])
def test_every_unit_is_taken_to_nanoseconds(unit: str, ns: int) -> None:
    (row,) = read(of_rows(plain("a", 0.25, iterations=4, time_unit=unit)))
    assert row.records == {"wall_ns": [ns], "iterations": [4]}


def test_a_unit_of_a_summary_must_be_known_too() -> None:
    assert refusal(changed(GOOGLE, f"{MEAN}/time_unit", "ticks")) == ("E_UNIT", f"run.json/{MEAN}/time_unit")


# Rows that are no samples.


@pytest.mark.parametrize(("path", "printed"), [(MEAN, 3.50001), (MEDIAN, 3.4), (STDDEV, 1.001), (MEAN, "fast")])
def test_a_printed_summary_that_the_repetitions_do_not_give_is_flagged(path: str, printed: object) -> None:
    document = changed(GOOGLE, f"{path}/real_time", printed)
    kind = document["benchmarks"][int(path[-1])]["aggregate_name"]
    (row,) = read(document)
    assert row.notes[1:] == (f"F_REPORTED_MISMATCH: {kind} of real_time {printed} is not that of the samples",)


def test_a_summary_has_a_unit_of_its_own() -> None:
    document = GOOGLE
    for path, printed in ((MEAN, 0.0035), (MEDIAN, 0.0035), (STDDEV, 0.001)):
        document = changed(changed(document, f"{path}/real_time", printed), f"{path}/time_unit", "us")
    assert codes(document) == [["F_AGGREGATE_SKIPPED"]]


def test_what_cannot_be_worked_out_from_repetitions_is_not_compared() -> None:
    document = changed(changed(GOOGLE, "benchmarks/6/real_time", 99.5), f"{MEAN}/time_unit", ...)
    assert codes(changed(document, f"{MEAN}/real_time", 99.5)) == [["F_AGGREGATE_SKIPPED"]]


def test_old_builds_do_not_mark_summaries_and_they_are_none_the_less() -> None:
    repeated = of_rows(plain("a", 2.0), plain("a", 4.0), plain("a_mean", 3.0), plain("a_stddev", 1.5))
    (row,) = read(repeated)
    assert row.records["wall_ns"] == [200, 400]
    assert row.notes == (
        "F_AGGREGATE_SKIPPED: 2 rows of the file left out: a summary of others",
        "F_REPORTED_MISMATCH: stddev of real_time 1.5 is not that of the samples",
    )
    fitted = of_rows(
        plain("a"), {"name": "a_BigO", "cpu_coefficient": 1.5, "big_o": "N"}, {"name": "a_RMS", "rms": 0.5}
    )
    assert codes(fitted) == [["F_N1", "F_AGGREGATE_SKIPPED"]]
    alone = of_rows(plain("a_mean"), plain("a_median"), plain("a_stddev"))
    assert refusal(alone) == ("E_NO_SAMPLES", "run.json/benchmarks")


def test_a_function_may_be_called_mean() -> None:
    rows = read(of_rows(plain("a"), plain("a_mean"), plain("b_median")))
    assert [row.settings["name"] for row in rows] == ["a", "a_mean", "b_median"]


def test_a_file_of_summaries_alone_has_no_samples() -> None:
    document = GOOGLE | {"benchmarks": GOOGLE["benchmarks"][3:]}
    assert refusal(document) == ("E_NO_SAMPLES", "run.json/benchmarks")


@pytest.mark.parametrize("failed", [{"error_occurred": True, "error_message": "no"}, {"skipped": True}])
def test_what_failed_or_was_skipped_is_left_out_aloud(failed: dict[str, Any]) -> None:
    document = deepcopy(GOOGLE) | {"benchmarks": deepcopy(GOOGLE["benchmarks"][:3])}
    document["benchmarks"][0] |= failed | {"iterations": 0, "real_time": 0.0}
    (row,) = read(document)
    assert (row.number, row.records["wall_ns"]) == (1, [2500, 4500])
    assert row.notes == ("F_RESULT_SKIPPED: 1 row of the file left out: failed or skipped",)
    document["benchmarks"] = [each | failed for each in document["benchmarks"]]
    assert refusal(document) == ("E_ALL_FAILED", "run.json/benchmarks")


def test_what_did_not_fail_is_not_left_out() -> None:
    assert codes(of_rows(plain("a", error_occurred=False, skipped=False))) == [["F_N1"]]


# Flags.


def test_more_processor_time_than_there_are_processors_is_flagged() -> None:
    assert codes(of_rows(plain("a", 2.0, cpu_time=8.0))) == [["F_N1"]]
    (row,) = read(of_rows(plain("a", 2.0, cpu_time=8.0), plain("a", 2.0, cpu_time=8.25)))
    assert row.notes == ("F_CPU_TIME: more processor time than 4 processors have in 1 of 2 rows",)


def test_a_local_time_lacks_its_zone() -> None:
    document = changed(of_rows(plain("a")), "context/date", "2027-01-15 10:00:00")
    (row,) = read(document)
    assert (row.started_at, row.notes[0][:12]) == ("2027-01-15T10:00:00", "F_TZ_MISSING")


def test_a_library_for_debugging_is_flagged() -> None:
    assert codes(changed(of_rows(plain("a")), "context/library_build_type", "debug")) == [["F_DEBUG_BUILD", "F_N1"]]


def test_a_counter_may_be_no_number_and_a_time_may_not() -> None:
    (row,) = read(of_rows(plain("a", rate=float("inf")), plain("a", rate=float("nan"))))
    assert row.reported["rate"] == ["Infinity", "NaN"]
    assert row.notes == ("F_NONFINITE: a counter is NaN or Infinity; it is kept as text",)
    assert refusal(of_rows(plain("a", float("nan")))) == ("E_SAMPLE", "run.json/benchmarks/0/real_time")
    assert codes(changed(GOOGLE, "benchmarks/6/real_time", float("nan"))) == [["F_AGGREGATE_SKIPPED"]]


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("context", ..., "E_FIELD"),
        ("context", [], "E_FIELD"),
        ("context/date", ..., "E_FIELD"),
        ("context/num_cpus", ..., "E_FIELD"),
        ("context/num_cpus", 0, "E_FIELD"),
        ("context/executable", 7, "E_FIELD"),
        ("context/library_version", 7, "E_FIELD"),
        ("context/library_build_type", 7, "E_FIELD"),
        ("benchmarks", [], "E_EMPTY_RESULTS"),
        ("benchmarks/1", 7, "E_FIELD"),
        ("benchmarks/1/name", ..., "E_FIELD"),
        ("benchmarks/1/run_name", 7, "E_FIELD"),
        ("benchmarks/1/run_type", "setup", "E_FIELD"),
        ("benchmarks/1/run_type", [], "E_FIELD"),
        ("benchmarks/1/run_type", None, "E_FIELD"),
        ("benchmarks/1/real_time", ..., "E_FIELD"),
        ("benchmarks/1/cpu_time", ..., "E_FIELD"),
        ("benchmarks/1/cpu_time", "2", "E_SAMPLE"),
        ("benchmarks/1/time_unit", ..., "E_FIELD"),
        ("benchmarks/1/time_unit", 9, "E_FIELD"),
        ("benchmarks/1/iterations", ..., "E_FIELD"),
        ("benchmarks/1/iterations", 0, "E_FIELD"),
        ("benchmarks/1/iterations", 2.0, "E_FIELD"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(path: str, value: object, code: str) -> None:
    assert refusal(changed(GOOGLE, path, value)) == (code, f"run.json/{path}")
