"""vLLM's ``bench serve`` without details: what becomes of totals, what is refused, flagged and compared."""

# ruff: noqa: N802 - tests are named after the faults that they exclude

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.ingest import ADAPTERS, recognise
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from tests.support.outside import outside
from tests.support.vllm import as_json, hostile, survives, totals

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

ADAPTER = ADAPTERS["vllm-serve"]
ALWAYS = {"F_TZ_MISSING", "F_TOTALS_ONLY"}


def read(**members: Any) -> Row:  # noqa: ANN401 - values of any kind, also wrong ones
    (row,) = ADAPTER.read(as_json(totals(**members)), "run.json")
    return row


def flags(row: Row) -> set[str]:
    return {note.partition(":")[0] for note in row.notes} - ALWAYS


def mismatches(row: Row) -> list[str]:
    return [note for note in row.notes if note.startswith("F_REPORTED_MISMATCH")]


# What becomes of the fields.


def test_a_run_is_one_record_of_its_totals() -> None:
    row = read(duration=2.5000000005)
    assert row.metrics == ("output_tok_s",)
    assert row.records == {"completion_tokens": [200], "prompt_tokens": [400], "wall_ns": [2_500_000_000]}
    assert (row.wall_ns, row.context, row.mean_context, row.workload) == (2_500_000_000, 100, True, {"concurrency": 2})
    assert (row.commit, row.environment, row.weights, row.warmup) == (None, {}, {}, False)
    assert row.harness == {"name": "vllm bench serve"}
    assert flags(row) == set()
    assert {note.partition(":")[0] for note in row.notes} == ALWAYS


def test_the_context_is_the_mean_of_the_prompts_rounded_half_to_even() -> None:
    assert [read(total_input_tokens=count, total_token_throughput=...).context for count in (402, 406)] == [100, 102]


@pytest.mark.parametrize("at_once", [None, 0, -1, True, "8", 2.5])
def test_a_concurrency_that_is_no_limit_is_a_setting_alone(at_once: object) -> None:
    assert "concurrency" not in (read(max_concurrency=at_once).workload or {})


def test_arms_under_other_loads_are_no_round() -> None:
    runs = [
        Run(role=role, name=role, raw=raw, rows=ADAPTER.read(raw, role))
        for role, raw in (("main", as_json(totals())), ("candidate", as_json(totals(max_concurrency=64))))
    ]
    given = dict.fromkeys(("main", "candidate"), "0" * 64)
    options = RoundOptions(
        tool="vllm-serve",
        slot={"project": "p", "node": "n", "quant": "q", "context": "100", "metric": "output_tok_s"},
        code=given,
        commits=given,
        weights="0" * 64,
        harness="0" * 64,
        environment={"gpu": "H200"},
        zone="+00:00",
    )
    with pytest.raises(RefusedError) as caught:
        build_round(runs, options)
    assert caught.value.code == "E_MIXED"
    assert "'concurrency': 64" in caught.value.message


def test_a_run_that_stands_in_a_file_twice_is_one_measurement() -> None:
    again = totals(date="20290228-143006")
    assert len(ADAPTER.read(as_json([totals(), again]), "run.json")) == 2
    for raw in (as_json([totals(), again, totals()]), as_json([again] * 3)):
        with pytest.raises(MalformedError) as caught:
            ADAPTER.read(raw, "run.json")
        assert caught.value.code == "E_COPIED_SAMPLES"


def test_the_run_began_its_duration_before_the_tool_took_the_time() -> None:
    rows = [read(duration=text, date="20290301-000001") for text in (0.5, 2, 3600.25)]
    assert [row.started_at for row in rows] == ["2029-03-01T00:00:00", "2029-02-28T23:59:59", "2029-02-28T23:00:00"]
    assert rows[0].reported["date"] == "20290301-000001"


def test_settings_are_everything_that_is_no_figure() -> None:
    row = read(request_rate=2.50, max_num_seqs=4, eager=True, prefix_cache=None, max_concurrency=None)
    assert row.settings == {
        "endpoint_type": "openai",
        "backend": "openai",
        "label": "",
        "model_id": "org/tiny",
        "tokenizer_id": "org/tiny",
        "num_prompts": "4",
        "request_rate": "2.5",
        "burstiness": "1.0",
        "max_concurrency": "",
        "max_num_seqs": "4",
        "eager": "true",
        "prefix_cache": "",
    }


