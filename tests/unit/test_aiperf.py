"""AIPerf's records of requests: exact nanoseconds, what is missing, what failed, what the tool printed."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.schema import validate
from ledger.scoring.facts import round_facts
from tests.support.aiperf import START, lines, request
from tests.support.outside import outside
from tests.support.tool_outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.ingest.adapter import Row

LATENCY = "run.jsonl/0/metrics/request_latency"
HOSTILE: tuple[Any, ...] = (-1, True, None, [], 1e300)
READ = ADAPTERS["aiperf"].read
TABLE = [item for item in OUTCOMES if item.format == "aiperf records"]


def read(*requests: dict[str, Any]) -> Row:
    (row,) = READ(lines(*requests), "run.jsonl")
    return row


def built(*runs: tuple[str, bytes], context: int | None) -> dict[str, Any]:
    digest = "0" * 64
    body = build_round(
        [Run(role=role, name=f"{at}.jsonl", raw=raw, rows=READ(raw, role)) for at, (role, raw) in enumerate(runs)],
        RoundOptions(
            tool="aiperf",
            slot={"project": "p", "node": "n1", "quant": "q8", "context": str(context), "metric": "decode_tok_s"},
            code={role: digest for role, _ in runs},
            weights=digest,
            harness=digest,
            environment={"gpu": "H200"},
            commits={role: "abc1234" for role, _ in runs},
        ),
    ).body
    validate("round-input", body)
    check_body("round", body)
    return body


@pytest.mark.parametrize("item", TABLE, ids=[item.path for item in TABLE])
def test_a_real_file_gives_the_facts_and_the_flags_of_the_table(item: Any) -> None:  # noqa: ANN401 - an Outcome
    raw = outside(*item.path.split("/")).read_bytes()
    (row,) = READ(raw, item.path)
    assert {note.partition(":")[0] for note in row.notes} == set(item.codes)
    facts = round_facts(built(("main", raw), context=row.context))
    found = [
        (fact.metric.name, fact.context, len(fact.reps), len(fact.reps[0].ratios), str(fact.median)) for fact in facts
    ]
    assert found == [(fact.metric, fact.context, fact.reps, fact.samples, fact.median) for fact in item.facts]


def test_nanoseconds_above_2_to_the_53_survive_exactly() -> None:
    raw = outside(*TABLE[0].path.split("/")).read_bytes()
    (row,) = READ(raw, "real")
    starts = [json.loads(line)["metadata"]["request_start_ns"] for line in raw.splitlines()]
    assert [int(text) for text in row.reported["request_start_ns"]] == starts
    assert row.records["start_ns"] == [start - starts[0] for start in starts]
    assert all(int(float(start)) != start for start in starts)


def test_a_request_becomes_a_record_in_nanoseconds() -> None:
    row = read(
        request(0), request(1, usage_prompt_tokens=50, usage_completion_tokens=101, http_req_chunks_received=101)
    )
    assert row.records == {
        "prompt_tokens": [40, 50],
        "completion_tokens": [101, 101],
        "ttft_ns": [100_500_000] * 2,
        "e2e_ns": [1_100_500_000] * 2,
        "chunks": [None, 101],
        "start_ns": [0, 2_000_000_000],
    }
    assert (row.context, row.wall_ns, row.started_at) == (45, 3_101_000_000, "2027-01-15T08:00:00Z")
    assert row.notes == ()


def test_a_time_that_went_through_a_double_is_the_nanoseconds_that_it_was() -> None:
    row = read(request(time_to_first_token=41.241088999999995))
    assert row.records["ttft_ns"] == [41_241_089]


def test_warm_up_is_kept_and_is_no_fact() -> None:
    cold = request(time_to_first_token=900.5)
    cold["metadata"]["benchmark_phase"] = "warmup"
    rows = READ(lines(cold, request(1)), "run.jsonl")
    assert [row.warmup for row in rows] == [True, False]
    (decode, first) = round_facts(built(("main", lines(cold, request(1))), context=40))
    assert (decode.median, first.median) == (Fraction(100), Fraction("100.5"))


def test_failed_and_cancelled_requests_are_kept_and_are_no_fact() -> None:
    failed, cancelled = request(1, time_to_first_token=None), request(2, request_latency=5000.5)
    failed["error"] = {"code": 503, "message": "no room"}
    cancelled["metadata"]["was_cancelled"] = True
    row = read(request(0), failed, cancelled)
    assert row.records["ok"] == [True, False, False]
    assert row.records["error"] == [None, "no room", "cancelled"]
    (decode, _) = round_facts(built(("main", lines(request(0), failed, cancelled)), context=40))
    assert [len(rep.ratios) for rep in decode.reps] == [1]


def test_an_error_may_have_the_colours_of_a_terminal() -> None:
    failed = request(1)
    failed["error"] = {"message": "\x1b[31mno room\u00a0\x1b[0m"}
    assert read(request(0), failed).records["error"][1] == "\ufffd[31mno room\ufffd\ufffd[0m"
    failed["error"] = {"message": "no room\u00a0" + "x" * 5000}
    assert read(request(0), failed).records["error"][1] == "no room\u00a0" + "x" * 4088


def test_a_time_in_another_unit_is_the_same_nanoseconds() -> None:
    line = request(0)
    line["metrics"]["request_latency"] = {"value": 1.1005, "unit": "sec"}
    assert read(line).records["e2e_ns"] == [1_100_500_000]


def test_a_request_that_stands_there_twice_is_no_second_sample() -> None:
    with pytest.raises(MalformedError) as caught:
        read(request(0), request(1), request(0))
    assert (caught.value.code, caught.value.where) == ("E_COPIED_SAMPLES", "run.jsonl/2")
    assert len(read(request(0), request(1), request(2)).records["e2e_ns"]) == 3


def test_warm_up_is_kept_whatever_became_of_it() -> None:
    cold = request(0, time_to_first_token=None, input_sequence_length=None)
    cold["metadata"]["benchmark_phase"], cold["error"] = "warmup", "timed out"
    silent = request(1, time_to_first_token=None, request_latency=None, output_sequence_length=None)
    silent["metadata"]["benchmark_phase"] = "warmup"
    raw = lines(cold, silent, request(2))
    warm, row = READ(raw, "run.jsonl")
    assert (warm.warmup, warm.notes, warm.records["ttft_ns"]) == (True, (), [None, None])
    assert warm.records["error"] == ["timed out", None]
    assert [len(fact.reps) for fact in round_facts(built(("main", raw), context=row.context))] == [1, 1]


def test_a_mean_over_prompts_of_several_lengths_is_near_to_that_of_another_run() -> None:
    raw = lines(request(0, input_sequence_length=1000), request(1, input_sequence_length=1003))
    (row,) = READ(raw, "run.jsonl")
    assert (row.context, row.mean_context) == (1002, True)
    assert built(("main", raw), context=1000)["reps"][0]["context"] == 1000
    assert not read(request(0), request(1)).mean_context


def test_two_runs_of_two_arms_make_a_round() -> None:
    runs = [(role, lines(request(at))) for at, role in enumerate(["main", "candidate"] * 2)]
    body = built(*runs, context=40)
    assert [(rep["arm"], rep["order"]) for rep in body["reps"]] == [(role, at) for at, (role, _) in enumerate(runs)]
    assert body["guards"] == [{"metric": "ttft", "context": 40}]


@pytest.mark.parametrize(
    ("metrics", "code"),
    [
        ({"usage_prompt_cache_read_tokens": 3}, "F_PREFIX_CACHE"),
        ({"http_req_chunks_received": 100}, "F_CHUNKED"),
        ({"usage_completion_tokens": 100}, "F_RETOKENIZED"),
        ({"input_sequence_length": None}, "F_CONTEXT_PARTIAL"),
        ({"inter_token_latency": 10.1}, "F_REPORTED_MISMATCH"),
        ({"output_token_throughput_per_user": 99.99}, "F_REPORTED_MISMATCH"),
        ({"e2e_output_token_throughput": "fast"}, "F_REPORTED_MISMATCH"),
    ],
)
def test_what_deserves_a_look_is_a_flag(metrics: dict[str, Any], code: str) -> None:
    row = read(request(0), request(1, **metrics))
    assert [note.partition(":")[0] for note in row.notes] == [code]


def test_one_request_has_no_deviation_and_a_cold_one_is_seen() -> None:
    assert read(request(0)).notes == ("F_N1: one request, of which no deviation is known",)
    firsts = [request(at, time_to_first_token=10.0) for at in range(3)]
    assert read(*firsts, request(3, time_to_first_token=100.0)).notes == ()
    assert [note.partition(":")[0] for note in read(*firsts, request(3, time_to_first_token=100.1)).notes] == [
        "F_COLD_FIRST"
    ]


@pytest.mark.parametrize(
    "metrics",
    [
        {"usage_prompt_cache_read_tokens": 0},
        {"http_req_chunks_received": 101},
        {"usage_completion_tokens": 101},
        {"inter_token_latency": 10.0, "output_token_throughput_per_user": 100},
        {"e2e_output_token_throughput": 91.77646524307133},
        {"output_sequence_length": 1, "inter_token_latency": 7.5},
    ],
)
def test_what_nearly_deserves_one_is_none(metrics: dict[str, Any]) -> None:
    assert read(request(0), request(1, **metrics)).notes == ()


def without(member: str) -> Callable[[dict[str, Any]], object]:
    return lambda line: line.pop(member)


def put(part: str, name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda line: line[part].update({name: value})


@pytest.mark.parametrize(
    ("edit", "code", "where"),
    [
        (without("metadata"), "E_FORMAT", "run.jsonl/0"),
        (without("metrics"), "E_FORMAT", "run.jsonl/0"),
        (put("metadata", "benchmark_phase", "cooldown"), "E_FIELD", "run.jsonl/0/metadata/benchmark_phase"),
        (put("metadata", "request_start_ns", str(START)), "E_FIELD", "run.jsonl/0/metadata/request_start_ns"),
        (put("metadata", "request_start_ns", 1.5), "E_FIELD", "run.jsonl/0/metadata/request_start_ns"),
        (put("metadata", "request_end_ns", 2**63), "E_FIELD", "run.jsonl/0/metadata/request_end_ns"),
        (put("metadata", "request_end_ns", START), "E_ZERO_TIME", "run.jsonl/0/metadata"),
        (put("metadata", "was_cancelled", 1), "E_ALL_FAILED", "run.jsonl"),
        (put("metadata", "benchmark_phase", "warmup"), "E_EMPTY_RESULTS", "run.jsonl"),
        (put("metrics", "time_to_first_token", 100), "E_FIELD", "run.jsonl/0/metrics/time_to_first_token"),
        (
            put("metrics", "time_to_first_token", {"value": 1, "unit": "ticks"}),
            "E_FIELD",
            "run.jsonl/0/metrics/time_to_first_token/unit",
        ),
        *(
            (put("metrics", "request_latency", {"value": value, "unit": "ms"}), "E_SAMPLE", f"{LATENCY}/value")
            for value in HOSTILE
        ),
        (put("metrics", "request_latency", {"value": 1}), "E_FIELD", f"{LATENCY}/unit"),
        (put("metrics", "request_latency", {"value": 1, "unit": ["ms"]}), "E_FIELD", f"{LATENCY}/unit"),
        (put("metrics", "time_to_first_token", {"value": 0.0, "unit": "ms"}), "E_ZERO_TIME", "run.jsonl/0"),
        (
            put("metrics", "output_sequence_length", {"value": 1.5, "unit": "tokens"}),
            "E_FIELD",
            "run.jsonl/0/metrics/output_sequence_length/value",
        ),
        (
            put("metrics", "output_sequence_length", {"value": 10**30, "unit": "tokens"}),
            "E_FIELD",
            "run.jsonl/0/metrics/output_sequence_length/value",
        ),
        (
            put("metrics", "output_sequence_length", {"value": 5, "unit": "ms"}),
            "E_FIELD",
            "run.jsonl/0/metrics/output_sequence_length/unit",
        ),
        (lambda line: line["metrics"].pop("time_to_first_token"), "E_NO_SAMPLES", "run.jsonl/0"),
        (lambda line: line["metrics"].pop("input_sequence_length"), "E_FIELD", "run.jsonl/input_sequence_length"),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(
    edit: Callable[[dict[str, Any]], object], code: str, where: str
) -> None:
    line = request()
    edit(line)
    with pytest.raises(MalformedError) as caught:
        READ(lines(line), "run.jsonl")
    assert (caught.value.code, caught.value.where) == (code, where)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "E_EMPTY_RESULTS"),
        (b"\n\n", "E_EMPTY_RESULTS"),
        (b"[]\n", "E_FORMAT"),
        (b"null\n", "E_FORMAT"),
        (lines(request())[:-9], "E_JSON"),
        (lines(request()).replace(b"1100.5", b"NaN"), "E_NONFINITE"),
        (lines(request()).replace(b"1100.5", b"1" + b"0" * 5000), "E_DOMAIN"),
        (b"\xff\n", "E_UTF8"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "E_LFS_POINTER"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(raw, "run.jsonl")
    assert caught.value.code == code


@pytest.mark.parametrize("number", [b"1E-999999999", b"1e-99999999999999999999"])
def test_a_number_of_a_billion_digits_is_refused_and_not_calculated(number: bytes) -> None:
    raw = lines(request(request_latency=1234567.25)).replace(b"1234567.25", number)
    with pytest.raises(MalformedError) as caught:
        READ(raw, "run.jsonl")
    assert (caught.value.code, caught.value.where) == ("E_SAMPLE", f"{LATENCY}/value")
    printed = lines(request(inter_token_latency=1234567.25), request(1)).replace(b"1234567.25", number)
    (row,) = READ(printed, "run.jsonl")
    assert [note.partition(":")[0] for note in row.notes] == ["F_REPORTED_MISMATCH"]
