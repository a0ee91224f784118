"""vLLM's ``bench serve --save-detailed``: records of requests, lists that do not fit, faults that hide in them."""

# ruff: noqa: N802 - tests are named after the faults that they exclude

from __future__ import annotations

import time
from fractions import Fraction
from statistics import mean, pstdev
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest import ADAPTERS, recognise
from ledger.metrics import METRICS
from ledger.scoring.facts import record_values
from tests.support.vllm import as_json, detailed, failed, hostile, request, survives

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

ADAPTER = ADAPTERS["vllm-serve"]
TWO = (request(), request(ttft=0.12))


def read(*requests: dict[str, Any], **members: Any) -> Row:  # noqa: ANN401 - values of any kind, also wrong ones
    (row,) = ADAPTER.read(as_json(detailed(*requests, **members)), "run.json")
    return row


def flags(row: Row) -> set[str]:
    return {note.partition(":")[0] for note in row.notes} - {"F_TZ_MISSING"}


def notes(row: Row, code: str) -> list[str]:
    return [note.removeprefix(f"{code}: ") for note in row.notes if note.startswith(code)]


def refusal(*requests: dict[str, Any], **members: Any) -> tuple[str, str]:  # noqa: ANN401 - as above
    with pytest.raises(MalformedError) as caught:
        read(*requests, **members)
    return caught.value.code, caught.value.where.removeprefix("run.json")


def values(row: Row, metric: str) -> list[Fraction]:
    return list(record_values(METRICS[metric], row.records))


# What becomes of the lists.


def test_a_request_that_stands_there_twice_is_no_second_sample() -> None:
    one = request(ttft=0.1234, itl=[0.0101, 0.0102, *[0.01] * 8])
    assert refusal(one, request(), one) == ("E_COPIED_SAMPLES", "/itls/2")
    assert read(one, one | {"ttft": 0.1235}).records["ttft_ns"] == [123_400_000, 123_500_000]
    started = [one | {"start_time": at} for at in (1.5, 2.5)]
    assert len(read(*started).records["ttft_ns"]) == 2
    assert len(read(request(), request()).records["ttft_ns"]) == 2  # two times alone may be alike


@pytest.mark.soak  # a time is measured
def test_thousands_of_requests_are_read_at_once() -> None:
    requests = [request(ttft=0.1 + at / 10**6, start_time=1 + at / 100) for at in range(12_000)]
    raw = as_json(detailed(*requests, duration=200.0))
    start = time.process_time()
    (row,) = ADAPTER.read(raw, "run.json")
    assert time.process_time() - start < 6
    assert row.records["start_ns"][-1] == 119_990_000_000


def test_a_request_is_a_record() -> None:
    row = read(request(), request(input_len=103, ttft=0.1234567895, itl=[0.01] * 9 + [0.0]))
    assert row.metrics == ("decode_tok_s", "ttft")
    assert row.records == {
        "prompt_tokens": [100, 103],
        "completion_tokens": [11, 11],
        "ttft_ns": [100_000_000, 123_456_790],
        "e2e_ns": [200_000_000, 213_456_790],
        "itl_ns": [[10_000_000] * 10, [10_000_000] * 9 + [0]],
        "chunks": [11, 11],
    }
    assert (row.context, row.mean_context, row.wall_ns) == (102, True, 2_500_000_000)
    assert flags(row) == set()
    assert recognise(as_json(detailed(*TWO)), "x").name == "vllm-serve"


def test_prompts_of_one_length_are_no_mean() -> None:
    assert not read(*TWO).mean_context
    assert not read(*TWO, failed(input_len=7)).mean_context


def test_lists_are_records_and_no_settings() -> None:
    row = read(*[each | {"latency_of_no_list": 1} for each in TWO], latency_of_no_lists=...)
    assert not {name for name in (*row.settings, *row.reported) if name.endswith(("lens", "ttfts", "texts", "errors"))}


def test_starts_count_from_the_first_request_that_has_one() -> None:
    uptime = 20_000_000  # more nanoseconds than a record can hold
    row = read(*[each | {"start_time": uptime + at / 4} for at, each in enumerate(TWO)], failed(start_time=0.0))
    assert row.records["start_ns"] == [0, 250_000_000, None]
    assert "start_ns" not in read(*[each | {"start_time": 0.0} for each in TWO]).records


