"""Accounting of requests and tokens: faults of data that people reported, by their number in the collection."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from fractions import Fraction

import pytest

from ledger.ingest.aiperf import Aiperf
from ledger.ingest.build import build_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from tests.support.aiperf import lines, request
from tests.support.examined import S, body_of, codes, examine, fact_of, refusal, rep, stream

EMPTY = stream((0, 0, 3), (101, 100, 1100), ok=[True, True])
SIX_OF_TEN = stream(
    *[(51, 500, 1000)] * 6, *[(0, 0, 5)] * 4, ok=[True] * 6 + [False] * 4, error=[None] * 6 + ["429"] * 4
)


def test_C04_a_success_without_a_token_is_a_failure_and_no_rate_is_of_it() -> None:
    body = body_of(rep(EMPTY, wall_ns=2 * S), printed={"request_throughput": "1.0", "median_ttft_ms": "50.0"})
    notes = examine(body)
    assert codes(notes) == ["F_EMPTY_OUTPUT", "F_REQUESTS_FAILED", "F_REPORTED_MISMATCH", "F_REPORTED_MISMATCH"]
    assert notes[0].startswith("F_EMPTY_OUTPUT: 1 of 2 requests were called successes and gave no token")
    assert notes[1].startswith("F_REQUESTS_FAILED: 1 of 2 requests failed, a share of 0.5 (")
    assert "request_throughput 1.0 is not 0.5" in notes[2]
    assert "median_ttft_ms 50.0 is not 100" in notes[3]
    assert all("called successes, those without a token too" in note for note in notes[2:])
    assert fact_of(body, "decode_tok_s").median == 100
    assert fact_of(body, "ttft").median == 100


def test_C04_a_tool_that_calls_it_a_success_is_corrected_when_its_file_becomes_a_round() -> None:
    raw = lines(request(0, output_sequence_length=0), request(1), request(2))
    rows = Aiperf().read(raw, "a.jsonl")
    built = build_round(
        [Run(role="main", name="a.jsonl", raw=raw, rows=rows)],
        RoundOptions(
            tool="aiperf",
            slot={"project": "p", "node": "n", "quant": "q", "context": "40", "metric": "ttft"},
            code={"main": "0" * 64},
            weights="0" * 64,
            harness="0" * 64,
            environment={"gpu": "one"},
            commits={"main": "c"},
            workload={"gen_tokens": 101},
        ),
    )
    records = built.body["reps"][0]["records"]
    assert records["ok"] == [False, True, True]
    assert records["error"] == ["the answer has no token", None, None]
    assert len(fact_of(built.body, "ttft").reps[0].ratios) == 2
    notes = examine(built.body, built.said)
    assert codes(notes) == ["F_EMPTY_OUTPUT", "F_REQUESTS_FAILED"]
    assert "mark them" not in notes[0]


def test_C06_refused_requests_are_in_no_mean_and_their_share_is_said() -> None:
    body = body_of(rep(SIX_OF_TEN, wall_ns=2 * S))
    (note,) = examine(body)
    assert "4 of 10 requests failed, a share of 0.4 (" in note
    assert codes([note]) == ["F_REQUESTS_FAILED"]
    assert fact_of(body, "decode_tok_s").median == 100
    assert len(fact_of(body, "ttft").reps[0].ratios) == 6
    for name, printed in (("mean_e2e_ms", "1000.0"), ("mean_ttft_ms", "500.0"), ("request_throughput", "3.0")):
        right = body_of(rep(SIX_OF_TEN, wall_ns=2 * S), printed={name: printed})
        assert codes(examine(right)) == ["F_REQUESTS_FAILED"]


@pytest.mark.parametrize(
    ("name", "printed", "right"),
    [("mean_e2e_ms", "602.0", "1000"), ("mean_ttft_ms", "300.0", "500"), ("request_throughput", "5.0", "3")],
)
def test_C06_a_printed_mean_over_refused_requests_is_refused(name: str, printed: str, right: str) -> None:
    code, where, message = refusal(body_of(rep(SIX_OF_TEN, wall_ns=2 * S), printed={name: printed}))
    assert (code, where) == ("E_REPORTED_MISMATCH", f"/reported/0/values/{name}")
    assert message.startswith(f"{name} {printed} is not {right}, which the records give")
    assert message.endswith("it matches all requests, failed ones too")


def test_C06_what_nobody_is_misled_by_much_is_said_and_sealed() -> None:
    nearly_all = stream(*[(51, 500, 1000)] * 99, (0, 0, 5), ok=[True] * 99 + [False], error=[None] * 99 + ["429"])
    notes = examine(body_of(rep(nearly_all), printed={"mean_e2e_ms": "990.05"}))
    assert codes(notes) == ["F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"]


def test_C06_a_refused_request_beside_an_empty_answer_is_told_from_it() -> None:
    mixed = stream(*[(51, 500, 1000)] * 4, (0, 0, 4), (0, 0, 6), ok=[True] * 5 + [False], error=[None] * 5 + ["429"])
    called = examine(body_of(rep(mixed), printed={"mean_e2e_ms": "800.8"}))
    assert "it matches all requests that were called successes, those without a token too" in called[-1]
    assert refusal(body_of(rep(mixed), printed={"mean_e2e_ms": "668.33"}))[0] == "E_REPORTED_MISMATCH"


def test_C09_input_tokens_are_not_output() -> None:
    totals = {"prompt_tokens": [10_000], "completion_tokens": [1000], "wall_ns": [10 * S]}
    body = body_of(rep(totals, "output_tok_s"), printed={"output_tok_s": "1100.0"})
    code, where, message = refusal(body)
    assert (code, where) == ("E_REPORTED_MISMATCH", "/reported/0/values/output_tok_s")
    assert message == "output_tok_s 1100.0 is not 100, which the records give; it matches (in+out)/duration"
    assert fact_of(body, "output_tok_s").median == 100
    assert examine(body_of(rep(totals, "output_tok_s"), printed={"output_tok_s": "100.0"})) == []


def test_C10_a_rate_per_device_is_over_the_devices_of_the_round() -> None:
    totals = rep({"completion_tokens": [10_000], "wall_ns": [10 * S]}, "output_tok_s")
    body = body_of(totals, printed={"tok_s_per_gpu": "250.0"}, environment={"gpus": 8})
    code, _, message = refusal(body)
    assert code == "E_REPORTED_MISMATCH"
    assert message.startswith("tok_s_per_gpu 250.0 is not 125,")
    assert message.endswith("it matches n=4 GPUs, the round has 8")
    assert examine(body_of(totals, printed={"tok_s_per_gpu": "125.0"}, environment={"gpus": 8})) == []
    assert examine(body_of(totals, printed={"tok_s_per_gpu": "250.0"}, environment={"gpu": "H200"})) == []
    (odd,) = examine(body_of(totals, printed={"tok_s_per_gpu": "300.1"}, environment={"gpus": 8}))
    assert "n=" not in odd


def test_C43_reasoning_tokens_are_part_of_the_answer_and_are_not_added_again() -> None:
    twice = stream((160, 100, 1090), reasoning_tokens=[60])
    code, where, message = refusal(body_of(rep(twice), printed={"usage_completion_tokens": [100]}))
    assert (code, where) == ("E_TOKEN_COUNT", "/reported/0/values/usage_completion_tokens")
    assert message.endswith("the tool printed 100; reasoning tokens are part of them, and were added again")
    once = body_of(rep(stream((100, 100, 1090), reasoning_tokens=[60])), printed={"usage_completion_tokens": [100]})
    assert examine(once) == []
    assert fact_of(once, "decode_tok_s").median == 100  # and not 160.6


def test_C43_counts_of_text_that_was_cut_again_are_flagged_only() -> None:
    counted = rep({"completion_tokens": [160_192], "wall_ns": [10 * S]}, "output_tok_s")
    (note,) = examine(body_of(counted, printed={"total_output_tokens": 160_347}))
    assert note.startswith("F_RETOKENIZED: the records have 160192 completion tokens, the tool printed 160347 (")
    assert refusal(body_of(counted, printed={"total_output_tokens": 161_900}))[0] == "E_TOKEN_COUNT"


def test_C43_a_part_is_not_more_than_its_whole() -> None:
    beside = rep(stream((9, 1, 2), (100, 100, 1090), reasoning_tokens=[None, 160]))
    assert refusal(body_of(beside))[:2] == ("E_TOKEN_COUNT", "/reps/0/records/reasoning_tokens/1")
    assert examine(body_of(rep(stream((100, 100, 1090), reasoning_tokens=[101])))) == []
    cached = rep(stream((9, 1, 2), prompt_tokens=[100], cached_tokens=[102]), context=100)
    assert refusal(body_of(cached))[:2] == ("E_TOKEN_COUNT", "/reps/0/records/cached_tokens/0")


def test_a_mean_is_worked_out_from_requests_that_succeeded() -> None:
    body = body_of(rep(SIX_OF_TEN))
    assert fact_of(body, "ttft").reps[0].mean == Fraction(500)