def test_figures_are_kept_as_printed_and_fractions_as_text() -> None:
    printed = {
        "std_itl_ms": 1.50,
        "p99.9_tpot_ms": 9,
        "goodput": 1,
        "request_goodput": None,
        "rtfx": 0.0,
        "run_number": 3,
        "spec_decode_acceptance_rate": 61.5,
        "spec_decode_per_position_acceptance_rates": [0.75, 1],
        "rps_change_events": [{"rps": 1, "timestamp": "t"}],
    }
    row = read(**printed)
    assert {name: row.reported[name] for name in printed if name != "goodput"} == {
        "std_itl_ms": "1.5",
        "p99.9_tpot_ms": 9,
        "request_goodput": None,
        "rtfx": "0.0",
        "run_number": 3,
        "spec_decode_acceptance_rate": "61.5",
        "spec_decode_per_position_acceptance_rates": ["0.75", 1],
        "rps_change_events": ['{"rps": 1, "timestamp": "t"}'],
    }
    assert row.settings["goodput"] == "1"
    assert not row.settings.keys() & row.reported.keys()


@pytest.mark.parametrize(
    ("members", "workload"),
    [
        ({"dataset_name": "random", "random_input_len": 100, "random_output_len": "50"}, (100, 50, "random")),
        ({"dataset": "mine", "input_len": "101", "output_len": 0}, (101, 0, "mine")),
        ({"dataset_name": "", "input_len": "1k", "output_len": -1}, (None, None, None)),
        ({"dataset_name": 7, "input_len": "٣", "output_len": 1.5}, (None, None, None)),
    ],
)
def test_lengths_and_data_set_are_the_workload_where_they_are_said(
    members: dict[str, Any], workload: tuple[object, ...]
) -> None:
    row = read(**members)
    said = {"concurrency": 2} | dict(zip(("prompt_tokens", "gen_tokens", "dataset"), workload, strict=True))
    assert row.workload == {name: value for name, value in said.items() if value is not None}
    assert members.keys() <= row.settings.keys()


# Several runs in a file.


def test_a_list_is_a_sweep_and_lines_are_appended_runs() -> None:
    runs = [totals(), totals(duration=2.0, output_throughput=100, total_token_throughput=300, request_throughput=2)]
    sweep = as_json(runs)
    appended = b"\r\n".join(json.dumps(run).encode() for run in runs)
    for raw in (sweep, appended, b"\n" + appended + b"\n\n"):
        assert recognise(raw, "sweep.json").name == "vllm-serve"
        rows = ADAPTER.read(raw, "sweep.json")
        assert [(row.number, row.wall_ns) for row in rows] == [(0, 2_500_000_000), (1, 2_000_000_000)]
        assert rows[0].settings == rows[1].settings
    (alone,) = ADAPTER.read(json.dumps(totals()).encode(), "run.json")
    assert alone == ADAPTER.read(as_json(totals()), "run.json")[0]


