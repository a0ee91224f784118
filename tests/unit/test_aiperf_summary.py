"""AIPerf's summary: totals, two formulas of one thing, a local time, requests that failed."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError, MalformedError
from ledger.ingest import ADAPTERS, recognise
from tests.support.aiperf import lines, request
from tests.support.outside import outside
from tests.support.serving import aiperf_summary, codes, dump, edited, facts

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

USUAL = ["F_TOTALS_ONLY", "F_TZ_MISSING"]
GIVEN: dict[str, Any] = {"started_at": {}, "zone": "+02:00"}


def read(summary: Any) -> Row:  # noqa: ANN401 - also what is no summary
    (row,) = ADAPTERS["aiperf-summary"].read(dump(summary), "run")
    return row


def read_edited(**edits: object) -> Row:
    """The row of a summary with other values; ``__`` stands for the step into an object."""
    summary = aiperf_summary()
    for path, value in edits.items():
        summary = edited(summary, path.replace("__", "/"), value)
    return read(summary)


def wrapped(summary: dict[str, Any]) -> dict[str, Any]:
    """The older form: the same blocks in ``records``."""
    blocks = {name: value for name, value in summary.items() if isinstance(value, dict) and "unit" in value}
    return {name: value for name, value in summary.items() if name not in blocks} | {"records": blocks}


@pytest.mark.parametrize("form", [dict, wrapped])
def test_a_summary_is_one_sample_of_its_totals(form: Any) -> None:  # noqa: ANN401 - a form
    summary = form(aiperf_summary())
    row = read(summary)
    assert row.records == {"completion_tokens": [2020], "prompt_tokens": [6000], "wall_ns": [10_000_000_000]}
    assert (row.metrics, row.context, row.mean_context) == (("output_tok_s",), 300, True)
    assert row.workload == {"concurrency": 4, "seed": 7}
    assert (row.commit, row.environment) == (None, {})
    assert row.weights == {"name": "maker/model"}
    assert row.harness == {"name": "aiperf", "version": "9.9.0"}
    assert codes(row) == USUAL
    (fact,) = facts(dump(summary), "output_tok_s", 300, **GIVEN)
    assert fact.median == Fraction(202)


def test_settings_are_what_the_configuration_sets_but_for_places_and_keys() -> None:
    row = read(aiperf_summary())
    assert row.settings == {
        "models.items.0.name": "maker/model",
        "endpoint.streaming": "true",
        "endpoint.timeout": "0",
        "endpoint.type": "chat",
        "datasets.0.name": "main",
        "datasets.0.entries": "20",
        "datasets.0.ranges": "1, 2.5",
        "phases.0.name": "warmup",
        "phases.0.concurrency": "2",
        "phases.1.name": "profiling",
        "phases.1.concurrency": "4",
        "tokenizer.name": "maker/model",
    }


def test_what_is_switched_off_is_a_setting() -> None:
    """A model that does not think writes other answers at another rate; only what was set is in the file."""
    row = read_edited(input_config__endpoint={"extra": {"chat_template_kwargs": {"enable_thinking": False}}})
    assert row.settings["endpoint.extra.chat_template_kwargs.enable_thinking"] == "false"


@pytest.mark.parametrize(
    ("datasets", "said"),
    [
        ([{"name": "main", "dataset": "sharegpt", "path": "x"}], "sharegpt"),
        ([{"path": "sets/mine.jsonl"}], "mine.jsonl"),
        ([{"path": "C:\\sets\\mine.jsonl"}], "mine.jsonl"),
        ([{"path": "sets/"}], None),
        ([{"name": "main"}], None),
        ([{"dataset": "a"}, {"dataset": "b"}], None),
        ([], None),
        (None, None),
    ],
)
def test_the_data_set_is_a_part_of_the_workload(datasets: object, said: str | None) -> None:
    assert (read_edited(input_config__datasets=datasets).workload or {}).get("dataset") == said


@pytest.mark.parametrize("datasets", [[7], [{"dataset": 7}], [{"path": ["a"]}], [{"dataset": ""}]])
def test_a_data_set_that_is_none_is_refused(datasets: object) -> None:
    with pytest.raises(MalformedError) as caught:
        read_edited(input_config__datasets=datasets)
    assert caught.value.code == "E_FIELD"
    assert caught.value.where.startswith("run/input_config/datasets/0")


def test_what_was_printed_is_reported() -> None:
    row = read(aiperf_summary())
    assert row.reported["request_latency.p50"] == "1100.0"
    assert row.reported["request_latency.count"] == 20
    assert row.reported["benchmark_duration.avg"] == "10.0"
    assert "benchmark_duration.p50" not in row.reported
    assert "input_config.avg" not in row.reported


def test_the_older_configuration_names_models_and_load_elsewhere() -> None:
    config = {"endpoint": {"model_names": ["m"]}, "loadgen": {"concurrency": 16}, "output": {"artifact_directory": "a"}}
    row = read_edited(input_config=config, run_info=..., aiperf_version=...)
    assert (row.weights, row.workload, row.harness) == ({"name": "m"}, {"concurrency": 16}, {"name": "aiperf"})
    assert row.settings == {"endpoint.model_names": "m", "loadgen.concurrency": "16"}


@pytest.mark.parametrize("config", [None, {}, {"models": []}, {"models": {"items": ["a", "b"]}}, {"models": "m"}])
def test_without_one_model_the_weights_have_no_name(config: object) -> None:
    row = read_edited(input_config=config)
    assert (row.weights, row.workload) == ({}, {"seed": 7})


@pytest.mark.parametrize("unit", [("sec", 10.0), ("s", 10), ("ms", 10_000.0), ("us", 1e7), ("ns", 10**10)])
def test_a_duration_is_read_in_its_unit(unit: tuple[str, float]) -> None:
    row = read_edited(benchmark_duration={"unit": unit[0], "avg": unit[1]})
    assert (row.wall_ns, codes(row)) == (10_000_000_000, USUAL)


# When it began


@pytest.mark.parametrize(
    ("text", "started_at", "flagged"),
    [
        ("2026-11-29T22:00:00", "2026-11-29T22:00:00", True),
        ("2026-11-29T22:00:00.215046", "2026-11-29T22:00:00", True),
        ("2026-11-29T22:00:00Z", "2026-11-29T22:00:00Z", False),
        ("2026-11-29T22:00:00.5+02:00", "2026-11-29T20:00:00Z", False),
        (None, "", False),
    ],
)
def test_a_local_time_is_a_flag(text: str | None, started_at: str, flagged: bool) -> None:
    row = read_edited(start_time=text)
    assert row.started_at == started_at
    assert ("F_TZ_MISSING" in codes(row)) == flagged


@pytest.mark.parametrize("value", ["", "yesterday", "2026-13-01T00:00:00", "0001-01-01T00:00:00", 5, 1.5, "2026-11-29"])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(MalformedError) as caught:
        read_edited(start_time=value)
    assert (caught.value.code, caught.value.where) == ("E_FIELD", "run/start_time")


# Flags


def test_C21_two_honest_formulas_are_a_flag_and_neither_is_a_fact() -> None:  # noqa: N802 - number of the case
    # Requests at 100 and at 33 1/3 tokens a second: the mean of rates is 66 2/3, the rate of the mean gap 50.
    summary = edited(aiperf_summary(), "inter_token_latency/avg", 20.0)
    summary = edited(summary, "output_token_throughput_per_user/avg", 66.66666666666667)
    row = read(summary)
    assert codes(row) == [*USUAL, "F_FORMULA"]
    assert row.metrics == ("output_tok_s",)
    (fact,) = facts(dump(summary), "output_tok_s", 300, **GIVEN)
    assert fact.median == Fraction(202)


def test_C21_the_formulas_of_a_stranger_are_flagged() -> None:  # noqa: N802 - number of the case
    raw = outside("tool-outputs", "aiperf", "agent_c32.profile_export_aiperf.excerpt.json").read_bytes()
    (row,) = ADAPTERS["aiperf-summary"].read(raw, "real")
    assert "F_FORMULA" in codes(row)
    figure = row.reported["output_token_throughput_per_user.avg"]
    assert figure == "56.18890267167671"


@pytest.mark.parametrize(
    ("path", "nearly", "over", "code"),
    [
        ("output_token_throughput_per_user__avg", 102.0, 102.1, "F_FORMULA"),
        ("output_token_throughput_per_user__avg", 98.0, 97.9, "F_FORMULA"),
        ("time_to_first_token__max", 1000.0, 1000.1, "F_COLD_FIRST"),
        ("osl_mismatch_diff_pct__avg", -2.0, -2.01, "F_OUTPUT_LENGTH"),
        ("osl_mismatch_diff_pct__avg", 2, 2.01, "F_OUTPUT_LENGTH"),
        ("inter_chunk_latency__count", 2000, 1999, "F_CHUNKED"),
        ("was_cancelled", False, True, "F_CANCELLED"),
        ("error_summary", [], [{"count": 1}], "F_REQUESTS_FAILED"),
    ],
)
def test_what_deserves_a_look_is_a_flag(path: str, nearly: object, over: object, code: str) -> None:
    assert code not in codes(read_edited(**{path: nearly}))
    assert code in codes(read_edited(**{path: over}))


@pytest.mark.parametrize(("tokens", "flagged"), [(0.0, False), (0.1, True)])
def test_tokens_out_of_a_cache_are_a_flag(tokens: float, flagged: bool) -> None:
    row = read(aiperf_summary() | {"usage_prompt_cache_read_tokens": {"unit": "tokens", "avg": tokens}})
    assert ("F_PREFIX_CACHE" in codes(row)) == flagged


def test_failed_requests_are_counted_by_kind_and_as_a_metric() -> None:
    kinds = [{"error_details": {"code": 429}, "count": 2}, {"error_details": {"code": 503}, "count": 3}]
    assert "F_REQUESTS_FAILED: 5 of 25 requests failed" in read_edited(error_summary=kinds).notes
    counted = aiperf_summary() | {"error_request_count": {"unit": "requests", "avg": 6.0}, "error_summary": None}
    assert "F_REQUESTS_FAILED: 6 of 26 requests failed" in read(counted).notes


@pytest.mark.parametrize("count", [..., None, {"unit": "requests", "avg": 0.0}])
def test_a_run_in_which_all_failed_is_none(count: object) -> None:
    with pytest.raises(MalformedError) as caught:
        read_edited(error_summary=[{"count": 20}], request_count=count)
    assert (caught.value.code, caught.value.where) == ("E_ALL_FAILED", "run/error_summary")


@pytest.mark.parametrize(
    "name",
    [
        "time_to_first_token",
        "inter_token_latency",
        "inter_chunk_latency",
        "output_token_throughput_per_user",
        "osl_mismatch_diff_pct",
        "request_latency",
        "request_throughput",
    ],
)
def test_a_block_that_is_absent_is_not_compared(name: str) -> None:
    assert codes(read_edited(**{name: ...})) == USUAL


def test_a_latency_of_0_has_no_rate() -> None:
    assert codes(read_edited(inter_token_latency__avg=0.0)) == USUAL


@pytest.mark.parametrize(
    ("path", "right", "wrong"),
    [
        ("output_token_throughput.avg", 202.00000000000003, 203.0),
        ("total_token_throughput.avg", 802, 202),
        ("request_throughput.avg", 2.0, 2.1),
        ("inter_chunk_latency.sum", 20000.000000000004, 22000.0),
        ("output_token_throughput_per_user.avg", 100.1, 99.9),
    ],
)
def test_printed_figures_are_compared(path: str, right: float, wrong: float) -> None:
    name = path.replace(".", "__")
    assert codes(read_edited(**{name: right})) == USUAL
    assert read_edited(**{name: wrong}).notes[2:] == (
        f"F_REPORTED_MISMATCH: {path} {wrong} is not that of the samples",
    )


def test_gaps_are_compared_in_their_own_unit() -> None:
    block = {"unit": "us", "avg": 10000.0, "sum": 2e7, "count": 2000}
    assert codes(read_edited(inter_chunk_latency=block)) == USUAL


# What is refused


@pytest.mark.parametrize(
    ("path", "value", "code", "where"),
    [
        ("benchmark_duration", ..., "E_NO_SAMPLES", "benchmark_duration"),
        ("total_osl", {"unit": "tokens"}, "E_NO_SAMPLES", "total_osl"),
        ("total_isl", None, "E_NO_SAMPLES", "total_isl"),
        ("total_osl/avg", 0, "E_NO_SAMPLES", "total_osl/avg"),
        ("total_osl/avg", 1.5, "E_FIELD", "total_osl/avg"),
        ("total_osl/avg", "2020", "E_FIELD", "total_osl/avg"),
        ("total_osl", 2020, "E_FIELD", "total_osl"),
        ("request_count", ..., "E_EMPTY_RESULTS", "request_count"),
        ("request_count/avg", True, "E_FIELD", "request_count/avg"),
        ("benchmark_duration/avg", 0.0, "E_ZERO_TIME", "benchmark_duration/avg"),
        ("benchmark_duration/avg", -1.0, "E_SAMPLE", "benchmark_duration/avg"),
        ("benchmark_duration/unit", "min", "E_FIELD", "benchmark_duration/unit"),
        ("benchmark_duration/unit", ..., "E_FIELD", "benchmark_duration/unit"),
        ("time_to_first_token/unit", "tokens", "E_FIELD", "time_to_first_token/unit"),
        ("time_to_first_token/max", [1], "E_FIELD", "time_to_first_token/max"),
        ("error_summary", {}, "E_FIELD", "error_summary"),
        ("error_summary", [5], "E_FORMAT", "error_summary/0"),
        ("error_summary", [{"count": "2"}], "E_FIELD", "error_summary/0/count"),
        ("input_config", [], "E_FIELD", "input_config"),
        ("input_config/endpoint", "x", "E_FIELD", "input_config/endpoint"),
        ("aiperf_version", 1, "E_FIELD", "aiperf_version"),
        ("aiperf_version", "9" * 4097, "E_FIELD", "aiperf_version"),
        ("input_config/models/items/0", 5, "E_FIELD", "input_config/models/items/0"),
        ("input_config/models/items/0/name", "", "E_FIELD", "input_config/models/items/0/name"),
        ("records", [], "E_FIELD", "records"),
    ],
)
def test_what_is_no_summary_is_refused_with_its_place(path: str, value: object, code: str, where: str) -> None:
    summary = aiperf_summary() | ({"records": None} if path == "records" else {})
    if path == "input_config/endpoint":
        summary["input_config"].pop("models")
    with pytest.raises(MalformedError) as caught:
        read(edited(summary, path, value))
    assert (caught.value.code, caught.value.where) == (code, f"run/{where}")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"[]", "E_FORMAT"),
        (b"{}", "E_NO_SAMPLES"),
        (dump(aiperf_summary())[:-9], "E_JSON"),
        (dump(edited(aiperf_summary(), "total_osl/avg", float("inf"))), "E_NONFINITE"),
        (dump(edited(aiperf_summary(), "input_config/tokenizer/name", "\x1b")), "E_DOMAIN"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(LedgerError) as caught:
        ADAPTERS["aiperf-summary"].read(raw, "run")
    assert caught.value.code == code


def test_summary_and_records_of_requests_are_told_apart() -> None:
    for summary in (aiperf_summary(), wrapped(aiperf_summary())):
        assert recognise(json.dumps(summary, indent=2).encode(), "run").name == "aiperf-summary"
    assert recognise(lines(request(0), request(1)), "run").name == "aiperf"
