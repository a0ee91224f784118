"""Faults of data in the files of tools that load a server, on their whole way: read, built, examined."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import LedgerError
from ledger.flags import QUARANTINE
from ledger.ingest import recognise
from ledger.ingest.build import build_round
from ledger.ingest.checks import examine_round
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.kinds import check_body
from ledger.metrics import METRICS
from ledger.schema import validate
from tests.support.examined import MS, body_of, examine, fact_of, rep, stream
from tests.support.examined import codes as codes_of
from tests.support.outside import outside
from tests.support.serving import DIGEST, dump, sglang_detailed
from tests.support.vllm import as_json, detailed, failed, request, totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.canonical import JsonObject

LIMITED = "429"


def round_of(raw: bytes, metric: str, context: int, rows: Sequence[int] = ()) -> tuple[JsonObject, list[str]]:
    """The round of a file as it would be signed, and the codes of all that is said of it."""
    adapter = recognise(raw, "run")
    run = Run(role="main", name="run", raw=raw, rows=adapter.read(raw, "run"))
    options = RoundOptions(
        tool=adapter.name,
        slot={"project": "p", "node": "n", "quant": "q", "context": str(context), "metric": metric},
        code={"main": DIGEST},
        weights=DIGEST,
        harness=DIGEST,
        environment={"gpu": "H200"},
        commits={"main": "abc1234"},
        zone="+00:00",
        started_at={} if run.rows[0].started_at else {"main": ["2026-11-29T20:00:00Z"]},
    )
    built = build_round([run.select(rows) if rows else run], options)
    validate("round-input", built.body)
    check_body("round", built.body)
    notes = examine_round(built.body, built.said, built_by=adapter.name)
    return built.body, [fault.code for fault in built.faults] + codes_of(notes)


def refusal(raw: bytes, metric: str = "ttft", context: int = 100) -> tuple[str, str]:
    with pytest.raises(LedgerError) as caught:
        round_of(raw, metric, context)
    return caught.value.code, caught.value.message


# C04: an answer without a token, which the tool counts as completed.


def vllm_empty(**printed: float) -> bytes:
    good = request(output_len=101, itl=[0.01] * 100)
    return as_json(detailed(failed("", ttft=0.0), good, duration=2.0, completed=2, failed=0, **printed))


def sglang_empty(**printed: float) -> bytes:
    return dump(
        sglang_detailed(
            duration=2.0,
            input_lens=[100, 100],
            output_lens=[0, 101],
            ttfts=[0.0, 0.1],
            itls=[[], [0.01] * 100],
            total_input_tokens=200,
            total_output_tokens=101,
            total_output_tokens_retokenized=101,
            output_throughput=50.5,
            random_input_len=100,
            **printed,
        )
    )


@pytest.mark.parametrize("make", [vllm_empty, sglang_empty])
def test_C04_an_answer_without_a_token_is_a_failure_and_the_file_is_accepted(make: Any) -> None:  # noqa: ANN401
    body, codes = round_of(make(request_throughput=1.0, median_ttft_ms=50.0), "decode_tok_s", 100)
    assert {"F_EMPTY_OUTPUT", "F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"} <= {*codes}
    assert {*codes} <= {"F_EMPTY_OUTPUT", "F_REQUESTS_FAILED", "F_REPORTED_MISMATCH", "F_TZ_MISSING", "F_N1"}
    records = body["reps"][0]["records"]
    assert (records["ok"], records["error"]) == ([False, True], ["the answer has no token", None])
    assert fact_of(body, "decode_tok_s").median == 100
    assert fact_of(body, "ttft").median == 100  # and not 50
    assert {"F_EMPTY_OUTPUT", "F_REQUESTS_FAILED"} <= QUARANTINE  # no frontier while a request failed


@pytest.mark.parametrize("make", [vllm_empty, sglang_empty])
def test_C04_a_printed_mean_over_empty_answers_is_a_flag_too(make: Any) -> None:  # noqa: ANN401
    _, codes = round_of(make(mean_ttft_ms=50.0), "ttft", 100)
    assert {"F_EMPTY_OUTPUT", "F_REPORTED_MISMATCH"} <= {*codes}


def test_C04_the_end_of_an_empty_answer_is_no_latency() -> None:
    """The numbers of the case: an empty stream that closed after 3 ms, and an answer of 1.1 s."""
    good = request(output_len=101, itl=[0.01] * 100)
    members: dict[str, Any] = {"duration": 2.0, "completed": 2, "failed": 0}
    members |= {"latencies": [0.003, 1.1], "mean_e2el_ms": 551.5}
    body, codes = round_of(as_json(detailed(failed(""), good, **members)), "decode_tok_s", 100)
    assert {*codes} == {"F_EMPTY_OUTPUT", "F_REQUESTS_FAILED", "F_REPORTED_MISMATCH", "F_TZ_MISSING", "F_N1"}
    assert body["reps"][0]["records"]["e2e_ns"] == [3 * MS, 1100 * MS]
    assert fact_of(body, "decode_tok_s").median == 100


def test_C04_a_failure_without_a_word_was_called_none_by_its_tool() -> None:
    silent = as_json(detailed(failed(""), request(), request(ttft=0.12), completed=2, failed=1, total_input_tokens=200))
    body, codes = round_of(silent, "ttft", 100)
    assert body["reps"][0]["records"]["error"] == ["no token came", None, None]
    assert "F_EMPTY_OUTPUT" not in codes
    line = sglang_detailed(
        completed=1, output_lens=[5, 0], itls=[[0.01] * 4, []], total_input_tokens=500, total_output_tokens=5
    )
    body, codes = round_of(dump(line), "ttft", 500)
    assert body["reps"][0]["records"]["error"] == [None, "no token came"]
    assert "F_EMPTY_OUTPUT" not in codes


# C06: figures over requests that the tool itself calls failed.


def sglang_refused(**printed: float) -> bytes:
    return dump(
        sglang_detailed(
            completed=6,
            duration=2.0,
            input_lens=[100] * 10,
            output_lens=[51] * 6 + [0] * 4,
            ttfts=[0.5] * 6 + [0.0] * 4,
            itls=[[0.01] * 50] * 6 + [[]] * 4,
            errors=[""] * 6 + [LIMITED] * 4,
            total_input_tokens=600,
            total_output_tokens=306,
            total_output_tokens_retokenized=306,
            output_throughput=153.0,
            random_input_len=100,
            **printed,
        )
    )


def vllm_refused(**printed: float) -> bytes:
    good = [request(output_len=51, ttft=0.5, itl=[0.01] * 50)] * 6
    return as_json(detailed(*good, *[failed(LIMITED)] * 4, duration=2.0, **printed))


@pytest.mark.parametrize("make", [vllm_refused, sglang_refused])
def test_C06_a_mean_or_a_rate_over_failed_requests_refuses_the_file(make: Any) -> None:  # noqa: ANN401
    end = "mean_e2el_ms" if make is vllm_refused else "mean_e2e_latency_ms"
    for name, wrong, right in (("mean_ttft_ms", 300.0, 500.0), (end, 600.0, 1000.0), ("request_throughput", 5.0, 3.0)):
        code, message = refusal(make(**{name: wrong}))
        assert code == "E_REPORTED_MISMATCH"
        assert message.startswith(f"{name} ")
        assert message.endswith("all requests, failed ones too")
        _, codes = round_of(make(**{name: right}), "ttft", 100)
        assert {*codes} <= {"F_REQUESTS_FAILED", "F_TZ_MISSING"}


@pytest.mark.parametrize("make", [vllm_refused, sglang_refused])
def test_C06_a_median_over_failed_requests_is_a_flag(make: Any) -> None:  # noqa: ANN401
    _, codes = round_of(make(p40_ttft_ms=0.0), "ttft", 100)
    assert {*codes} <= {"F_REQUESTS_FAILED", "F_REPORTED_MISMATCH", "F_TZ_MISSING"}
    assert "F_REQUESTS_FAILED" in codes


TEN_AND_A_TIMEOUT = stream(
    *[(51, 50, 100 * each) for each in range(1, 11)],
    (0, 0, 30_000),
    ok=[True] * 10 + [False],
    error=[None] * 10 + ["t"],
)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("p90_e2e_ms", "1000.0"),  # sorted[int(n * p)]; of all eleven it would be the nearest rank too
        ("p95_e2e_ms", "955.0"),  # linear
        ("p85_e2e_ms", "865.0"),
        ("p75_e2e_ms", "700.0"),  # the lower rank
        ("median_e2e_ms", "600.0"),  # the upper of the two in the middle, and the median of all eleven
    ],
)
def test_C06_a_percentile_by_another_honest_method_is_never_taken_for_one_over_failed_requests(
    name: str, printed: str
) -> None:
    codes = codes_of(examine(body_of(rep(TEN_AND_A_TIMEOUT), printed={name: printed})))
    assert codes == ["F_REQUESTS_FAILED", "F_PERCENTILE_METHOD"]


@pytest.mark.parametrize(("name", "printed"), [("p99_e2e_ms", "30000.0"), ("p95_e2e_ms", "30000.0")])
def test_C06_a_percentile_that_is_the_time_of_a_failed_request_is_a_flag(name: str, printed: str) -> None:
    notes = examine(body_of(rep(TEN_AND_A_TIMEOUT), printed={name: printed}))
    assert codes_of(notes) == ["F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"]
    assert "it matches all requests, failed ones too" in notes[-1]


def test_C06_half_a_step_of_the_print_is_no_difference() -> None:
    nine = stream(*[(51, 500, 1000)] * 9, (0, 0, 5), ok=[True] * 9 + [False], error=[None] * 9 + [LIMITED])
    body = body_of(rep(nine, wall_ns=20_000 * MS), printed={"request_throughput": "0.5"})
    assert codes_of(examine(body)) == ["F_REQUESTS_FAILED"]  # 0.45, and 0.5 over all ten
    good = [request(ttft=0.1 + at / 10**6) for at in range(9)]
    raw = as_json(detailed(*good, failed(LIMITED), duration=20.0, request_throughput=0.5))
    _, codes = round_of(raw, "ttft", 100)
    assert {*codes} == {"F_REQUESTS_FAILED", "F_TZ_MISSING"}


@pytest.mark.parametrize(("good", "is_refused"), [(48, True), (49, False), (50, False)])
def test_C06_two_percent_are_the_limit_below_which_nobody_is_misled(good: int, *, is_refused: bool) -> None:
    """A failed request that took no time takes 2 % off a mean over fifty, and more over fewer."""
    requests = stream(*[(51, 500, 1000)] * good, (0, 0, 0), ok=[True] * good + [False], error=[None] * good + [LIMITED])
    requests["e2e_ns"][-1] = None
    body = body_of(rep(requests), printed={"mean_e2e_ms": f"{1000 * good / (good + 1):.9f}"})
    if is_refused:
        with pytest.raises(LedgerError, match="failed ones too") as caught:
            examine(body)
        assert caught.value.code == "E_REPORTED_MISMATCH"
    else:
        assert codes_of(examine(body)) == ["F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"]


def test_C06_a_print_in_powers_of_ten_has_no_step_to_hide_behind() -> None:
    body = body_of(rep(stream((51, 500, 1000), (51, 500, 1000))), printed={"request_throughput": "1e-05"})
    assert codes_of(examine(body)) == ["F_REPORTED_MISMATCH"]


# C08: pieces of several tokens.


def test_C08_percentiles_of_pieces_are_never_gated() -> None:
    assert not [metric.name for metric in METRICS.values() if "itl_ns" in metric.columns]
    assert "F_CHUNKED" not in QUARANTINE
    chunked = stream((9, 60, 140), chunks=[3], itl_ns=[[40 * MS, 40 * MS]])
    for printed in ("40.0", "10.0", "7777.0"):
        names = ("p99_itl_ms", "mean_itl_ms", "median_itl_ms")
        body = body_of(rep(chunked), printed=dict.fromkeys(names, printed))
        assert codes_of(examine(body)) == ["F_CHUNKED"]


# C12: the context that was measured.


def test_C12_the_real_1024_run_that_is_sealed_at_509_keeps_its_range_ratio() -> None:
    raw = outside("tool-outputs", "sglang-serving", "llama_3_3_70b_online_output.jsonl").read_bytes()
    body, codes = round_of(raw, "output_tok_s", 509, rows=[0])
    settings = body["arms"][0]["settings"]
    assert (settings["random_input_len"], settings["random_range_ratio"]) == ("1024", "0.0")
    assert "F_CONTEXT_DECLARED" in codes
    assert body["reps"][0]["context"] == 509


# C44: a peak below the mean, in a run of less than a second.


def test_C44_the_numbers_of_the_case_are_right_and_gate_nothing() -> None:
    raw = as_json(
        totals(
            duration=0.642,
            total_output_tokens=128,
            total_input_tokens=256,
            num_prompts=8,
            completed=8,
            output_throughput=199.369,  # over the duration that was not rounded
            total_token_throughput=...,
            request_throughput=None,
            max_output_tokens_per_s=128.0,
            max_concurrency=2,
            max_concurrent_requests=8,
        )
    )
    body, codes = round_of(raw, "output_tok_s", 32)
    assert {*codes} == {"F_TZ_MISSING", "F_TOTALS_ONLY", "F_PEAK_LT_MEAN"}
    assert fact_of(body, "output_tok_s").median == Fraction(128_000, 642)
    assert "F_PEAK_LT_MEAN" not in QUARANTINE


def test_C44_a_thousandth_is_what_a_rounded_duration_explains() -> None:
    members = {"duration": 0.642, "total_output_tokens": 128, "total_token_throughput": ..., "request_throughput": None}
    for printed, found in ((199.569, False), (199.58, True)):  # 199.3769 and a thousandth of it are 199.5763
        _, codes = round_of(as_json(totals(output_throughput=printed, **members)), "output_tok_s", 100)
        assert ("F_REPORTED_MISMATCH" in codes) == found
