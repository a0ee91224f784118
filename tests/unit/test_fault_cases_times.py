"""Times and rates: faults of data that people reported, by their number in the collection."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

from fractions import Fraction

import pytest

from ledger.ingest.faults import CATALOGUE
from ledger.scoring.facts import round_facts
from tests.support.examined import MS, S, body_of, codes, examine, fact_of, refusal, rep, stream

TWO_RATES = stream((101, 1, 1001), (101, 1, 3001))


def test_C01_a_first_token_after_the_end_is_refused_and_one_at_the_end_has_no_rate() -> None:
    both = body_of(rep(stream((64, 512, 498), (64, 498, 498))))
    assert refusal(both)[:2] == ("E_TTFT_AFTER_END", "/reps/0/records/ttft_ns/0")
    alone = body_of(rep(stream((64, 498, 498))))
    (note,) = examine(alone)
    assert note.startswith("F_NOT_STREAMED: 1 answers came in one piece at the end: they have no decode rate (at ")
    assert [fact.metric.name for fact in round_facts(alone)] == ["ttft"]


def test_C01_a_single_token_is_its_own_end() -> None:
    assert examine(body_of(rep(stream((1, 498, 498), (64, 98, 498))))) == []


def test_C02_a_negative_gap_is_refused_and_never_mended() -> None:
    gaps = [[12_100_000, -3_400_000, 12_000_000]]
    assert 90 * MS + sum(gaps[0]) == 110_700_000
    records = {"completion_tokens": [4], "ttft_ns": [90 * MS], "e2e_ns": [110_700_000], "itl_ns": gaps}
    code, where, message = refusal(body_of(rep(records)))
    assert (code, where) == ("E_NEG_INTERVAL", "/reps/0/records/itl_ns/0/1")
    assert message.startswith("-3400000 ns between two pieces")


def test_C07_the_time_to_the_first_token_is_no_gap() -> None:
    records = stream((4, 200, 230), itl_ns=[[200 * MS, 10 * MS, 10 * MS, 10 * MS]])
    code, where, message = refusal(body_of(rep(records)))
    assert (code, where) == ("E_ITL_SUM", "/reps/0/records/itl_ns/0")
    assert message.startswith("first token and gaps make 430000000 ns, the request took 230000000 ns; the first gap")
    mended = body_of(rep(stream((4, 200, 230), itl_ns=[[10 * MS] * 3])))
    assert examine(mended) == []
    assert 1000 / fact_of(mended, "decode_tok_s").median == 10  # ms a token


def test_C07_more_gaps_than_tokens_less_one_are_no_gaps_between_tokens() -> None:
    four = stream((4, 200, 240), itl_ns=[[10 * MS] * 4])
    code, where, message = refusal(body_of(rep(four)))
    assert (code, where) == ("E_ITL_SUM", "/reps/0/records/itl_ns/0")
    assert message == "4 gaps between 4 tokens, at most 3"
    assert refusal(body_of(rep(stream((1, 200, 210), itl_ns=[[10 * MS]]))))[2] == "1 gaps between 1 tokens, at most 0"
    assert refusal(body_of(rep(four | {"chunks": [4]})))[0] == "E_ITL_SUM"


@pytest.mark.parametrize("more", [1, 2, 3, 50])
def test_C07_pieces_that_are_counted_may_be_more_than_the_tokens(more: int) -> None:
    """The client of vLLM counts empty events as pieces, and some count tokens with a tokenizer of their own."""
    gaps = [[10 * MS] * 3 + [0] * more]
    assert codes(examine(body_of(rep(stream((4, 200, 230), itl_ns=gaps, chunks=[4 + more]))))) == ["F_CHUNKED"]
    assert refusal(body_of(rep(stream((4, 200, 230), itl_ns=gaps, chunks=[3 + more]))))[0] == "E_ITL_SUM"
    assert refusal(body_of(rep(stream((4, 200, 230), itl_ns=gaps))))[0] == "E_ITL_SUM"


@pytest.mark.parametrize(("first", "refused"), [(200, True), (198, True), (202, True), (197, False), (203, False)])
def test_C07_the_first_token_is_no_piece_of_its_own(first: int, refused: bool) -> None:
    records = stream((4, 200, 440), itl_ns=[[first * MS, 10 * MS, 10 * MS, 10 * MS]], chunks=[5])
    if refused:
        message = refusal(body_of(rep(records)))[2]
        assert message.endswith(
            "4 gaps between 4 tokens, at most 3; the first gap is the time to the first token, which is no gap"
        )
    else:
        assert codes(examine(body_of(rep(records)))) == ["F_CHUNKED"]


def test_C07_gaps_that_end_well_before_the_stream_are_said_and_refuse_nothing() -> None:
    (note,) = examine(body_of(rep(stream((4, 200, 400), itl_ns=[[10 * MS] * 3]))))
    assert note.startswith(
        "F_ITL_SHORT: the gaps of 1 answers end before their streams do, those of the first by 170 ms"
    )
    assert note.endswith("(at /reps/0/records/itl_ns/0)")
    assert CATALOGUE["F_ITL_SHORT"].severity == "flag"
    for end, gap, found in (
        (240, 76 * MS, []),
        (240, 76 * MS - 1, ["F_ITL_SHORT"]),
    ):  # a twentieth of 240 ms is missing
        body = body_of(rep(stream((4, 0, end), itl_ns=[[gap] * 3])))
        body["reps"][0]["records"]["ttft_ns"] = [1]
        assert codes(examine(body)) == found
    for end, found in ((10, []), (11, ["F_ITL_SHORT"])):  # a millisecond is no pause, whatever its share
        assert codes(examine(body_of(rep(stream((2, 4, end), itl_ns=[[5 * MS]]))))) == found
    one = stream((1, 200, 400), itl_ns=[[]])
    assert examine(body_of(rep(one))) == []  # a single token has no gap to miss


def test_C07_gaps_are_rounded_one_by_one() -> None:
    assert examine(body_of(rep(stream((4, 200, 1000), itl_ns=[[270 * MS, 270 * MS, 280 * MS]])))) == []
    code, _, message = refusal(body_of(rep(stream((4, 200, 1000), itl_ns=[[270 * MS, 270 * MS, 281 * MS]]))))
    assert (code, "first gap" in message) == ("E_ITL_SUM", False)


def test_C08_several_tokens_in_a_piece_do_not_make_it_a_token() -> None:
    records = stream((9, 60, 140), chunks=[3], itl_ns=[[40 * MS, 40 * MS]])
    body = body_of(rep(records))
    body["arms"][0]["settings"] = {"spec": "mtp-2"}
    (note,) = examine(body)
    assert note.startswith("F_CHUNKED: 1 answers came in another number of pieces than they have tokens")
    assert "the first of them 9 tokens in 3 pieces: 10 ms a token, 100 tok/s (at /reps/0/records)" in note
    assert fact_of(body, "decode_tok_s").median == 100  # and not 25
    del body["reps"][0]["records"]["chunks"]
    assert examine(body) == [note]  # two gaps are three pieces


def test_C21_two_honest_formulas_are_told_apart() -> None:
    body = body_of(rep(TWO_RATES), printed={"output_token_throughput_per_user": "50.0"})
    assert fact_of(body, "decode_tok_s").reps[0].mean == Fraction(200, 3)
    (note,) = examine(body)
    assert note.startswith("F_FORMULA: output_token_throughput_per_user 50.0 is not 66.666667, which the records give")
    assert "; it is the rate of the mean gap (at " in note
    for printed in ("66.667", "66.67"):
        assert examine(body_of(rep(TWO_RATES), printed={"output_token_throughput_per_user": printed})) == []
    wrong = body_of(rep(TWO_RATES), printed={"output_token_throughput_per_user": "70.0"})
    assert codes(examine(wrong)) == ["F_REPORTED_MISMATCH"]


def test_C21_two_honest_percentiles_are_told_apart() -> None:
    ten = stream(*[(101, 10 * each, 2000) for each in range(1, 11)])
    for printed, found in (("90.0", []), ("91.0", []), ("95.0", ["F_REPORTED_MISMATCH"])):
        assert codes(examine(body_of(rep(ten), printed={"p90_ttft_ms": printed}))) == found, printed
    (note,) = examine(body_of(rep(ten), printed={"p95_ttft_ms": "95.5"}))
    assert note.startswith("F_PERCENTILE_METHOD: p95_ttft_ms 95.5 is not 100,")


def test_C22_there_is_one_unit_of_time() -> None:
    same = [
        rep({"wall_ns": [1500 * 1000], "iterations": [1000]}, "ns_per_iteration", arm=arm)
        for arm in ("main", "candidate")
    ]
    body = body_of(*same)
    assert examine(body) == []
    assert [fact.median for fact in round_facts(body)] == [1500, 1500]
    other = body_of(rep({"wall_us": [1500], "iterations": [1000]}, "ns_per_iteration"))
    assert refusal(other)[0] == "E_SCHEMA"
    assert refusal(body_of(rep({"wall_ns": [1500]}, "wall", time_unit="ticks")))[0] == "E_SCHEMA"


def test_C44_a_peak_below_the_mean_is_said_and_refuses_nothing() -> None:
    printed = {
        "output_tok_s": "199.369",
        "max_output_tok_s": "128.0",
        "max_concurrent_requests": 8,
        "max_concurrency": 2,
    }
    totals = rep({"completion_tokens": [128], "wall_ns": [642 * MS]}, "output_tok_s", wall_ns=S)
    body = body_of(totals, printed=printed)
    (note,) = examine(body)
    assert note.startswith("F_PEAK_LT_MEAN: max_output_tok_s 128.0 is below the mean of 199.376947")
    assert fact_of(body, "output_tok_s").median == Fraction(128_000, 642)
    assert examine(body_of(totals, printed=printed | {"max_output_tok_s": "200.0"})) == []