def test_an_end_that_the_file_says_is_the_end() -> None:
    lists = {"latencies": [0.25, 0.22, 0.005]}
    row = read(*TWO, failed(), **lists)
    assert row.records["e2e_ns"] == [250_000_000, 220_000_000, 5_000_000]
    assert values(row, "decode_tok_s") == [Fraction(200, 3), Fraction(100)]


def test_without_a_second_token_there_is_no_rate() -> None:
    row = read(request(output_len=1, itl=[]), request(output_len=1, itl=[]))
    assert row.metrics == ("ttft",)
    assert values(row, "ttft") == [100, 100]
    assert read(request(itl=[]), request(output_len=1, itl=[])).metrics == ("ttft",)  # all tokens in one piece


def test_an_error_is_kept_as_far_as_a_receipt_can_hold_it() -> None:
    text = "Traceback\n\t\x1b[31mOSError\r\ud800é" + "x" * 5000
    row = read(request(), failed(text), failed("", errors_are="empty"), errors_ares=...)
    assert row.records["ok"] == [True, False, False]
    assert row.records["error"][1] == ("Traceback\n\t\ufffd[31mOSError\ufffd\ufffdé" + "x" * 5000)[:4096]
    assert row.records["completion_tokens"] == [11, None, 0]
    assert row.records["itl_ns"] == [[10_000_000] * 10, None, None]


def test_a_failure_without_a_word_is_a_failure() -> None:
    row = read(request(), failed(""), completed=1, failed=1, total_input_tokens=100)
    assert row.records["error"] == [None, "no token came"]
    assert flags(row) == {"F_N1", "F_REQUESTS_FAILED"}
    assert flags(read(request(), request() | failed() | {"error": None, "input_len": 0}, completed=1, failed=...)) == {
        "F_N1",
        "F_REQUESTS_FAILED",
    }


# Lists and counts that do not fit.


@pytest.mark.parametrize(
    ("members", "code", "where"),
    [
        ({"ttfts": ...}, "E_FIELD", "/ttfts"),
        ({"itls": ...}, "E_FIELD", "/itls"),
        ({"errors": "none"}, "E_FIELD", "/errors"),
        ({"input_lens": {}}, "E_FIELD", "/input_lens"),
        ({"output_lens": [11]}, "E_COLUMN_LENGTH", "/output_lens"),
        ({"ttfts": [0.1] * 3}, "E_COLUMN_LENGTH", "/ttfts"),
        ({"itls": []}, "E_COLUMN_LENGTH", "/itls"),
        ({"errors": [""]}, "E_COLUMN_LENGTH", "/errors"),
        ({"generated_texts": ["a"] * 3}, "E_COLUMN_LENGTH", "/generated_texts"),
        ({"start_times": [1.0]}, "E_COLUMN_LENGTH", "/start_times"),
        ({"latencies": [1.0]}, "E_COLUMN_LENGTH", "/latencies"),
        ({"queue_times": [1.0]}, "E_COLUMN_LENGTH", "/queue_times"),
        ({f"{name}s": [] for name in (*request(), "generated_text")}, "E_EMPTY_RESULTS", "/input_lens"),
        ({"input_lens": [100, 99.5]}, "E_FIELD", "/input_lens/1"),
        ({"output_lens": [11, None]}, "E_FIELD", "/output_lens/1"),
        ({"errors": ["", 0.5]}, "E_FIELD", "/errors/1"),
        ({"ttfts": [0.1, "0.1"]}, "E_SAMPLE", "/ttfts/1"),
        ({"ttfts": [0.1, -0.1]}, "E_NEG_INTERVAL", "/ttfts/1"),
        ({"ttfts": [0.0, 0.1]}, "E_ZERO_TIME", "/ttfts/0"),
        ({"ttfts": [0.1, 1e9]}, "E_SAMPLE", "/ttfts/1"),
        ({"itls": [[0.01] * 10, 0.01]}, "E_FIELD", "/itls/1"),
        ({"itls": [[0.01] * 10, [0.01, None]]}, "E_SAMPLE", "/itls/1/1"),
        ({"start_times": [5.0, -5.0]}, "E_NEG_INTERVAL", "/start_times/1"),
        ({"start_times": [5.0, 7.5]}, "E_WALL", "/duration"),
        ({"latencies": [0.2, 0.119]}, "E_TTFT_AFTER_END", "/ttfts/1"),
        ({"latencies": [0.2, 2.56]}, "E_WALL", "/duration"),
        ({"completed": 1}, "E_REQUEST_COUNT", "/completed"),
        ({"completed": 3}, "E_REQUEST_COUNT", "/completed"),
        ({"failed": 1}, "E_REQUEST_COUNT", "/failed"),
        ({"total_output_tokens": 23}, "E_REQUEST_COUNT", "/total_output_tokens"),
    ],
)
def test_lists_and_counts_that_contradict_are_refused_with_their_place(
    members: dict[str, Any], code: str, where: str
) -> None:
    assert refusal(*TWO, **members) == (code, where)