@pytest.mark.parametrize(
    ("raw", "code", "where"),
    [
        (b"[]", "E_EMPTY_RESULTS", "run.json"),
        (as_json([totals(), []]), "E_FORMAT", "run.json/1"),
        (as_json([totals(), totals(num_prompts=...)]), "E_FORMAT", "run.json/1"),
        (as_json([totals(), totals(duration=0)]), "E_ZERO_TIME", "run.json/1/duration"),
        (as_json(totals(tokenizer_id=...)), "E_FORMAT", "run.json"),
        (b'"text"', "E_FORMAT", "run.json"),
        (as_json(totals())[:-3], "E_JSON", ""),
        (as_json(totals()) + as_json(totals()), "E_JSON", ""),
        (as_json(totals(mean_ttft_ms=float("nan"))), "E_NONFINITE", "/mean_ttft_ms"),
        (as_json(totals(request_rate=float("inf"))), "E_NONFINITE", "/request_rate"),
        (as_json(totals()).replace(b"2.5", b"1e999"), "E_NONFINITE", "/duration"),
        (as_json(totals()).replace(b'"date"', b'"label"'), "E_DUPLICATE_KEY", "label"),
    ],
)
def test_what_is_no_file_of_runs_is_refused(raw: bytes, code: str, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        ADAPTER.read(raw, "run.json")
    assert (caught.value.code, caught.value.where) == (code, where)
    assert "run.json" in str(caught.value)


# What is refused.


@pytest.mark.parametrize(
    ("members", "code", "where"),
    [
        ({"completed": 0, "failed": 4}, "E_ALL_FAILED", ""),
        ({"total_output_tokens": 0}, "E_ALL_FAILED", ""),
        ({"completed": True}, "E_FIELD", "/completed"),
        ({"completed": -1}, "E_FIELD", "/completed"),
        ({"completed": ...}, "E_FIELD", "/completed"),
        ({"failed": 0.5}, "E_FIELD", "/failed"),
        ({"total_output_tokens": "200"}, "E_FIELD", "/total_output_tokens"),
        ({"total_input_tokens": None}, "E_FIELD", "/total_input_tokens"),
        ({"total_input_tokens": 2**53}, "E_DOMAIN", "/total_input_tokens"),
        ({"duration": ...}, "E_FIELD", "/duration"),
        ({"duration": 0.0}, "E_ZERO_TIME", "/duration"),
        ({"duration": 4e-10}, "E_ZERO_TIME", "/duration"),
        ({"duration": -1.5}, "E_SAMPLE", "/duration"),
        ({"duration": "2.5"}, "E_SAMPLE", "/duration"),
        ({"duration": True}, "E_SAMPLE", "/duration"),
        ({"duration": 1e300}, "E_SAMPLE", "/duration"),
        ({"duration": 9007199.3}, "E_SAMPLE", "/duration"),
        ({"date": ...}, "E_FIELD", "/date"),
        ({"date": "2029-02-28T14:30:05"}, "E_FIELD", "/date"),
        ({"date": "20290229-143005"}, "E_FIELD", "/date"),
        ({"date": "20290228-240000"}, "E_FIELD", "/date"),
        ({"date": 20290228}, "E_FIELD", "/date"),
        ({"engine": {"tp": 2}}, "E_FIELD", "/engine"),
        ({"a/b": []}, "E_FIELD", "/a~1b"),
        ({"mean_ttft_ms": {}}, "E_FIELD", "/mean_ttft_ms"),
        ({"label": "a\u001bb"}, "E_DOMAIN", "/label"),
        ({"naïve": 1}, "E_DOMAIN", ""),
    ],
)
def test_what_cannot_be_sealed_is_refused_with_its_place(members: dict[str, Any], code: str, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        read(**members)
    assert (caught.value.code, caught.value.where) == (code, f"run.json{where}")


def test_a_number_of_a_billion_digits_is_refused_and_not_calculated() -> None:
    for text in (b"1e-999999999", b"0e-99999999999999999999"):
        with pytest.raises(MalformedError) as caught:
            ADAPTER.read(as_json(totals()).replace(b"2.5", text), "run.json")
        assert (caught.value.code, caught.value.where) == ("E_SAMPLE", "run.json/duration")
        (row,) = ADAPTER.read(as_json(totals()).replace(b"80.0", text), "run.json")
        assert flags(row) == {"F_REPORTED_MISMATCH"}


# What deserves a look.


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"p99_ttft_ms": 405.01}, "F_COLD_FIRST"),
        ({"max_output_tokens_per_s": 79.9}, "F_PEAK_LT_MEAN"),
        ({"random_input_len": 98}, "F_CONTEXT_DECLARED"),
        ({"input_len": "103"}, "F_CONTEXT_DECLARED"),
        ({"completed": 3, "failed": 1, "request_throughput": 1.2}, "F_REQUESTS_FAILED"),
        ({"completed": 3, "failed": ..., "request_throughput": 1.2}, "F_REQUESTS_FAILED"),
        ({"output_throughput": 80.131}, "F_REPORTED_MISMATCH"),
        ({"total_token_throughput": 239.7}, "F_REPORTED_MISMATCH"),
        ({"request_throughput": "fast"}, "F_REPORTED_MISMATCH"),
        ({"input_throughput": 161}, "F_REPORTED_MISMATCH"),
        ({"num_prompts": 5}, "F_REPORTED_MISMATCH"),
    ],
)
def test_what_deserves_a_look_is_a_flag(members: dict[str, Any], code: str) -> None:
    assert flags(read(**members)) == {code}


