"""What the checks of a round have in common: notes, printed values, and that every round gets an answer."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.errors import LedgerError, MalformedError
from ledger.ingest.checks.notes import Said
from ledger.ingest.checks.requests import fail_empty_answers
from ledger.ingest.faults import CATALOGUE
from tests.support.examined import MS, S, body_of, codes, examine, refusal, rep, stream

if TYPE_CHECKING:
    from ledger.canonical import JsonObject

PIECES = stream((9, 60, 140), chunks=[3])
TOTALS = rep({"prompt_tokens": [1000], "completion_tokens": [1000], "wall_ns": [10 * S]}, "output_tok_s")
TEN = stream(*[(101, 10 * at, 10 * at + 1000) for at in range(1, 11)], prompt_tokens=[5] * 10)


def source(row: int) -> JsonObject:
    return {"source": {"attachment": "out.json", "row": row}}


# Notes.


def test_what_holds_of_several_repetitions_in_the_same_words_is_said_once() -> None:
    (note,) = examine(body_of(rep(PIECES), rep(PIECES), rep(PIECES)))
    assert note.endswith("(at /reps/0/records and 2 more)")


def test_warm_up_is_not_looked_at_but_for_clocks_that_run_backwards() -> None:
    sound = rep(stream((9, 60, 140)))
    assert examine(body_of(rep(PIECES, warmup=True), sound)) == []
    backwards = rep(stream((3, 60, 140), itl_ns=[[1, -1]]), warmup=True)
    assert refusal(body_of(backwards, sound))[:2] == ("E_NEG_INTERVAL", "/reps/0/records/itl_ns/0/1")


def test_what_an_adapter_said_of_a_repetition_is_not_said_again_for_it() -> None:
    body = body_of(rep(PIECES), rep(PIECES), printed={})
    body["reps"][1] |= source(1)
    (note,) = examine(body)
    assert "and 1 more" in note
    (note,) = examine(body, [Said("out.json", 1, "F_CHUNKED")])
    assert note.endswith("(at /reps/0/records)")
    (note,) = examine(body, [Said("out.json", row, "F_CHUNKED") for row in (0, 11)])
    assert note.endswith("(at /reps/1/records)")
    both = [Said("out.json", row, "F_CHUNKED") for row in (0, 1)]
    assert examine(body, both) == []
    assert len(examine(body, [Said("out.json", 0, "F_CHUNKED_MORE"), Said("other.json", 0, "F_CHUNKED")])) == 1


def test_a_count_that_differs_is_refused_whatever_was_said() -> None:
    body = body_of(TOTALS, printed={"total_output_tokens": 2000})
    assert refusal(body)[0] == "E_TOKEN_COUNT"


# Printed values.


@pytest.mark.parametrize(
    "value", [None, True, "", "nan", "Infinity", "-", "1e5000", "1 000", "0x10", ["100.0"], "9" * 100, "1_000"]
)
@pytest.mark.parametrize("name", ["output_tok_s", "mean_ttft_ms", "total_output_tokens", "completed", "kv_len_start"])
def test_what_is_no_number_is_compared_with_nothing(name: str, value: object) -> None:
    if (name, value) != ("total_output_tokens", ["100.0"]):
        assert examine(body_of(TOTALS, printed={name: value})) == []


@pytest.mark.parametrize(
    ("value", "right"),
    [("100.0", True), (100, True), ("99.95", True), ("99.9", True), ("99.89", False), ("1e2", True), ("1.1e2", False),
     ("-100", False), ("1e400", False), (0, False)],
)  # fmt: skip
def test_a_printed_number_may_be_rounded_and_a_little_off(value: object, *, right: bool) -> None:
    assert codes(examine(body_of(TOTALS, printed={"output_tok_s": value}))) == (
        [] if right else ["F_REPORTED_MISMATCH"]
    )


def test_a_rounded_number_is_right_to_half_its_last_digit() -> None:
    body = body_of(rep(stream((2, 4, 9), (2, 5, 9))), printed={"mean_ttft_ms": "4.5"})
    assert examine(body) == []
    for printed, right in (("4.53", False), ("4.4", False), ("5", True), ("4.500", True)):
        body["reported"][0]["values"] = {"mean_ttft_ms": printed}
        assert (examine(body) == []) == right, printed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mean_ttft_ms", "55"), ("avg_ttft_ms", "55"), ("median_ttft_ms", "55"), ("p90_ttft_ms", "90"),
        ("p99_ttft_ms", "100"), ("mean_e2e_ms", "1055"), ("mean_e2el_ms", "1055"), ("mean_e2e_latency_ms", "1055"),
        ("mean_tpot_ms", "10"), ("output_throughput", "16.833333"), ("total_token_throughput", "17.666667"),
        ("request_throughput", "0.166667"), ("requests_per_s", "0.166667"), ("mean_decode_tok_s", "100"),
        ("total_output_tokens", "1010"),
    ],
)  # fmt: skip
def test_figures_of_common_names_are_worked_out(name: str, value: str) -> None:
    right = body_of(rep(TEN, context=5), printed={name: value})
    assert examine(right) == []
    wrong = body_of(rep(TEN, context=5), printed={name: str(int(value.partition(".")[0]) + 3)})
    assert codes(examine(wrong)) == ["F_RETOKENIZED" if name == "total_output_tokens" else "F_REPORTED_MISMATCH"]


@pytest.mark.parametrize(
    "name",
    ["mean_ttft_ms", "p90_e2e_ms", "mean_tpot_ms", "output_tok_s", "total_tok_s", "tok_s_per_gpu", "decode_tok_s",
     "max_output_tok_s", "total_output_tokens", "p0_ttft_ms", "mean_queue_ms"],
)  # fmt: skip
def test_a_figure_that_the_records_cannot_tell_is_left_alone(name: str) -> None:
    one = rep({"wall_ns": [7]}, "wall")
    assert examine(body_of(one, printed={name: "123"}, environment={"gpus": 8})) == []


def test_a_rate_of_requests_is_not_that_of_whole_runs() -> None:
    assert examine(body_of(TOTALS, printed={"request_throughput": "123"})) == []


def test_the_total_of_tokens_without_prompts_is_explained() -> None:
    (note,) = examine(body_of(TOTALS, printed={"total_tok_s": "100"}))
    assert "it matches out/duration" in note


@pytest.mark.parametrize(
    ("printed", "hint"),
    [
        ("13.636", "; it is the rate of the mean gap (at "),
        ("52.5", "; it is the rate of all gaps together (at "),
        ("100", "; it is the median of the rates (at "),
    ],
)
def test_other_ways_to_a_rate_for_one_user_are_named(printed: str, hint: str) -> None:
    uneven = stream((101, 1, 1001), (101, 1, 1001), (11, 1, 2001))
    (note,) = examine(body_of(rep(uneven), printed={"decode_tok_s": printed}))
    assert note.startswith(f"F_FORMULA: decode_tok_s {printed} is not 68.333333, which the records give; it is ")
    assert hint in note


def test_two_ways_that_are_near_to_each_other_are_one() -> None:
    near = stream((101, 1, 1001), (101, 1, 1101))
    for printed in ("95.238", "95.45"):
        assert examine(body_of(rep(near), printed={"decode_tok_s": printed})) == []


def test_a_figure_of_a_row_that_two_repetitions_share_is_compared_with_neither() -> None:
    body = body_of(TOTALS, TOTALS, printed={"output_tok_s": "7"})
    assert codes(examine(body)) == ["F_REPORTED_MISMATCH"]
    body["reps"][1] |= source(0)
    assert examine(body) == []


def test_a_figure_of_a_warm_up_or_of_a_row_that_is_not_there_is_left_alone() -> None:
    body = body_of(TOTALS | {"warmup": True}, TOTALS, printed={"output_tok_s": "7"})
    assert examine(body) == []
    body["reported"][0]["source"]["row"] = 9
    assert examine(body) == []


def test_the_pointer_to_a_name_is_escaped() -> None:
    body = body_of(TOTALS, printed={"a/b~c": "1", "output_tok_s": "7"})
    (note,) = examine(body)
    assert note.endswith("(at /reported/0/values/output_tok_s)")


# Requests.


def test_what_cannot_be_told_of_a_prompt_or_an_answer_is_not_said() -> None:
    pieces = {"completion_tokens": [9, 9], "chunks": [9, 3], "wall_ns": [S, S]}
    (note,) = examine(body_of(rep(pieces, "gen_tok_s")))
    assert note.endswith("the first of them 9 tokens in 3 pieces (at /reps/0/records)")
    times = stream((9, 1, 1), (9, 60, 140), chunks=[9, 3])
    assert "in 3 pieces: 10 ms a token, 100 tok/s (" in examine(body_of(rep(times)))[1]
    known = stream((9, 60, 140), (9, 60, 140), prompt_tokens=[5, 5], cached_tokens=[0, 5])
    (note,) = examine(body_of(rep(known, context=5)))
    assert note.endswith("a cache supplied tokens of 1 of 2 prompts (at /reps/0/records/cached_tokens/1)")


def test_answers_that_have_tokens_stay_as_they_are() -> None:
    one = rep(PIECES)
    assert fail_empty_answers(one) is one


def test_where_no_tokens_were_asked_for_none_are_missed() -> None:
    records = {"prompt_tokens": [5], "completion_tokens": [0], "wall_ns": [9]}
    assert examine(body_of(rep(records, "prefill_tok_s", context=5))) == []
    assert examine(body_of(rep(records, "wall", context=5, workload={"gen_tokens": 0}))) == []
    assert codes(examine(body_of(rep(records, "wall", context=5)))) == ["F_EMPTY_OUTPUT", "F_REQUESTS_FAILED"]


def test_a_depth_that_was_only_asked_for_is_allowed_and_said() -> None:
    records = {"prompt_tokens": [512], "wall_ns": [S]}
    behind = rep(records, "prefill_tok_s", context=4608, workload={"depth": 4096})
    assert codes(examine(body_of(behind))) == ["F_DEPTH_UNPROVEN"]
    off = rep(records, "prefill_tok_s", context=4096, workload={"depth": 4096})
    code, _, message = refusal(body_of(off))
    assert (code, "behind 4096 that were asked for, 12.5 % off" in message) == ("E_CONTEXT_MISMATCH", True)
    assert examine(body_of(rep(records, "wall", context=4608, workload={"depth": 4096}))) == []


def test_the_context_is_a_mean_over_all_repetitions_and_one_that_is_off_is_said() -> None:
    def lengths(*tokens: int) -> list[JsonObject]:
        each = [{"prompt_tokens": [count, count], "wall_ns": [S, S]} for count in tokens]
        return [rep(records, "prefill_tok_s", context=512) for records in each]

    assert examine(body_of(*lengths(512, 512))) == []
    (note,) = examine(body_of(*lengths(500, 520, 516)))
    assert note.startswith("F_CONTEXT_SPREAD: the mean length of its prompts is more than 2 % from the context (at ")
    assert note.endswith("(at /reps/0/context)")
    code, where, message = refusal(body_of(*lengths(512, 512, 400)))
    assert (code, where) == ("E_CONTEXT_MISMATCH", "/reps/2/context")
    assert "prompts had 474.7 tokens on average, -7.3 % off" in message
    apart = [rep({"prompt_tokens": [500], "wall_ns": [S]}, "prefill_tok_s", context=512, arm="candidate")]
    assert refusal(body_of(*lengths(512, 512), *apart))[1] == "/reps/2/context"


def test_the_context_of_whole_runs_is_what_the_adapter_made_of_them() -> None:
    run = rep({"completion_tokens": [1000], "wall_ns": [S]}, "output_tok_s", context=509)
    assert examine(body_of(run)) == []


def test_a_batch_is_several_prompts() -> None:
    records = {"prompt_tokens": [4096], "wall_ns": [S]}
    batch = rep(records, "prefill_tok_s", context=512, workload={"batch": 8})
    assert examine(body_of(batch)) == []


# Every round gets an answer.

COUNTS = st.one_of(st.none(), st.sampled_from([0, 1, 2, 3, 100, 2**53 - 1]), st.integers(0, 10**10))
TIMES = st.one_of(st.none(), st.sampled_from([1, MS, S, 2**53 - 1]), st.integers(1, 10**11))
NUMBERS = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10**6), st.from_regex(r"\A-?[0-9]{1,6}(\.[0-9]{1,4})?(e-?[0-9]{1,3})?\Z")
)
NAMES = st.sampled_from(
    ["output_tok_s", "total_tok_s", "tok_s_per_gpu", "request_throughput", "decode_tok_s", "mean_ttft_ms", "p90_e2e_ms",
     "p99_tpot_ms", "max_output_tok_s", "total_output_tokens", "completed", "kv_len_start", "x"]
)  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn) -> JsonObject:
    """Rounds of one shape whose cells are anything that the schema lets pass."""

    def column(cells: st.SearchStrategy[Any], size: int) -> list[Any]:
        return draw(st.lists(cells, min_size=size, max_size=size))

    reps = []
    for _ in range(draw(st.integers(1, 6))):
        size = draw(st.integers(1, 4))
        records: JsonObject = {
            "completion_tokens": column(COUNTS, size),
            "ttft_ns": column(st.sampled_from([None, 0, 1]), size),
            "e2e_ns": column(TIMES, size),
            "wall_ns": column(TIMES, size),
        }
        more: dict[str, st.SearchStrategy[Any]] = {
            "ok": st.booleans(),
            "prompt_tokens": COUNTS,
            "cached_tokens": COUNTS,
            "reasoning_tokens": COUNTS,
            "chunks": COUNTS,
            "itl_ns": st.one_of(st.none(), st.lists(st.integers(-2, S), max_size=3)),
            "prompt_sha256": st.sampled_from([None, "0" * 64, "1" * 64]),
        }
        for name in draw(st.sets(st.sampled_from(sorted(more)))):
            records[name] = column(more[name], size)
        metrics = draw(
            st.lists(
                st.sampled_from(["decode_tok_s", "ttft", "gen_tok_s", "output_tok_s", "wall"]), min_size=1, unique=True
            )
        )
        workload = draw(st.sampled_from([{}, {"depth": 7}, {"batch": 2, "concurrency": 2}, {"gen_tokens": 0}]))
        arm = draw(st.sampled_from(["main", "candidate"]))
        reps.append(
            rep(records, *metrics, arm=arm, warmup=draw(st.booleans()), wall_ns=2**53 - 1, workload=workload)
            | {"context": draw(st.sampled_from([0, 7, 100]))}
        )
    environment = draw(st.sampled_from([{"gpus": 0}, {"gpus": 8, "extra": {"peak_gbps": "1"}}]))
    weights = draw(st.sampled_from([{}, {"size": 1}, {"size": 9 * 10**15, "params": 1}]))
    return body_of(
        *reps,
        printed=draw(st.dictionaries(NAMES, st.one_of(NUMBERS, st.lists(NUMBERS, max_size=3)), max_size=4)),
        environment=environment,
        weights={"sha256": "0" * 64} | weights,
    )


def answer(body: JsonObject) -> tuple[list[str], str]:
    """Notes of a round, or code and place of its refusal."""
    try:
        return examine(body), ""
    except LedgerError as err:
        return [f"{err.code}: {err.message} (at {err.where or '/'})"], err.code


@settings(max_examples=80, deadline=None)
@given(bodies())
def test_every_round_gets_notes_or_a_refusal_of_the_catalogue_and_stays_as_it_is(body: JsonObject) -> None:
    before = deepcopy(body)
    notes, refused = answer(body)
    assert refused in {"", *CATALOGUE}
    assert set(codes(notes)) <= set(CATALOGUE)
    assert all(note.endswith(")") and "(at /" in note for note in notes)
    assert body == before


def test_an_error_repeats_no_whole_file() -> None:
    error = MalformedError("E_FIELD", "x" * 10_000, where="y" * 10_000)
    assert len(str(error)) < 3100
    assert str(error).count("…") == 2