def test_nothing_that_gave_a_token_is_no_measurement() -> None:
    assert refusal(failed(), failed()) == ("E_ALL_FAILED", "")
    assert refusal(failed(""), failed(), completed=1, failed=1) == ("E_ALL_FAILED", "")
    assert refusal(failed(output_len=3), failed(output_len=3), total_output_tokens=6) == ("E_ALL_FAILED", "")


def test_fewer_requests_than_asked_for_are_flagged_and_so_are_other_prompts() -> None:
    assert notes(read(*TWO, num_prompts=3), "F_REPORTED_MISMATCH") == [
        "num_prompts is printed as 3; what the file holds gives 2"
    ]
    (note,) = notes(read(*TWO, failed(input_len=50), total_input_tokens=250), "F_REPORTED_MISMATCH")
    assert note.endswith("gives 200; it matches that over all requests, failed ones too")


# Faults that people have met.


def test_C02_a_gap_below_zero_is_refused_and_never_repaired() -> None:
    gaps = [0.0121, -0.0034, 0.0120]
    with pytest.raises(MalformedError, match="request 1, gap 1: -3400000 ns") as caught:
        read(request(), request(output_len=4, ttft=0.09, itl=gaps), latencies=[0.2, 0.1107])
    assert (caught.value.code, caught.value.where) == ("E_NEG_INTERVAL", "run.json/itls/1/1")
    assert refusal(request(), failed(itl=[-1e-9])) == ("E_NEG_INTERVAL", "/itls/1/0")
    assert read(request(), failed(itl=[-1e-10])).records["ok"] == [True, False]  # no nanosecond: -0


def test_C04_a_success_without_a_token_is_a_failure() -> None:
    requests = (failed("", ttft=0.003), request(output_len=101, itl=[0.01] * 100))
    row = read(*requests, duration=2.0, completed=2, failed=0, request_throughput=1.0, median_ttft_ms=51.5)
    assert row.records["ok"] == [False, True]
    assert values(row, "decode_tok_s") == [100]
    assert values(row, "ttft") == [100]
    assert flags(row) == {"F_EMPTY_OUTPUT", "F_N1", "F_REPORTED_MISMATCH"}
    assert notes(row, "F_EMPTY_OUTPUT") == ["1 request that the tool counts as completed gave no token"]
    assert [note.partition(" is")[0] for note in notes(row, "F_REPORTED_MISMATCH")] == [
        "request_throughput",
        "median_ttft_ms",
    ]
    assert all("gives 0.5;" in note or "gives 100;" in note for note in notes(row, "F_REPORTED_MISMATCH"))


def test_C06_a_mean_over_refused_requests_is_not_that_of_the_answers() -> None:
    good = [request(output_len=51, ttft=0.5, itl=[0.01] * 50)] * 6
    refused = [failed("429")] * 4
    ends = [1.0] * 6 + [0.005] * 4
    hint = "; it matches that over all requests, failed ones too"
    for name, printed, exact in (
        ("mean_e2el_ms", 602.0, "1000"),
        ("mean_ttft_ms", 300.0, "500"),
        ("request_throughput", 4.0, "2.4"),
    ):
        with pytest.raises(MalformedError) as caught:
            read(*good, *refused, latencies=ends, **{name: printed})
        assert (caught.value.code, caught.value.where) == ("E_REPORTED_MISMATCH", f"run.json/{name}")
        assert caught.value.message == f"{name} is printed as {printed}; what the file holds gives {exact}{hint}"
    with pytest.raises(MalformedError, match="mean_e2el_ms"):  # no time of a failed request is known: 0
        read(*good, *refused, mean_e2el_ms=600.0)
    right = read(*good, *refused, latencies=ends, mean_e2el_ms=1000.0, mean_ttft_ms=500.0, request_throughput=2.4)
    assert flags(right) == {"F_REQUESTS_FAILED"}
    assert notes(right, "F_REQUESTS_FAILED") == ["4 of 10 requests failed"]


