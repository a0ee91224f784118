"""vLLM's ``bench latency``: iterations in nanoseconds, what the caller must say, percentiles of two methods."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS, recognise
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values
from tests.support.outside import outside
from tests.support.vllm import as_json, hostile, latency, survives, throughput, totals

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

ADAPTER = ADAPTERS["vllm-latency"]


def read(**members: Any) -> Row:  # noqa: ANN401 - values of any kind, also wrong ones
    (row,) = ADAPTER.read(as_json(latency(**members)), "run.json")
    return row


def flags(row: Row) -> set[str]:
    return {note.partition(":")[0] for note in row.notes} - {"F_WORKLOAD_GIVEN"}


def notes(row: Row, code: str) -> list[str]:
    return [note.removeprefix(f"{code}: ") for note in row.notes if note.startswith(code)]


def test_iterations_are_samples_of_one_repetition_and_the_rest_must_be_given() -> None:
    row = read(latencies=[0.5, 0.5400000005, 0.51, 0.53, 0.52])
    assert row.records == {"wall_ns": [500_000_000, 540_000_000, 510_000_000, 530_000_000, 520_000_000]}
    assert (row.metrics, row.wall_ns, row.context, row.workload) == (("wall",), 2_600_000_000, None, None)
    assert (row.started_at, row.commit, row.environment, row.weights, row.settings) == ("", None, {}, {}, {})
    assert row.harness == {"name": "vllm bench latency"}
    assert row.reported == {"avg_latency": "0.52", "p25_latency": "0.51", "p50_latency": "0.52", "p75_latency": "0.53"}
    assert [note.partition(":")[0] for note in row.notes] == ["F_WORKLOAD_GIVEN"]
    assert list(record_values(METRICS["wall"], row.records)) == [500, 540, 510, 530, 520]


def test_nanoseconds_are_rounded_half_to_even() -> None:
    seconds = [0.5000000005, 0.5000000015, 0.50000000151]
    row = read(latencies=seconds, avg_latency=0.500000001, percentiles={})
    assert row.records["wall_ns"] == [500_000_000, 500_000_002, 500_000_002]


def test_other_members_are_settings_or_figures() -> None:
    row = read(batch_size=8, model="org/tiny", eager=None, std_latency=0.014142135623730963, run_number=2)
    assert row.settings == {"batch_size": "8", "model": "org/tiny", "eager": ""}
    assert (row.reported["std_latency"], row.reported["run_number"]) == ("0.014142135623730963", 2)
    assert flags(row) == set()


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"percentiles": {"90": 0.536}}, ["percentiles/90 lies between two samples, and is not the nearest rank"]),
        (
            {"percentiles": {"90": 0.536, "99": 0.5396, "50": 0.52}},
            ["each of percentiles/90, percentiles/99 lies between two samples, and is not the nearest rank"],
        ),
        ({"percentiles": {"90": 0.54, "99": 0.54, "0": 0.5, "100": 0.54, "20": 0.5}}, []),
        ({"percentiles": {"99.9": 0.54, "62.5": 0.53}}, []),
        ({"latencies": [0.5, 0.54], "percentiles": {"50": 0.52}}, []),
    ],
)
def test_a_percentile_that_is_no_sample_says_its_method(members: dict[str, Any], found: list[str]) -> None:
    row = read(**members)
    assert notes(row, "F_PERCENTILE_METHOD") == found
    assert notes(row, "F_REPORTED_MISMATCH") == []


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"avg_latency": 0.5201}, "avg_latency is printed as 0.5201; what the file holds gives 0.52"),
        ({"avg_latency": None}, "avg_latency is printed as None; what the file holds gives 0.52"),
        ({"std_latency": 0.0158}, "std_latency is printed as 0.0158; what the file holds gives 0.014142"),
        ({"percentiles": {"90": 0.537}}, "percentiles/90 is printed as 0.537; what the file holds gives 0.536"),
        ({"percentiles": {"50": 0.53}}, "percentiles/50 is printed as 0.53; what the file holds gives 0.52"),
        ({"percentiles": {"90": "0.54"}}, "percentiles/90 is printed as 0.54; what the file holds gives 0.536"),
    ],
)
def test_a_figure_that_no_method_gives_is_a_mismatch(members: dict[str, Any], found: str) -> None:
    row = read(**members)
    assert flags(row) == {"F_REPORTED_MISMATCH"}
    assert notes(row, "F_REPORTED_MISMATCH") == [found]


@pytest.mark.parametrize(
    "members", [{"avg_latency": 0.520000001}, {"avg_latency": 0.52000}, {"std_latency": 0.0141}, {"std_latency": ...}]
)
def test_what_is_off_by_the_rounding_of_print_and_samples_is_none(members: dict[str, Any]) -> None:
    assert flags(read(**members)) == set()


def test_one_iteration_has_no_deviation() -> None:
    row = read(latencies=[0.5], avg_latency=0.5, std_latency=0.0, percentiles={"10": 0.5, "99": 0.5})
    assert flags(row) == {"F_N1"}
    same = read(latencies=[0.5] * 3, avg_latency=0.5, std_latency=1.1e-16, percentiles={"10": 0.5})
    assert flags(same) == set()


@pytest.mark.parametrize(
    ("members", "code", "where"),
    [
        ({"latencies": []}, "E_EMPTY_RESULTS", "/latencies"),
        ({"latencies": {"0": 0.5}}, "E_FIELD", "/latencies"),
        ({"latencies": [0.5, "0.5"]}, "E_SAMPLE", "/latencies/1"),
        ({"latencies": [0.5, True]}, "E_SAMPLE", "/latencies/1"),
        ({"latencies": [0.5, -0.5]}, "E_SAMPLE", "/latencies/1"),
        ({"latencies": [0.5, 0.0]}, "E_ZERO_TIME", "/latencies/1"),
        ({"latencies": [0.5, 1e-10]}, "E_ZERO_TIME", "/latencies/1"),
        ({"latencies": [[0.5]]}, "E_SAMPLE", "/latencies/0"),
        ({"latencies": [1e300]}, "E_SAMPLE", "/latencies/0"),
        ({"latencies": [9e6, 9e6]}, "E_SAMPLE", "/latencies"),
        ({"percentiles": [0.5]}, "E_FIELD", "/percentiles"),
        ({"percentiles": {"p99": 0.5}}, "E_FIELD", "/percentiles/p99"),
        ({"percentiles": {"101": 0.5}}, "E_FIELD", "/percentiles/101"),
        ({"percentiles": {"9/0": 0.5}}, "E_FIELD", "/percentiles/9~10"),
        ({"percentiles": {"90": [0.5]}}, "E_FIELD", "/percentiles/90"),
        ({"avg_latency": {}}, "E_FIELD", "/avg_latency"),
        ({"engine": {"tp": 2}}, "E_FIELD", "/engine"),
        ({"avg_latency": ...}, "E_FORMAT", ""),
        ({"percentiles": ...}, "E_FORMAT", ""),
        ({"model": "a\u0000"}, "E_DOMAIN", "/model"),
    ],
)
def test_what_cannot_be_sealed_is_refused_with_its_place(members: dict[str, Any], code: str, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read(**members)
    assert (caught.value.code, caught.value.where) == (code, f"run.json{where}")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"[]", "E_FORMAT"),
        (b"null", "E_FORMAT"),
        (as_json(latency())[:-2], "E_JSON"),
        (as_json(latency(avg_latency=float("nan"))), "E_NONFINITE"),
        (as_json(latency()).replace(b"0.53,", b"1e-999999999,"), "E_SAMPLE"),
        (b"\xff", "E_UTF8"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        ADAPTER.read(raw, "run.json")
    assert caught.value.code == code


def test_it_is_recognised_by_its_members_and_other_results_are_not() -> None:
    assert recognise(as_json(latency()), "x") is ADAPTER
    log = outside("tool-outputs", "vllm-latency", "vllm_nvfp4_ctx4096_out128.log.head").read_bytes()
    for raw in (log, as_json(totals()), as_json(throughput()), as_json([latency()]), b"", b"\x00"):
        assert not ADAPTER.recognises(raw)


def test_a_real_file_keeps_its_percentiles_as_printed() -> None:
    raw = outside("tool-outputs", "vllm-latency", "vllm_awq_fp8_ctx512_out128.json").read_bytes()
    (row,) = ADAPTER.read(raw, "real.json")
    assert len(row.records["wall_ns"]) == 8
    assert {f"p{name}_latency" for name in (10, 25, 50, 75, 90, 99)} <= row.reported.keys()
    assert notes(row, "F_REPORTED_MISMATCH") == []
    assert Fraction(sum(row.records["wall_ns"]), 8) == pytest.approx(float(row.reported["avg_latency"]) * 1e9)


def test_whatever_stands_in_a_file_it_gives_rows_that_can_be_sealed_or_a_refusal() -> None:
    whole = latency(std_latency=0.1, model="m")
    assert survives(ADAPTER, as_json(whole), "wall")
    for raw in hostile(whole):
        survives(ADAPTER, raw, "wall")