@pytest.mark.parametrize(
    "members",
    [
        {"p99_ttft_ms": 405.0},
        {"p99_ttft_ms": 500.0, "median_ttft_ms": 0.0},
        {"p99_ttft_ms": ...},
        {"p99_ttft_ms": "slow"},
        {"max_output_tokens_per_s": 80.0},
        {"max_output_tokens_per_s": None},
        {"random_input_len": 102},
        {"failed": ...},
        {"failed": None},
        {"output_throughput": 80.000000001},
        {"output_throughput": 80.08},  # a thousandth: the duration is rounded
        {"output_throughput": 80},
        {"output_throughput": ...},
        {"request_throughput": 2},  # 1.6 as a whole number
        {"input_throughput": 160.0},
        {"max_concurrent_requests": 9},
    ],
)
def test_what_nearly_deserves_one_is_none(members: dict[str, Any]) -> None:
    assert flags(read(**members)) == set()


def test_how_many_failed_is_said_and_the_rates_are_those_of_the_others() -> None:
    row = read(completed=3, failed=1, request_throughput=1.2)
    assert "F_REQUESTS_FAILED: 1 of 4 requests failed" in row.notes


def test_C06_a_rate_of_requests_over_the_failed_ones_refuses_a_run_of_totals() -> None:
    with pytest.raises(MalformedError) as caught:
        read(completed=3, failed=1, request_throughput=1.6)
    assert (caught.value.code, caught.value.where) == ("E_REPORTED_MISMATCH", "run.json/request_throughput")
    assert caught.value.message == (
        "request_throughput is printed as 1.6; what the file holds gives 1.2; it matches that over all requests, "
        "failed ones too"
    )


@pytest.mark.parametrize("completed", [49, 50])
def test_C06_what_nobody_is_misled_by_much_is_a_flag(completed: int) -> None:
    """One of fifty requests is just more than 2 % of the others, one of fifty-one is 2 % of them."""
    members = {"num_prompts": completed + 1, "completed": completed, "failed": 1}
    rate = (completed + 1) / 2.5
    if completed == 49:
        with pytest.raises(MalformedError, match="failed ones too"):
            read(**members, request_throughput=rate)
    else:
        assert flags(read(**members, request_throughput=rate)) == {"F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"}


# Faults that people have met.


def test_C05_a_run_whose_requests_all_failed_is_no_measurement() -> None:
    with pytest.raises(MalformedError) as caught:
        read(completed=0, failed=4, duration=0.005, output_throughput=0.0, p99_ttft_ms=0.0, median_ttft_ms=0.0)
    assert caught.value.code == "E_ALL_FAILED"


def test_C09_input_tokens_counted_as_output_are_recognised() -> None:
    row = read(
        total_input_tokens=10_000,
        total_output_tokens=1000,
        duration=10.0,
        output_throughput=1100.0,
        total_token_throughput=1100.0,
        request_throughput=0.4,
    )
    assert row.records["completion_tokens"] == [1000]
    (note,) = mismatches(row)
    assert note == (
        "F_REPORTED_MISMATCH: output_throughput is printed as 1100.0; what the file holds gives 100; "
        "it matches (in+out)/duration"
    )


def test_C12_prompts_of_another_length_than_declared_are_sealed_at_the_measured_one() -> None:
    row = read(random_input_len=1024, num_prompts=300, completed=300, total_input_tokens=152_612)
    assert row.context == 509
    assert "F_CONTEXT_DECLARED: prompts of 1024 tokens were asked for, they have 509 on average" in row.notes


def test_C44_a_peak_below_the_mean_is_accepted() -> None:
    row = read(
        duration=0.642,
        total_output_tokens=128,
        total_input_tokens=256,
        num_prompts=8,
        completed=8,
        output_throughput=199.377,
        total_token_throughput=598.13,
        request_throughput=12.461,
        max_output_tokens_per_s=128.0,
        max_concurrent_requests=8,
    )
    assert flags(row) == {"F_PEAK_LT_MEAN"}
    assert row.records["wall_ns"] == [642_000_000]


# Recognition.


def test_a_file_of_another_server_benchmark_is_not_taken_for_it() -> None:
    sglang = [path.read_bytes() for path in sorted(outside("tool-outputs", "sglang-serving").iterdir())]
    for raw in [*sglang, as_json(totals(total_output_tokens_retokenized=199)), b"", b"\x00", b"null"]:
        assert not ADAPTER.recognises(raw)


def test_whatever_stands_in_a_file_it_gives_rows_that_can_be_sealed_or_a_refusal() -> None:
    for raw in hostile(totals(random_input_len=5, rps_change_events=[{"rps": 1}])):
        survives(ADAPTER, raw, "output_tok_s")