def test_C06_a_percentile_over_refused_requests_is_a_flag_and_never_refuses() -> None:
    good = [request(output_len=51, ttft=0.5 + at / 100, itl=[0.01] * 50) for at in range(6)]
    row = read(*good, *[failed("429")] * 4, median_ttft_ms=505.0)
    assert flags(row) == {"F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"}
    (note,) = notes(row, "F_REPORTED_MISMATCH")
    assert note.endswith("gives 525; it matches that over all requests, failed ones too")


@pytest.mark.parametrize("good", [50, 49])
def test_C06_two_percent_are_the_limit_of_a_mean_over_refused_requests(good: int) -> None:
    """One failure in 51 takes 1.96 % off a mean, one in 50 takes 2 %: neither is more than 2 % off."""
    requests = [request(ttft=0.1 + at / 10**6) for at in range(good)]
    mean_ms = mean(each["ttft"] for each in requests) * 1000 * good
    row = read(*requests, failed("429"), mean_ttft_ms=mean_ms / (good + 1))
    assert flags(row) == {"F_REQUESTS_FAILED", "F_REPORTED_MISMATCH"}
    with pytest.raises(MalformedError, match="mean_ttft_ms"):  # two failures are
        read(*requests, failed("429"), failed("429"), mean_ttft_ms=mean_ms / (good + 2))


def test_C07_a_list_of_gaps_that_begins_with_the_first_token_is_refused() -> None:
    wrong = request(output_len=4, ttft=0.2, itl=[0.2, 0.01, 0.01, 0.01])
    assert refusal(request(), wrong) == ("E_ITL_SUM", "/itls/1/0")
    assert refusal(request(), wrong, latencies=[0.2, 0.23]) == ("E_ITL_SUM", "/itls/1")
    assert refusal(request(), wrong | {"itl": [0.198, 0.01, 0.01, 0.01]}) == ("E_ITL_SUM", "/itls/1/0")
    in_chunks = wrong | {"itl": [0.2, 0.015, 0.015]}  # as many gaps as there may be
    assert refusal(request(), in_chunks, latencies=[0.2, 0.23]) == ("E_ITL_SUM", "/itls/1")


@pytest.mark.parametrize(("gaps", "pieces"), [([0.0, 0.01, 0.01, 0.01], 5), ([0.0, 0.01, 0.01, 0.01, 0.0], 6)])
def test_C07_a_piece_before_the_first_token_or_behind_the_last_is_none_of_that(gaps: list[float], pieces: int) -> None:
    row = read(request(), request(output_len=4, itl=gaps), backend="openai-chat")
    assert flags(row) == {"F_CHUNKED"}
    assert row.records["chunks"] == [11, pieces]
    assert values(row, "decode_tok_s") == [100, 100]


@pytest.mark.parametrize("surplus", [1, 2, 3, 50])
def test_C07_a_client_with_a_tokenizer_of_its_own_may_count_fewer_tokens_than_pieces(surplus: int) -> None:
    """As with tgi and with completions of 51 tokens and 52 gaps: an honest file, whose rate is that of its totals."""
    own = request(output_len=51, itl=[0.01] * (50 + surplus))
    row = read(request(), own, backend="tgi")
    assert flags(row) == {"F_CHUNKED"}
    assert row.records["chunks"] == [11, 51 + surplus]
    end = 0.1 + sum(own["itl"])
    assert flags(read(request(), own, latencies=[0.2, end], duration=5.0)) == {"F_CHUNKED"}
    assert refusal(request(), own, latencies=[0.2, end - 0.001], duration=5.0) == ("E_ITL_SUM", "/itls/1")
    assert survives(ADAPTER, as_json(detailed(request(), own, duration=5.0)), "decode_tok_s")
    assert refusal(request(), own | {"ttft": 0.01}) == ("E_ITL_SUM", "/itls/1/0")


def test_C07_gaps_that_end_with_the_request_fit_to_the_nanosecond() -> None:
    fitting = request(output_len=3, itl=[0.0100000004, 0.0100000004])
    row = read(fitting, fitting, latencies=[0.120000000, 0.119999997])
    assert row.records["e2e_ns"] == [120_000_000, 119_999_997]
    assert refusal(fitting, fitting, latencies=[0.120000000, 0.119999996]) == ("E_ITL_SUM", "/itls/1")


def test_C08_pieces_of_several_tokens_are_not_read_as_tokens() -> None:
    row = read(request(), request(output_len=9, ttft=0.06, itl=[0.04, 0.04]), mean_tpot_ms=10.0)
    assert flags(row) == {"F_CHUNKED"}
    assert notes(row, "F_CHUNKED") == ["1 answers came in another number of pieces than they have tokens"]
    assert row.records["chunks"] == [11, 3]
    assert values(row, "decode_tok_s") == [100, 100]


