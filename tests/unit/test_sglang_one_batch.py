"""SGLang's bench_one_batch: two durations, two rates of one sequence, and what is no batch."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ledger.errors import LedgerError, MalformedError
from ledger.ingest import ADAPTERS, recognise
from tests.support.serving import codes, dump, edited, facts, one_batch

READ = ADAPTERS["sglang-one-batch"].read


def test_a_line_is_a_prefill_and_a_generation() -> None:
    (row,) = READ(dump(one_batch()), "run")
    assert row.records == {
        "prompt_tokens": [1000, 1000],
        "wall_ns": [1_000_000_000, None],
        "completion_tokens": [None, 101],
        "ttft_ns": [None, 1_000_000_000],
        "e2e_ns": [None, 3_000_000_000],
    }
    assert (row.metrics, row.context, row.wall_ns) == (("prefill_tok_s", "decode_tok_s"), 1000, 3_000_000_000)
    assert row.workload == {"batch": 1, "prompt_tokens": 1000, "gen_tokens": 101}
    assert (row.started_at, row.commit, row.environment, row.weights) == ("", None, {}, {})
    assert codes(row) == ["F_N1"]
    decode, prefill = facts(dump(one_batch()), "decode_tok_s", 1000)
    assert (decode.metric.name, decode.median) == ("decode_tok_s", Fraction(50))
    assert (prefill.metric.name, prefill.median) == ("prefill_tok_s", Fraction(1000))
    assert [len(fact.reps[0].ratios) for fact in (decode, prefill)] == [1, 1]


def test_seconds_that_went_through_a_double_are_the_nanoseconds_that_they_were() -> None:
    (row,) = READ(dump(one_batch(prefill_latency=0.041241088999999995)), "run")
    assert row.records["ttft_ns"] == [None, 41_241_089]


def test_a_rate_of_a_batch_is_that_of_one_sequence() -> None:
    line = one_batch(batch_size=4, prefill_throughput=4000.0, median_decode_throughput=200.0, overall_throughput=1468.0)
    (row,) = READ(dump(line), "run")
    assert (row.workload, codes(row)) == ({"batch": 4, "prompt_tokens": 1000, "gen_tokens": 101}, ["F_N1"])
    assert [fact.median for fact in facts(dump(line), "decode_tok_s", 1000)] == [50, 1000]


def test_one_token_is_a_prefill_and_no_step() -> None:
    line = edited(one_batch(output_len=1, total_latency=1.0, overall_throughput=1001.0), "median_decode_latency", ...)
    (row,) = READ(dump(line), "run")
    assert (row.metrics, row.records) == (
        ("prefill_tok_s",),
        {"prompt_tokens": [1000], "wall_ns": [1_000_000_000]},
    )
    assert [fact.median for fact in facts(dump(line), "prefill_tok_s", 1000)] == [1000]


def test_what_was_measured_is_reported_and_everything_else_is_a_setting() -> None:
    (row,) = READ(dump(one_batch(device="cuda", cuda_graph=True, seed=None)), "run")
    assert row.settings == {"run_name": "default", "device": "cuda", "cuda_graph": "true", "seed": ""}
    assert row.reported == {
        "prefill_latency": "1.0",
        "prefill_throughput": "1000.0",
        "median_decode_latency": "0.02",
        "median_decode_throughput": "50.0",
        "total_latency": "3.0",
        "overall_throughput": "367.0",
    }


def test_lines_are_repetitions_or_contexts_or_are_selected() -> None:
    again = dump(one_batch(), one_batch(total_latency=3.0001))
    assert [len(fact.reps) for fact in facts(again, "decode_tok_s", 1000)] == [2, 2]
    longer = one_batch(input_len=2000, prefill_throughput=2000.0, overall_throughput=2101 / 3)
    assert len(facts(dump(one_batch(), longer), "decode_tok_s", 2000)) == 4
    batches = dump(one_batch(), one_batch(batch_size=2))
    with pytest.raises(LedgerError) as caught:
        facts(batches, "decode_tok_s", 1000)
    assert caught.value.code == "E_MIXED"
    assert len(facts(batches, "decode_tok_s", 1000, rows=[1])) == 2


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("prefill_throughput", 1000.0000000000001, 1000.1),
        ("median_decode_throughput", 50, 51),
        ("overall_throughput", 367.0, 33.666666),  # prompts not counted
    ],
)
def test_what_was_printed_is_compared(name: str, right: float, wrong: float) -> None:
    (row,) = READ(dump(one_batch(**{name: right})), "run")
    assert codes(row) == ["F_N1"]
    (row,) = READ(dump(one_batch(**{name: wrong})), "run")
    assert row.notes[1:] == (f"F_REPORTED_MISMATCH: {name} {wrong} is not that of the samples",)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("batch_size", 0, "E_FIELD"),
        ("batch_size", True, "E_FIELD"),
        ("input_len", ..., "E_FIELD"),
        ("input_len", 1.5, "E_FIELD"),
        ("output_len", 0, "E_FIELD"),
        ("output_len", "101", "E_FIELD"),
        ("prefill_latency", None, "E_FIELD"),
        ("prefill_latency", 0, "E_ZERO_TIME"),
        ("prefill_latency", -1.5, "E_SAMPLE"),
        ("median_decode_latency", 0.0, "E_ZERO_TIME"),
        ("median_decode_latency", [1], "E_FIELD"),
        ("total_latency", "3", "E_SAMPLE"),
        ("total_latency", 1.0, "E_TTFT_AFTER_END"),
        ("total_latency", 0.9, "E_TTFT_AFTER_END"),
        ("overall_throughput", {}, "E_FIELD"),
        ("devices", ["a"], "E_FIELD"),
    ],
)
def test_what_is_no_batch_is_refused_with_its_place(path: str, value: object, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(dump(one_batch(), edited(one_batch(**{path: None}), path, value)), "run")
    assert (caught.value.code, caught.value.where) == (code, f"run/1/{path}")


def test_one_token_cannot_end_before_its_prefill() -> None:
    with pytest.raises(MalformedError) as caught:
        READ(dump(one_batch(output_len=1, total_latency=0.5)), "run")
    assert caught.value.code == "E_TTFT_AFTER_END"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\n", "E_EMPTY_RESULTS"),
        (b"[]\n", "E_FORMAT"),
        (dump({"batch_size": 1}), "E_FORMAT"),
        (dump(one_batch())[:-5], "E_JSON"),
        (dump(one_batch(prefill_latency=float("nan"))), "E_NONFINITE"),
        (dump(one_batch(run_name="\x00")), "E_DOMAIN"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(raw, "run")
    assert caught.value.code == code


def test_it_is_recognised_by_its_first_line() -> None:
    assert recognise(dump(one_batch()), "run").name == "sglang-one-batch"
