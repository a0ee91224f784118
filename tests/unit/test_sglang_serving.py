"""SGLang's bench_serving: totals or requests, contexts as measured, rows of one file, what is no number."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from ledger.errors import LedgerError, MalformedError
from ledger.ingest import ADAPTERS, recognise
from tests.support.outside import outside
from tests.support.serving import codes, dump, edited, facts, sglang_detailed, sglang_run

READ = ADAPTERS["sglang-serving"].read


def notes_of(line: dict[str, object], code: str) -> list[str]:
    (row,) = READ(dump(line), "run")
    return [note for note in row.notes if note.startswith(code)]


# Totals


def test_a_run_without_details_is_one_sample_of_its_totals() -> None:
    (row,) = READ(dump(sglang_run()), "run")
    assert row.records == {"completion_tokens": [2000], "prompt_tokens": [5000], "wall_ns": [20_000_000_000]}
    assert (row.metrics, row.context, row.mean_context, row.wall_ns) == (("output_tok_s",), 500, True, 20_000_000_000)
    assert (row.started_at, row.commit, row.environment, row.weights) == ("", None, {}, {})
    assert row.workload == {"dataset": "random", "concurrency": 8}
    assert codes(row) == ["F_TOTALS_ONLY"]
    (fact,) = facts(dump(sglang_run()), "output_tok_s", 500)
    assert fact.median == Fraction(100)


def test_what_was_measured_is_reported_and_everything_else_is_a_setting() -> None:
    (row,) = READ(dump(sglang_run(tag=None, median_itl_ms=1.25, new_option=True, total_input_text_tokens=5000)), "run")
    assert row.settings == {
        "backend": "sglang",
        "dataset_name": "random",
        "request_rate": "4.0",
        "max_concurrency": "8",
        "sharegpt_output_len": "",
        "random_input_len": "500",
        "random_output_len": "200",
        "random_range_ratio": "1.0",
        "completed": "10",
        "tag": "",
        "new_option": "true",
    }
    assert row.reported == {
        "duration": "20.0",
        "total_input_tokens": 5000,
        "total_output_tokens": 2000,
        "total_output_tokens_retokenized": 2000,
        "output_throughput": "100.0",
        "median_itl_ms": "1.25",
        "total_input_text_tokens": 5000,
    }


def test_without_a_limit_or_a_data_set_the_workload_has_none() -> None:
    (row,) = READ(dump(sglang_run(max_concurrency=None, dataset_name=None)), "run")
    assert row.workload == {}
    (row,) = READ(dump(sglang_run(max_concurrency=0)), "run")
    assert row.workload == {"dataset": "random"}


def test_what_the_server_says_of_itself_is_a_setting_but_for_secrets_and_state() -> None:
    server = {
        "model_path": "maker/model",
        "quantization": "fp8",
        "tp_size": 8,
        "zero": 0,
        "sizes": [1, 2.5],
        "enable_x": False,
        "unset": None,
        "api_key": "k",
        "port": 1,
        "random_seed": 5,
        "internal_states": [{"memory": 1}],
        "nested": [{"a": "b"}],
    }
    (row,) = READ(dump(sglang_run(server_info=server)), "run")
    assert {name: text for name, text in row.settings.items() if name.startswith("server")} == {
        "server.model_path": "maker/model",
        "server.quantization": "fp8",
        "server.tp_size": "8",
        "server.zero": "0",
        "server.sizes": "1, 2.5",
        "server.nested.0.a": "b",
    }
    assert row.weights == {"name": "maker/model", "type": "fp8"}


def test_more_settings_than_a_receipt_has_room_for_are_their_digest() -> None:
    few, many = ({f"o{at}": at for at in range(count)} for count in (150, 151))
    (row,) = READ(dump(sglang_run(server_info=few)), "run")
    assert row.settings["server.o149"] == "149"
    (row,) = READ(dump(sglang_run(server_info=many)), "run")
    assert [name for name in row.settings if name.startswith("server")] == ["server_info"]
    assert row.settings["server_info"].startswith("sha256 ")
    facts(dump(sglang_run(server_info=many)), "output_tok_s", 500)


# The context


def test_C12_the_context_is_the_measured_one_and_never_the_declared() -> None:
    raw = dump(sglang_run(random_input_len=1024, total_input_tokens=5087))
    (row,) = READ(raw, "run")
    assert row.context == 509
    assert [note for note in row.notes if "F_CONTEXT_DECLARED" in note] == [
        "F_CONTEXT_DECLARED: random_input_len is 1024, prompts have 509 tokens on average"
    ]
    (fact,) = facts(raw, "output_tok_s", 509)
    assert (fact.context, fact.median) == (509, Fraction(100))
    with pytest.raises(LedgerError) as caught:
        facts(raw, "output_tok_s", 1024)
    assert caught.value.code == "E_CONTEXT_MISMATCH"


def test_C12_the_1024_run_of_a_stranger_is_sealed_at_509() -> None:
    raw = outside("tool-outputs", "sglang-serving", "llama_3_3_70b_online_output.jsonl").read_bytes()
    (fact,) = facts(raw, "output_tok_s", 509, rows=[0])
    assert (fact.context, str(fact.median)) == (509, "1864500000000/3469390471")
    with pytest.raises(LedgerError) as caught:
        facts(raw, "output_tok_s", 1024, rows=[0])
    assert caught.value.code == "E_CONTEXT_MISMATCH"


@pytest.mark.parametrize(("tokens", "flagged"), [(5100, False), (5101, True), (4900, False), (4899, True)])
def test_two_percent_from_the_declared_context_are_a_flag(tokens: int, flagged: bool) -> None:
    assert bool(notes_of(sglang_run(total_input_tokens=tokens), "F_CONTEXT_DECLARED")) == flagged


def test_a_context_above_the_declared_one_by_eight_percent_is_refused_there() -> None:
    raw = dump(sglang_run(total_input_tokens=5400))
    with pytest.raises(LedgerError) as caught:
        facts(raw, "output_tok_s", 500)
    assert caught.value.code == "E_CONTEXT_MISMATCH"


@pytest.mark.parametrize("declared", [None, ..., "Infinity"])
def test_without_a_declared_context_there_is_nothing_to_compare(declared: object) -> None:
    assert notes_of(edited(sglang_run(), "random_input_len", declared), "F_CONTEXT_DECLARED") == []


# Rows of one file


def test_two_lines_of_one_workload_are_repetitions() -> None:
    raw = dump(sglang_run(), sglang_run(duration=40.0, output_throughput=50.0))
    (fact,) = facts(raw, "output_tok_s", 500)
    assert [rep.median for rep in fact.reps] == [Fraction(100), Fraction(50)]


@pytest.mark.parametrize("other", [{"request_rate": 8.0}, {"completed": 9}, {"backend": "vllm"}])
def test_lines_of_several_workloads_are_selected_first(other: dict[str, object]) -> None:
    raw = dump(sglang_run(), sglang_run(**other))
    with pytest.raises(LedgerError) as caught:
        facts(raw, "output_tok_s", 500)
    assert caught.value.code == "E_MIXED"
    assert [row.number for row in READ(raw, "run")] == [0, 1]
    assert len(facts(raw, "output_tok_s", 500, rows=[0])) == 1


# What is no number


def test_infinity_is_a_rate_as_text_and_says_where() -> None:
    raw = dump(sglang_run(), sglang_run(request_rate=float("inf"), server_info={"limits": [1, float("-inf")]}))
    (before, row) = READ(raw, "run")
    assert row.settings["request_rate"] == "Infinity"
    assert row.settings["server.limits"] == "1, -Infinity"
    assert row.notes[0] == "F_NONFINITE: no JSON number stands at /request_rate, /server_info/limits/1; kept as text"
    assert codes(before) == ["F_TOTALS_ONLY"]
    facts(raw, "output_tok_s", 500, rows=[1])


@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    "name", ["duration", "completed", "total_output_tokens", "median_itl_ms", "output_throughput", "max_concurrency"]
)
def test_where_a_measurement_stands_it_is_refused(word: str, name: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(dump(sglang_run(**{name: float(word)})), "run")
    assert (caught.value.code, caught.value.where) == ("E_NONFINITE", f"run/0/{name}")


def test_counts_of_a_second_tokenizer_are_a_flag_and_are_not_used() -> None:
    line = sglang_run(total_output_tokens_retokenized=1999)
    assert notes_of(line, "F_RETOKENIZED") == [
        "F_RETOKENIZED: the server counts 2000 tokens, a second tokenizer 1999; ours is the first"
    ]
    assert notes_of(sglang_run(), "F_RETOKENIZED") == []


@pytest.mark.parametrize(("highest", "flagged"), [(1000.0, False), (1000.01, True)])
def test_a_cold_first_token_is_a_flag(highest: float, flagged: bool) -> None:
    line = sglang_run(p99_ttft_ms=highest, median_ttft_ms=100.0)
    assert bool(notes_of(line, "F_COLD_FIRST")) == flagged


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("output_throughput", 100.0, 350.0),  # prompts counted as well
        ("input_throughput", 250.00000000000003, 250.1),
        ("total_throughput", 350, 349),
        ("request_throughput", 0.5, "fast"),
    ],
)
def test_what_was_printed_is_compared(name: str, right: object, wrong: object) -> None:
    assert notes_of(sglang_run(**{name: right}), "F_REPORTED_MISMATCH") == []
    assert notes_of(sglang_run(**{name: wrong}), "F_REPORTED_MISMATCH") == [
        f"F_REPORTED_MISMATCH: {name} {wrong} is not that of the samples"
    ]


# Details


def test_with_details_there_is_a_record_for_each_request() -> None:
    (row,) = READ(dump(sglang_detailed()), "run")
    assert row.records == {
        "prompt_tokens": [500, 500],
        "completion_tokens": [5, 5],
        "ttft_ns": [100_000_000] * 2,
        "e2e_ns": [140_000_000] * 2,
    }
    assert (row.metrics, row.context, codes(row)) == (("decode_tok_s", "ttft"), 500, [])
    decode, first = facts(dump(sglang_detailed()), "decode_tok_s", 500)
    assert (decode.median, first.median) == (Fraction(100), Fraction(100))
    assert [len(rep.ratios) for rep in decode.reps] == [2]


def test_C08_pieces_of_several_tokens_are_no_slow_tokens() -> None:
    line = sglang_detailed(
        output_lens=[9, 9],
        ttfts=[0.06] * 2,
        itls=[[0.04, 0.04]] * 2,
        total_output_tokens=18,
        output_throughput=18.0,
        total_output_tokens_retokenized=18,
    )
    (row,) = READ(dump(line), "run")
    assert row.notes == ("F_CHUNKED: 2 answers came in another number of pieces than they have tokens",)
    decode, _ = facts(dump(line), "decode_tok_s", 500)
    assert decode.median == Fraction(100)  # 8 tokens in 80 ms; a piece each 40 ms would be 25


@pytest.mark.parametrize(("accepted", "flagged"), [(None, False), (1.0, False), (1.01, True)])
def test_accepted_drafts_come_in_pieces_even_where_gaps_are_spread(accepted: object, flagged: bool) -> None:
    assert bool(notes_of(sglang_detailed(accept_length=accepted), "F_CHUNKED")) == flagged


def test_failed_requests_are_kept_and_are_no_fact() -> None:
    line = sglang_detailed(
        input_lens=[500, 700, 500],
        output_lens=[5, 0, 5],
        ttfts=[0.1, 0.0, 0.1],
        itls=[[0.01] * 4, [], [0.01] * 4],
        generated_texts=["", "", ""],
        errors=["", "\x1b[31mno room\n", ""],
    )
    (row,) = READ(dump(line), "run")
    assert row.records["ok"] == [True, False, True]
    assert row.records["error"] == [None, "\ufffd[31mno room\n", None]
    assert row.records["ttft_ns"] == [100_000_000, None, 100_000_000]
    assert (row.context, row.notes) == (500, ("F_REQUESTS_FAILED: 1 of 3 requests failed",))
    decode, _ = facts(dump(line), "decode_tok_s", 500)
    assert [len(rep.ratios) for rep in decode.reps] == [2]


def test_two_runs_are_two_rows() -> None:
    assert len(READ(dump(sglang_run(), sglang_run(duration=4.25)), "run")) == 2


def test_a_request_that_stands_there_twice_is_no_second_sample() -> None:
    gaps = [0.01, 0.0101, 0.0102, 0.0103]
    with pytest.raises(MalformedError) as caught:
        READ(dump(sglang_detailed(ttfts=[0.1, 0.1], itls=[gaps, gaps])), "run")
    assert (caught.value.code, caught.value.where) == ("E_COPIED_SAMPLES", "run/0/itls/1")
    (row,) = READ(dump(sglang_detailed(ttfts=[0.1, 0.11], itls=[gaps, gaps])), "run")
    assert row.records["ttft_ns"] == [100_000_000, 110_000_000]


def test_an_answer_whose_first_token_took_no_time_was_no_stream() -> None:
    with pytest.raises(MalformedError) as caught:
        READ(dump(sglang_detailed(ttfts=[0.1, 0.0])), "run")
    assert (caught.value.code, caught.value.where) == ("E_ZERO_TIME", "run/0/ttfts/1")


def test_an_answer_without_a_token_is_none() -> None:
    line = sglang_detailed(output_lens=[5, 0], itls=[[0.01] * 4, []], errors=["", ""])
    (row,) = READ(dump(line), "run")
    assert row.records["error"] == [None, "the answer has no token"]
    assert row.notes == (
        "F_N1: one request, of which no deviation is known",
        "F_EMPTY_OUTPUT: 1 request that the tool counts as completed gave no token",
        "F_REQUESTS_FAILED: 1 of 2 requests failed",
        *(
            f"F_REPORTED_MISMATCH: {name} is not that of the samples"
            for name in ("completed 2", "total_output_tokens 10", "total_input_tokens 1000")
        ),
    )


def test_older_details_have_no_prompts_and_no_errors() -> None:
    line = edited(edited(sglang_detailed(), "input_lens", ...), "errors", ...)
    (row,) = READ(dump(line), "run")
    assert (row.context, codes(row)) == (500, [])
    assert list(row.records) == ["completion_tokens", "ttft_ns", "e2e_ns"]


def test_answers_that_came_whole_have_no_rate_of_steps() -> None:
    line = sglang_detailed(itls=[[], []])
    (row,) = READ(dump(line), "run")
    assert row.metrics == ("ttft",)
    (first,) = facts(dump(line), "ttft", 500)
    assert first.median == Fraction(100)


def test_a_list_with_an_entry_per_request_is_a_detail_and_any_other_is_refused() -> None:
    (row,) = READ(dump(sglang_detailed(cached=[1, 2])), "run")
    assert "cached" not in row.settings
    with pytest.raises(MalformedError) as caught:
        READ(dump(sglang_detailed(cached=[1, 2, 3])), "run")
    assert (caught.value.code, caught.value.where) == ("E_FIELD", "run/0/cached")


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("mean_ttft_ms", 100.00000000000001, 101.0),
        ("median_ttft_ms", 100.0, 99.9),
        ("p99_ttft_ms", 100.0, 100.1),
        ("mean_e2e_latency_ms", 144.9, 145.1),  # the connection ends after the last token
        ("median_e2e_latency_ms", 140.0, 240.0),  # the time to the first token counted twice
        ("p90_e2e_latency_ms", 140.5, 0.0),
        ("total_input_tokens", 1000, 1001),
    ],
)
def test_what_was_printed_of_requests_is_compared(name: str, right: float, wrong: float) -> None:
    assert notes_of(sglang_detailed(**{name: right}), "F_REPORTED_MISMATCH") == []
    assert notes_of(sglang_detailed(**{name: wrong}), "F_REPORTED_MISMATCH") == [
        f"F_REPORTED_MISMATCH: {name} {wrong} is not that of the samples"
    ]


# What is refused


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("completed", 0, "E_ALL_FAILED"),
        ("completed", ..., "E_FIELD"),
        ("completed", True, "E_FIELD"),
        ("completed", -1, "E_FIELD"),
        ("completed", 2**60, "E_FIELD"),
        ("duration", ..., "E_FIELD"),
        ("duration", None, "E_FIELD"),
        ("duration", 0.0, "E_ZERO_TIME"),
        ("duration", 1e-10, "E_ZERO_TIME"),
        ("duration", -1.0, "E_SAMPLE"),
        ("duration", 1e300, "E_SAMPLE"),
        ("duration", [1], "E_SAMPLE"),
        ("total_output_tokens", 0, "E_NO_SAMPLES"),
        ("total_output_tokens", 1.5, "E_FIELD"),
        ("total_input_tokens", "5000", "E_FIELD"),
        ("total_input_tokens", ..., "E_FIELD"),
        ("max_concurrency", "8", "E_FIELD"),
        ("dataset_name", "", "E_FIELD"),
        ("dataset_name", 1, "E_FIELD"),
        ("lora", {"a": 1}, "E_FIELD"),
        ("median_itl_ms", [1], "E_FIELD"),
        ("server_info", [1], "E_FIELD"),
    ],
)
def test_what_is_no_run_is_refused_with_its_place(path: str, value: object, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(dump(sglang_run(), edited(sglang_run(**{path: None}), path, value)), "run")
    assert (caught.value.code, caught.value.where) == (code, f"run/1/{path}")


@pytest.mark.parametrize(
    ("path", "value", "code", "where"),
    [
        ("errors", ["a", "b"], "E_ALL_FAILED", "errors"),
        ("errors", [1, ""], "E_FIELD", "errors/0"),
        ("errors", [""], "E_FIELD", "errors"),
        ("ttfts", "0.1", "E_FIELD", "ttfts"),
        ("ttfts", [0.1, None], "E_SAMPLE", "ttfts/1"),
        ("ttfts", [0.1, float("nan")], "E_NONFINITE", "ttfts/1"),
        ("ttfts", [0.1, -0.1], "E_SAMPLE", "ttfts/1"),
        ("itls", [[], 0.1], "E_FIELD", "itls/1"),
        ("itls", [[0.1, True], []], "E_SAMPLE", "itls/0/1"),
        ("itls", [[9e6, 9e6], []], "E_SAMPLE", "itls/0"),
        ("itls", ..., "E_FIELD", "itls"),
        ("output_lens", [5, 5.5], "E_FIELD", "output_lens/1"),
        ("output_lens", [5, 2**53], "E_FIELD", "output_lens/1"),
        ("input_lens", [500, -1], "E_FIELD", "input_lens/1"),
        ("input_lens", [500], "E_FIELD", "input_lens"),
    ],
)
def test_details_that_are_none_are_refused_with_their_place(path: str, value: object, code: str, where: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(dump(edited(sglang_detailed(), path, value)), "run")
    assert (caught.value.code, caught.value.where) == (code, f"run/0/{where}")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "E_EMPTY_RESULTS"),
        (b" \n\n", "E_EMPTY_RESULTS"),
        (b"[]\n", "E_FORMAT"),
        (b"NaN\n", "E_FORMAT"),
        (dump({"completed": 1}), "E_FORMAT"),
        (dump(sglang_run())[:-9], "E_JSON"),
        (b"\xff\n", "E_UTF8"),
        (dump(sglang_run()).replace(b"20.0", b"1e999"), "E_NONFINITE"),
        (dump(sglang_run()).replace(b"20.0", b"1e-99999999"), "E_SAMPLE"),
        (dump(sglang_run(tag="\x1b[0m")), "E_DOMAIN"),
        (dump(sglang_run(dataset_name="\x1b[0m")), "E_DOMAIN"),
        (dump(sglang_run(mean_itl_ms="\x1b[0m")), "E_DOMAIN"),
        (dump(sglang_run(tag=json.loads("[" * 70 + "]" * 70))), "E_DEPTH"),
        (dump(sglang_run(server_info={"a": "\x07"})), "E_DOMAIN"),
        (dump(sglang_run() | {"\u00e9": 1}), "E_DOMAIN"),
    ],
)
def test_what_is_no_file_of_the_tool_is_refused(raw: bytes, code: str) -> None:
    with pytest.raises(MalformedError) as caught:
        READ(raw, "run")
    assert caught.value.code == code


def test_it_is_recognised_by_its_first_line() -> None:
    assert recognise(dump(sglang_run()), "run").name == "sglang-serving"
    assert recognise(dump(sglang_detailed(), sglang_run()), "run").name == "sglang-serving"
    assert not ADAPTERS["sglang-serving"].recognises(dump([sglang_run()]))


@pytest.mark.parametrize("end", [None, 0.23])
@pytest.mark.parametrize("first_gap", [0.2, 0.198, 0.202])
def test_C07_a_list_of_gaps_that_begins_with_the_first_token_is_refused(first_gap: float, end: float | None) -> None:
    ends = {} if end is None else {"latencies": [0.14, end]}
    line = sglang_detailed(
        output_lens=[5, 4],
        ttfts=[0.1, 0.2],
        itls=[[0.01] * 4, [first_gap, 0.01, 0.01, 0.01]],
        total_output_tokens=9,
        **ends,
    )
    with pytest.raises(MalformedError) as caught:
        READ(dump(line), "run")
    assert (caught.value.code, caught.value.where) == ("E_ITL_SUM", "run/0/itls/1/0")


@pytest.mark.parametrize("first_gap", [0.197, 0.203, 0.01])
def test_C07_more_pieces_than_tokens_are_no_first_token(first_gap: float) -> None:
    gaps = [first_gap, 0.01, 0.01, 0.01]
    (row,) = READ(dump(sglang_detailed(output_lens=[5, 4], ttfts=[0.1, 0.2], itls=[[0.01] * 4, gaps])), "run")
    assert "F_CHUNKED" in codes(row)


def test_C07_gaps_that_end_after_the_request_are_refused_in_chunks_too() -> None:
    line = sglang_detailed(output_lens=[5, 4], ttfts=[0.1, 0.2], itls=[[0.01] * 4, [0.2, 0.015, 0.015]])
    with pytest.raises(MalformedError) as caught:
        READ(dump(line | {"latencies": [0.14, 0.23]}), "run")
    assert (caught.value.code, caught.value.where) == ("E_ITL_SUM", "run/0/itls/1")
    (row,) = READ(dump(line | {"latencies": [0.14, 0.43]}), "run")
    assert row.records["e2e_ns"] == [140_000_000, 430_000_000]
