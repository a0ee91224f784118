"""vLLM's ``bench throughput``: the wall of a set of requests, and a rate of generation only where the file has one."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS, recognise
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values
from tests.support.vllm import as_json, hostile, latency, survives, throughput, totals

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

ADAPTER = ADAPTERS["vllm-throughput"]
ALWAYS = {"F_TOTALS_ONLY", "F_WORKLOAD_GIVEN"}


def read(**members: Any) -> Row:  # noqa: ANN401 - values of any kind, also wrong ones
    (row,) = ADAPTER.read(as_json(throughput(**members)), "run.json")
    return row


def flags(row: Row) -> set[str]:
    return {note.partition(":")[0] for note in row.notes} - ALWAYS


def test_without_a_count_of_output_there_is_a_wall_and_no_rate() -> None:
    row = read()
    assert (row.metrics, row.records) == (("wall",), {"wall_ns": [12_500_000_000]})
    assert (row.context, row.workload, row.mean_context) == (None, None, False)
    assert (row.started_at, row.commit, row.environment, row.weights) == ("", None, {}, {})
    assert (row.wall_ns, row.harness) == (12_500_000_000, {"name": "vllm bench throughput"})
    assert row.settings == {"num_requests": "100"}
    assert row.reported == {
        "elapsed_time": "12.5",
        "total_num_tokens": 60_000,
        "requests_per_second": "8.0",
        "tokens_per_second": "4800.0",
    }
    assert [note.partition(":")[0] for note in row.notes] == ["F_TOTALS_ONLY", "F_WORKLOAD_GIVEN"]


@pytest.mark.parametrize(
    ("members", "prompt", "output"),
    [
        ({"total_prompt_tokens": 50_050, "total_output_tokens": 9950}, 50_050, 9950),
        ({"total_input_tokens": 50_150}, 50_150, 9850),
        ({"total_output_tokens": 10_000}, 50_000, 10_000),
        ({"total_output_tokens": 10_000, "total_prompt_tokens": None}, 50_000, 10_000),
    ],
)
def test_where_the_file_counts_output_the_rate_is_that_alone(members: dict[str, Any], prompt: int, output: int) -> None:
    row = read(**members)
    assert row.metrics == ("wall", "output_tok_s")
    assert row.records == {
        "wall_ns": [12_500_000_000],
        "prompt_tokens": [prompt],
        "completion_tokens": [output],
    }
    assert (row.context, row.mean_context) == (round(Fraction(prompt, 100)), True)
    assert list(record_values(METRICS["output_tok_s"], row.records)) == [Fraction(output * 10, 125)]
    assert flags(row) == set()


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"tokens_per_second": 4800.1}, "tokens_per_second is printed as 4800.1; what the file holds gives 4800"),
        ({"requests_per_second": None}, ""),
        ({"requests_per_second": "8"}, "requests_per_second is printed as 8; what the file holds gives 8"),
        ({"requests_per_second": 8.06}, "requests_per_second is printed as 8.06; what the file holds gives 8"),
        (
            {"total_tokens_per_second": 800.0},
            "total_tokens_per_second is printed as 800.0; what the file holds gives 4800",
        ),
        (
            {"output_tokens_per_second": 4800.0, "total_output_tokens": 10_000},
            (
                "output_tokens_per_second is printed as 4800.0; what the file holds gives 800; "
                "it matches (in+out)/duration"
            ),
        ),
        ({"output_tokens_per_second": 800.0, "total_output_tokens": 10_000}, ""),
        ({"output_tokens_per_second": 800.0}, ""),
        ({"tokens_per_second": 4800.000001, "requests_per_second": 8}, ""),
    ],
)
def test_printed_rates_are_compared(members: dict[str, Any], found: str) -> None:
    row = read(**members)
    assert flags(row) == ({"F_REPORTED_MISMATCH"} if found else set())
    assert [note for note in row.notes if "MISMATCH" in note] == ([f"F_REPORTED_MISMATCH: {found}"] if found else [])


def test_other_members_are_settings_or_figures() -> None:
    row = read(model="org/tiny", tensor_parallel_size=2, eager=False, p99_latency=1.5, run_number=0)
    assert row.settings == {
        "num_requests": "100",
        "model": "org/tiny",
        "tensor_parallel_size": "2",
        "eager": "false",
    }
    assert (row.reported["p99_latency"], row.reported["run_number"]) == ("1.5", 0)


@pytest.mark.parametrize(
    ("members", "code", "where"),
    [
        ({"elapsed_time": 0.0}, "E_ZERO_TIME", "/elapsed_time"),
        ({"elapsed_time": -1}, "E_SAMPLE", "/elapsed_time"),
        ({"elapsed_time": "12"}, "E_SAMPLE", "/elapsed_time"),
        ({"num_requests": 0}, "E_EMPTY_RESULTS", ""),
        ({"num_requests": 1.5}, "E_FIELD", "/num_requests"),
        ({"total_num_tokens": 0}, "E_EMPTY_RESULTS", "/total_num_tokens"),
        ({"total_num_tokens": None}, "E_FIELD", "/total_num_tokens"),
        ({"total_output_tokens": 0}, "E_EMPTY_RESULTS", ""),
        ({"total_prompt_tokens": 60_000}, "E_EMPTY_RESULTS", ""),
        ({"total_output_tokens": -1}, "E_FIELD", "/total_output_tokens"),
        ({"total_output_tokens": 60_001}, "E_REQUEST_COUNT", "/total_num_tokens"),
        ({"total_prompt_tokens": 60_001}, "E_REQUEST_COUNT", "/total_num_tokens"),
        ({"total_prompt_tokens": 5, "total_output_tokens": 6}, "E_REQUEST_COUNT", "/total_num_tokens"),
        ({"engine": {}}, "E_FIELD", "/engine"),
        ({"requests_per_second": {}}, "E_FIELD", "/requests_per_second"),
        ({"tokens_per_second": ...}, "E_FORMAT", ""),
        ({"model": "\u0085"}, "E_DOMAIN", "/model"),
    ],
)
def test_what_cannot_be_sealed_is_refused_with_its_place(members: dict[str, Any], code: str, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read(**members)
    assert (caught.value.code, caught.value.where) == (code, f"run.json{where}")


@pytest.mark.parametrize(
    ("raw", "code"), [(b"[1]", "E_FORMAT"), (b"{", "E_JSON"), (b"NaN", "E_NONFINITE"), (b"[" * 99_999, "E_DEPTH")]
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        ADAPTER.read(raw, "run.json")
    assert caught.value.code == code


def test_it_is_recognised_by_its_members_and_other_results_are_not() -> None:
    assert recognise(as_json(throughput()), "x") is ADAPTER
    for raw in (as_json(totals()), as_json(latency()), as_json([throughput()]), b"", b"{}"):
        assert not ADAPTER.recognises(raw)


@pytest.mark.parametrize("members", [{}, {"total_prompt_tokens": 50_000, "total_output_tokens": 10_000, "model": "m"}])
def test_whatever_stands_in_a_file_it_gives_rows_that_can_be_sealed_or_a_refusal(members: dict[str, Any]) -> None:
    for metric in ("wall", "output_tok_s"):
        assert survives(ADAPTER, as_json(throughput(**members)), metric) == (metric == "wall" or bool(members))
    for raw in hostile(throughput(**members)):
        survives(ADAPTER, raw, "wall")
