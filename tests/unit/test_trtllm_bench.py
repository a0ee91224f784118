"""trtllm-bench's report: totals, rates that no request had, means that must come out whole."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError, MalformedError
from ledger.ingest import ADAPTERS, recognise
from tests.support.serving import codes, dump, edited, facts, trtllm_report

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

TOTALS = ["F_TOTALS_ONLY"]


def read(report: Any) -> Row:  # noqa: ANN401 - also what is no report
    (row,) = ADAPTERS["trtllm-bench"].read(dump(report), "run")
    return row


def read_edited(**edits: object) -> Row:
    """The row of a report with other values; ``__`` stands for the step into an object."""
    report = trtllm_report()
    for path, value in edits.items():
        report = edited(report, path.replace("__", "/"), value)
    return read(report)


def test_a_report_is_one_sample_of_its_totals() -> None:
    row = read(trtllm_report())
    assert row.records == {"completion_tokens": [404], "prompt_tokens": [256], "wall_ns": [10_000_000_000]}
    assert (row.metrics, row.context, row.mean_context) == (("output_tok_s",), 64, False)
    assert row.workload == {"prompt_tokens": 64, "gen_tokens": 101, "dataset": "four.json"}
    assert (row.started_at, row.commit) == ("", None)
    assert codes(row) == TOTALS
    (fact,) = facts(dump(trtllm_report()), "output_tok_s", 64, environment={})
    assert fact.median == Fraction("40.4")


def test_what_the_report_says_of_node_weights_and_tool() -> None:
    row = read(trtllm_report())
    assert row.environment == {
        "gpu": "GPU 9000",
        "gpus": 2,
        "clocks": "clocks.sm 2.1, clocks.mem 14.0",
        "extra": {"memory.total": "31.5"},
    }
    assert row.weights == {"name": "maker/model", "type": "W4"}
    assert row.harness == {"name": "trtllm-bench", "version": "9.9"}


def test_settings_are_all_but_what_was_measured() -> None:
    row = read_edited(decoding_stats={"mode": "eagle", "rates": {"p50": 0.5}}, kind="x", dataset__max_isl=None)
    assert row.settings == {
        "request_info.num_requests": "4",
        "kind": "x",
        "engine.model": "maker/model",
        "engine.engine_dir": "None",
        "engine.revision": "",
        "engine.version": "9.9",
        "engine.backend": "Pytorch",
        "engine.dtype": "bfloat16",
        "engine.quantization": "W4",
        "world_info.tp_size": "2",
        "world_info.ep_size": "",
        "world_info.world_size": "2",
        "world_info.max_batch_size": "1",
        "dataset.num_requests": "4",
        "dataset.dataset_path": "/data/sets/four.json",
        "dataset.max_isl": "",
        "decoding_stats.mode": "eagle",
    }
    assert row.reported["decoding_stats.rates.p50"] == "0.5"
    assert row.reported["world_info.issue_rate"] == "1.5e+18"
    assert row.reported["streaming_metrics.ttft_percentiles.p50"] == "500.0"
    assert row.reported["energy.total_energy_j"] == "1000.5"
    assert row.reported["request_info.num_requests"] == 4


def test_how_fast_requests_were_issued_is_no_setting() -> None:
    first, second = (read_edited(world_info__issue_rate=rate) for rate in (0.0, 1e18))
    assert first.settings == second.settings
    assert "world_info.issue_rate" not in read_edited(world_info__issue_rate=...).reported


def test_an_engine_that_was_built_before_is_not_the_tool() -> None:
    assert read_edited(engine__backend="TRT").harness == {"name": "trtllm-bench"}
    assert read_edited(engine__version=None).harness == {"name": "trtllm-bench"}


def test_weights_without_quantization_are_of_their_type() -> None:
    assert read_edited(engine__quantization=None).weights == {"name": "maker/model", "type": "bfloat16"}
    assert read_edited(engine={}).weights == {}


@pytest.mark.parametrize("machine", [None, {}, ...])
def test_a_report_without_a_machine_leaves_it_to_the_caller(machine: object) -> None:
    assert read_edited(machine=machine, world_info__world_size=...).environment == {}


# Means


def test_a_mean_that_went_through_a_double_comes_out_whole() -> None:
    row = read_edited(
        request_info__num_requests=3,
        request_info__avg_output_length=133.33333333333334,
        dataset={},
        performance__system_output_throughput_tok_s=40.0,
    )
    assert row.records["completion_tokens"] == [400]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("avg_output_length", 101.1),
        ("avg_output_length", 0),
        ("avg_output_length", 3e15),
        ("avg_input_length", 64.0001),
        ("avg_input_length", True),
        ("num_requests", 0),
        ("num_requests", 1.5),
        ("num_requests", -1),
        ("num_requests", "4"),
    ],
)
def test_a_mean_of_parts_of_tokens_is_refused(path: str, value: object) -> None:
    with pytest.raises(MalformedError) as caught:
        read_edited(**{f"request_info__{path}": value})
    assert (caught.value.code, caught.value.where) == ("E_FIELD", f"run/request_info/{path}")


@pytest.mark.parametrize("part", ["minimum", "maximum"])
def test_requests_of_several_lengths_have_a_mean_context(part: str) -> None:
    row = read_edited(**{f"dataset__isl_stats__{part}": 63.0 if part == "minimum" else 65.0})
    assert (row.mean_context, row.workload) == (True, {"gen_tokens": 101, "dataset": "four.json"})


def test_a_report_without_a_data_set_says_nothing_of_what_was_asked_for() -> None:
    row = read_edited(dataset=None)
    assert (row.workload, row.mean_context, row.context) == ({}, True, 64)


# Flags


def test_one_request_is_one_sample() -> None:
    row = read_edited(
        request_info__num_requests=1,
        performance__total_latency_ms=2500.0,
        performance__system_total_throughput_tok_s=66.0,
    )
    assert codes(row) == ["F_TOTALS_ONLY", "F_N1"]


@pytest.mark.parametrize(("rate", "flagged"), [(4040.0, False), (4040.1, True)])
def test_a_rate_that_no_request_can_have_had_is_reported_and_not_used(rate: float, flagged: bool) -> None:
    row = read_edited(streaming_metrics__gen_tps_percentiles__maximum=rate)
    assert codes(row) == TOTALS + ["F_RATE_IMPOSSIBLE"] * flagged
    assert row.reported["streaming_metrics.gen_tps_percentiles.maximum"] == str(rate)
    assert row.metrics == ("output_tok_s",)


def test_without_the_shortest_request_no_rate_is_known_to_be_impossible() -> None:
    row = read_edited(
        performance__request_latency_percentiles_ms=..., streaming_metrics__gen_tps_percentiles__maximum=1e9
    )
    assert codes(row) == TOTALS


@pytest.mark.parametrize(("highest", "flagged"), [(5000.0, False), (5000.1, True)])
def test_a_cold_first_token_is_a_flag(highest: float, flagged: bool) -> None:
    row = read_edited(streaming_metrics__ttft_percentiles__maximum=highest)
    assert codes(row) == TOTALS + ["F_COLD_FIRST"] * flagged


def test_a_run_without_a_stream_has_nothing_of_it() -> None:
    assert codes(read_edited(streaming_metrics=...)) == TOTALS


@pytest.mark.parametrize(
    ("path", "right", "wrong"),
    [
        ("performance.request_throughput_req_s", 0.4, 0.41),
        ("performance.system_output_throughput_tok_s", 40.400000000000006, 66.0),
        ("performance.system_total_throughput_tok_s", 66, 67),
        ("performance.output_throughput_per_gpu_tok_s", 20.2, 40.4),  # of one, and there are two
        ("request_info.avg_num_concurrent_requests", 1.0, 1.1),
        ("streaming_metrics.avg_tpot_ms", 20.0, 20.1),
        ("streaming_metrics.token_output_speed_tok_s", 50.0, 49.0),  # a mean of rates is never lower
        ("streaming_metrics.token_output_speed_tok_s", 51.0, 49.9),
    ],
)
def test_what_was_printed_is_compared(path: str, right: float, wrong: float) -> None:
    name = path.replace(".", "__")
    assert codes(read_edited(**{name: right})) == TOTALS
    assert read_edited(**{name: wrong}).notes[1:] == (
        f"F_REPORTED_MISMATCH: {path} {wrong} is not that of the samples",
    )


@pytest.mark.parametrize(
    "edits",
    [
        {"dataset__osl_stats__maximum": 102.0},
        {"streaming_metrics__avg_ttft_ms": None},
        {"performance__avg_request_latency_ms": None},
    ],
)
def test_means_of_unequal_requests_need_not_add_up(edits: dict[str, object]) -> None:
    assert codes(read_edited(**edits, streaming_metrics__avg_tpot_ms=99.0)) == TOTALS


def test_a_mean_of_rates_is_another_formula_and_no_other_figure() -> None:
    assert codes(read_edited(streaming_metrics__token_output_speed_tok_s=75.0)) == [*TOTALS, "F_FORMULA"]
    assert codes(read_edited(streaming_metrics__token_output_speed_tok_s=None)) == TOTALS
    assert codes(read_edited(streaming_metrics__token_output_speed_tok_s=True)) == [*TOTALS, "F_REPORTED_MISMATCH"]


def test_steps_of_no_time_have_no_rate() -> None:
    assert read_edited(streaming_metrics__avg_ttft_ms=2500.0).notes[1:] == (
        "F_REPORTED_MISMATCH: streaming_metrics.avg_tpot_ms 20.0 is not that of the samples",
    )


def test_no_gpus_are_no_denominator() -> None:
    row = read_edited(world_info__world_size=0, performance__output_throughput_per_gpu_tok_s=1e9)
    assert codes(row) == TOTALS


# What is refused


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("performance/total_latency_ms", ..., "E_FIELD"),
        ("performance/total_latency_ms", 0.0, "E_ZERO_TIME"),
        ("performance/total_latency_ms", -1, "E_SAMPLE"),
        ("performance/total_latency_ms", "10000", "E_SAMPLE"),
        ("performance/request_latency_percentiles_ms/minimum", 0.0, "E_ZERO_TIME"),
        ("performance/avg_request_latency_ms", [], "E_FIELD"),
        ("performance", [], "E_FIELD"),
        ("energy", {"a": {"b": [1]}}, "E_FIELD"),
        ("engine/quantization", ["W4"], "E_FIELD"),
        ("engine/model", "", "E_FIELD"),
        ("machine/name", 9000, "E_FIELD"),
        ("world_info/world_size", 1.5, "E_FIELD"),
        ("dataset/isl_stats", 64, "E_FIELD"),
        ("dataset/isl_stats/maximum", None, "E_FIELD"),
        ("dataset/dataset_path", 1, "E_FIELD"),
        ("other", {"a": 1}, "E_FIELD"),
    ],
)
def test_what_is_no_report_is_refused_with_its_place(path: str, value: object, code: str) -> None:
    report = trtllm_report()
    report.setdefault(path, None)
    with pytest.raises(MalformedError) as caught:
        read(edited(report, path, value))
    inner = {"energy": "energy/a/b"}
    assert (caught.value.code, caught.value.where) == (code, f"run/{inner.get(path, path)}")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"[]", "E_FORMAT"),
        (b"{}", "E_FIELD"),
        (dump(trtllm_report())[:-9], "E_JSON"),
        (dump(edited(trtllm_report(), "energy/total_energy_j", float("nan"))), "E_NONFINITE"),
        (dump(edited(trtllm_report(), "engine/model", "\x1b")), "E_DOMAIN"),
        (dump(edited(trtllm_report(), "engine", json.loads("[" * 70 + "]" * 70))), "E_DEPTH"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(LedgerError) as caught:
        ADAPTERS["trtllm-bench"].read(raw, "run")
    assert caught.value.code == code


def test_it_is_recognised_by_its_parts() -> None:
    assert recognise(json.dumps(trtllm_report(), indent=4).encode(), "run").name == "trtllm-bench"