def test_C09_the_totals_of_a_run_with_details_are_compared_as_well() -> None:
    (note,) = notes(read(*TWO, output_throughput=88.8), "F_REPORTED_MISMATCH")
    assert note.endswith("gives 8.8; it matches (in+out)/duration")
    assert flags(read(*TWO, output_throughput=8.8, total_token_throughput=88.8)) == set()


def test_C44_a_peak_below_the_mean_of_a_run_with_details_is_accepted() -> None:
    assert flags(read(*TWO, max_output_tokens_per_s=8.7)) == {"F_PEAK_LT_MEAN"}


def test_a_cold_first_request_is_seen_in_the_requests_themselves() -> None:
    warm = [request(ttft=0.05)] * 2
    assert flags(read(*warm, request(ttft=0.501), p99_ttft_ms=501.0)) == {"F_COLD_FIRST"}
    assert flags(read(*warm, request(ttft=0.5))) == set()


# Printed statistics.


def test_statistics_of_the_requests_agree_and_percentiles_say_their_method() -> None:
    firsts = [0.05, 0.07, 0.08, 0.1]
    gaps = [0.01, 0.011, 0.013, 0.02]
    requests = [request(ttft=first, itl=[gap] * 10) for first, gap in zip(firsts, gaps, strict=True)]
    ends = [first + 10 * gap for first, gap in zip(firsts, gaps, strict=True)]
    printed: dict[str, float] = {}
    for name, seconds in {
        "ttft": firsts,
        "tpot": gaps,
        "itl": [g for g in gaps for _ in range(10)],
        "e2el": ends,
    }.items():
        ordered = sorted(seconds)
        last = 0.97 * (len(ordered) - 1) - (len(ordered) - 2)
        printed |= {
            f"mean_{name}_ms": mean(seconds) * 1000,
            f"std_{name}_ms": pstdev(seconds) * 1000,
            f"median_{name}_ms": (ordered[len(ordered) // 2 - 1] + ordered[len(ordered) // 2]) * 500,
            f"p75_{name}_ms": ordered[len(ordered) * 3 // 4 - 1] * 1000,
        }
        if name == "ttft":
            printed["p97_ttft_ms"] = (ordered[-2] + (ordered[-1] - ordered[-2]) * last) * 1000
    row = read(*requests, **printed)
    assert notes(row, "F_REPORTED_MISMATCH") == []
    assert notes(row, "F_PERCENTILE_METHOD") == ["p97_ttft_ms lies between two samples, and is not the nearest rank"]
    for name, value in printed.items():
        (note,) = notes(read(*requests, **(printed | {name: value * 1.001})), "F_REPORTED_MISMATCH")
        assert note.startswith(f"{name} is printed as ")


@pytest.mark.parametrize(
    "members",
    [
        {"p101_ttft_ms": 5.0},
        {"p9999_ttft_ms": 5.0},
        {"mean_ttft_ms": None},
        {"mean_rtt_ms": 5.0},
        {"mean_ttft_ms": 110.000002},  # two nanoseconds are the rounding of samples
        {"p0_ttft_ms": 100.0, "p100_ttft_ms": 120.0},
    ],
)
def test_what_is_no_statistic_of_the_requests_is_kept_and_not_compared(members: dict[str, Any]) -> None:
    row = read(*TWO, **members)
    assert flags(row) == set()
    assert members.keys() <= row.reported.keys()


def test_a_statistic_of_nothing_is_not_compared() -> None:
    alone = request(output_len=1, itl=[])
    assert flags(read(alone, alone, mean_tpot_ms=0.0, std_itl_ms=0.0, p99_itl_ms=7.5)) == set()


# Anything at all.


def test_whatever_stands_in_a_file_it_gives_rows_that_can_be_sealed_or_a_refusal() -> None:
    whole = detailed(
        request(output_len=3, itl=[0.01, 0.02], start_time=7.5),
        failed(start_time=0.0),
        latencies=[0.14, 0.001],
        mean_itl_ms=15.0,
        std_tpot_ms=0.0,
        p99_e2el_ms=140.0,
    )
    assert survives(ADAPTER, as_json(whole), "decode_tok_s")
    assert sum(survives(ADAPTER, raw, "decode_tok_s") for raw in hostile(whole)) > 200
