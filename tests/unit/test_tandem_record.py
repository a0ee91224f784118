"""A runner's record: what becomes of each member, every refusal with its place, every flag and what just has none."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError
from ledger.ingest.tandem.record import TandemRecord
from tests.support.outside import outside, outside_json
from tests.support.tandem import asked, block, encode, named, record, request, seal, warm_up

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

REQUESTS = "run.json/raw/payload/requests"


def read(found: Any) -> list[Row]:  # noqa: ANN401 - any JSON value, also a wrong one
    return TandemRecord().read(encode(found), "run.json")


def refused(found: Any) -> tuple[str, str]:  # noqa: ANN401 - as above
    with pytest.raises(MalformedError) as caught:
        read(found)
    return caught.value.code, caught.value.where


def codes(found: Any) -> list[str]:  # noqa: ANN401 - as above
    return list(dict.fromkeys(note.partition(":")[0] for row in read(found) for note in row.notes))


def measured(**changes: Any) -> list[Any]:  # noqa: ANN401 - as above
    """A warm-up and four requests, with changes to the first of them."""
    return [warm_up(), request(0, **changes), *(request(at) for at in range(1, 4))]


# Rows.


@pytest.mark.soak  # a time is measured
def test_a_record_of_thousands_of_requests_is_read_at_once() -> None:
    found = record(*(request(at, e2e_ms=5000 + at * 1.037, prompt_tokens=200 + at % 7) for at in range(4000)))
    start = time.process_time()
    assert len(read(found)) == 1
    assert time.process_time() - start < 10


def test_a_record_is_a_row_and_its_warm_ups_are_another() -> None:
    row, warm = read(record())
    assert (row.number, row.metrics, row.warmup) == (0, ("decode_tok_s", "ttft"), False)
    assert row.records == {
        "prompt_tokens": [200] * 4,
        "completion_tokens": [129] * 4,
        "ttft_ns": [500_000_000, 501_000_000, 502_000_000, 503_000_000],
        "e2e_ns": [3_700_000_000, 3_061_000_000, 2_502_000_000, 2_103_000_000],
    }
    assert (row.context, row.mean_context, row.wall_ns) == (200, True, 11_366_000_000)
    assert (row.commit, row.started_at, row.environment, row.weights) == (None, "", {}, {})
    assert row.workload == {"dataset": "made-up-row"}
    assert row.harness == {"name": "atlas-bench", "version": "0.1.0"}
    assert row.settings == {"kind": "serving"}
    assert row.notes == ()
    assert (warm.number, warm.warmup, warm.wall_ns, warm.reported) == (1, True, 4_000_250_000, {})
    assert warm.records == {
        "prompt_tokens": [200],
        "completion_tokens": [129],
        "ttft_ns": [500_000_000],
        "e2e_ns": [4_000_250_000],
    }


def test_everything_else_that_a_record_says_is_a_fact_of_something() -> None:
    row = read(record(**named(), **asked(input_tokens=200, output_tokens=256, dataset_buckets=["s", "m"])))[0]
    assert (row.commit, row.started_at) == ("abc1234", "2026-09-01T06:48:08Z")
    assert row.workload == {
        "dataset": "made-up-row",
        "prompt_tokens": 200,
        "gen_tokens": 256,
        "concurrency": 1,
        "seed": 42,
    }
    assert row.environment == {
        "gpu": "gb10",
        "gpus": 1,
        "driver": "580.1",
        "runtime": "CUDA 13.0",
        "container": "img",
        "cpu": "A725",
        "cores": 20,
        "os": "Linux",
        "kernel": "6.17",
        "memory_bytes": 128_312_147_968,
        "extra": {"arch": "arm", "fingerprint": "sha256:" + "ab" * 32},
    }
    assert row.weights == {"name": "org/model", "type": "q4"}
    assert row.settings == {
        "kind": "serving",
        "engine.id": "own",
        "engine.version": "0.3.24",
        "model.id": "org/model",
        "model.hf_id": "org/model",
        "model.quant_id": "q4",
        "model.dtype": "auto",
        "workload.concurrency": "1",
        "workload.num_requests": "4",
        "workload.warmup_requests": "1",
        "workload.temperature": "0",
        "workload.seed": "42",
        "workload.input_tokens": "200",
        "workload.output_tokens": "256",
        "workload.dataset_buckets": '["s","m"]',
        "args.speculative": "true",
        "args.draft": "[1,2]",
        "args.ratio": "0.5",
        "env.ENGINE_GRAPH": "1",
        "conditions.fan": "max",
    }


def test_what_the_runner_printed_is_kept_as_printed_and_its_digest_with_it() -> None:
    found = record()
    assert read(found)[0].reported == {"duration_s": "11.366", "raw.sha256": found["raw"]["sha256"]}


def test_a_context_is_a_mean_rounded_half_to_even_over_the_lengths_that_are_known() -> None:
    def contexts(*lengths: int | None) -> tuple[int | None, list[str]]:
        found = record(*(request(at, prompt_tokens=length) for at, length in enumerate(lengths)))
        return read(found)[0].context, codes(found)

    assert contexts(201, 202, 201, 202) == (202, [])
    assert contexts(201, 200, 201, 200) == (200, [])
    assert contexts(201, None, 203, None) == (202, ["F_CONTEXT_PARTIAL"])
    assert contexts(None, None, None, None) == (None, ["F_CONTEXT_PARTIAL"])
    found = record(*(request(at, prompt_tokens=None) for at in range(4)))
    assert "prompt_tokens" not in read(found)[0].records


def test_failures_of_warm_ups_are_kept() -> None:
    bad = warm_up(1, status="error", error_category="http-5xx", ttft_ms=None, completion_tokens=None)
    rest = warm_up(2, status="error", error_category=None)
    warm = read(record(warm_up(), bad, rest, *(request(at) for at in range(4))))[1]
    assert warm.records["ok"] == [True, False, False]
    assert warm.records["error"] == [None, "http-5xx", "failed"]
    assert warm.records["ttft_ns"] == [500_000_000, None, 502_000_000]


def test_it_is_recognised_by_its_contents() -> None:
    adapter = TandemRecord()
    assert adapter.recognises(b"\n " + encode(record()))
    assert not adapter.recognises(encode([record()]))
    assert not adapter.recognises(b'{"payload": 1}')


# Integrity.


def test_T33_a_payload_that_was_changed_is_refused() -> None:
    found = record()
    found["raw"]["payload"]["requests"][1]["ttft_ms"] = 400.0
    assert refused(found) == ("E_PAYLOAD_DIGEST", "run.json/raw/sha256")


def test_T33_the_digest_is_of_numbers_as_they_are_printed_and_of_texts_as_they_are() -> None:
    found = record(*measured(prompt_id="ä"))
    assert read(found)[0].records["ttft_ns"][0] == 500_000_000
    printed = encode(found).replace(b"500.0,", b"500.00,")
    with pytest.raises(MalformedError, match="E_PAYLOAD_DIGEST"):
        TandemRecord().read(printed, "run.json")


@pytest.mark.parametrize("name", ["config_id", "cell_id", "run_id"])
def test_T33_a_name_that_does_not_follow_from_the_record_is_refused(name: str) -> None:
    assert refused(record(**{**named(), name: "f" * 12})) == ("E_RECORD_ID", f"run.json/{name}")
    assert refused(record(**{**named(), name: 7})) == ("E_RECORD_ID", f"run.json/{name}")


@pytest.mark.parametrize(
    ("name", "without"),
    [("config_id", "args_canonical"), ("cell_id", "model"), ("cell_id", "hardware"), ("run_id", "provenance")],
)
def test_T33_a_name_is_not_checked_without_what_it_is_made_of(name: str, without: str) -> None:
    found = {**named(), name: "f" * 12}
    del found[without]
    if name == "config_id":
        del found["run_id"]  # which is made of it
    assert len(read(record(**found))) == 2


def test_T33_an_engine_whose_version_has_no_dots_is_named_whole() -> None:
    found = named()
    found["engine"]["version"] = "0.3"
    assert len(read(record(**found))) == 2
    found["engine"]["version"] = "0.4"
    assert refused(record(**found))[0] == "E_RECORD_ID"


def test_T32_a_list_that_was_cut_is_refused() -> None:
    found = record()
    found["raw"]["truncated"] = True
    assert refused(found) == ("E_TRUNCATED", "run.json/raw")
    found = record()
    found["raw"]["payload"]["requests_truncated_from"] = 53
    assert refused(seal(found)) == ("E_TRUNCATED", "run.json/raw")


def test_T32_fewer_requests_than_were_asked_for_are_refused() -> None:
    where = "run.json/raw/payload/iterations/0"
    assert refused(record(**asked(num_requests=5))) == ("E_TRUNCATED", where)
    assert refused(record(**asked(num_requests=3))) == ("E_REPORTED_MISMATCH", where)
    assert refused(record(**asked(num_requests="4"))) == ("E_REPORTED_MISMATCH", where)
    assert refused(record(**asked(warmup_requests=3))) == ("E_TRUNCATED", REQUESTS)
    listed = measured()
    assert refused(record(*listed, iterations=[block(listed, requests_total=50)])) == ("E_TRUNCATED", where)


# Requests.


def test_T24_tokens_that_the_server_did_not_count_are_refused() -> None:
    for source in ("stream-deltas", "tokenizer", None):
        found = record(*measured(token_source=source))
        assert refused(found) == ("E_TOKEN_SOURCE", f"{REQUESTS}/1/token_source")
    assert len(read(record(warm_up(token_source=None), *measured()[1:]))) == 2


def test_T26_a_measured_request_that_gives_no_rate_is_refused() -> None:
    for change in (
        {"completion_tokens": 1},
        {"completion_tokens": None},
        {"e2e_ms": 500.0},
        {"e2e_ms": None},
        {"status": "error", "error_category": "timeout"},
    ):
        assert refused(record(*measured(**change))) == ("E_UNUSABLE", f"{REQUESTS}/1"), change
    assert len(read(record(*measured(completion_tokens=2)))) == 2


def test_T26_no_success_at_all_is_named_so() -> None:
    found = record(*(request(at, status="error") for at in range(2)))
    assert refused(found) == ("E_ALL_FAILED", "run.json/raw/payload/iterations/0")


def test_T27_a_success_without_a_first_token_is_refused() -> None:
    assert refused(record(*measured(ttft_ms=None))) == ("E_TTFT_MISSING", f"{REQUESTS}/1/ttft_ms")


def test_a_first_token_after_no_time_is_no_measurement() -> None:
    assert refused(record(*measured(ttft_ms=0.0))) == ("E_ZERO_TIME", f"{REQUESTS}/1/ttft_ms")


def test_T38_iterations_of_a_record_are_rows_of_their_own() -> None:
    second = [request(at, id=f"i1-r{at:05}", ttft_ms=600.0) for at in range(4)]
    listed = [*measured(), *second]
    found = record(*listed, iterations=[block(measured()), block(second)], **asked())
    rows = read(found)
    assert [(row.number, row.warmup) for row in rows] == [(0, False), (1, False), (2, True)]
    assert rows[1].records["ttft_ns"] == [600_000_000] * 4
    assert rows[1].wall_ns == 11_366_000_000
    nameless = record(*measured(id="r1"), *second, iterations=[block(measured()), block(second)])
    assert refused(nameless) == ("E_FIELD", f"{REQUESTS}/1/id")
    assert refused(record(*measured(id="i1-r00000"))) == ("E_FIELD", f"{REQUESTS}/1/id")
    alone = record(*measured(), iterations=[block(measured()), block(measured())])
    assert refused(alone) == ("E_EMPTY_RESULTS", "run.json/raw/payload/iterations/1")


def test_T43_a_temperature_above_0_is_refused() -> None:
    where = "run.json/workload/resolved_params/temperature"
    assert refused(record(**asked(temperature=0.7))) == ("E_SAMPLING", where)
    assert refused(record(**asked(temperature="0"))) == ("E_FIELD", where)
    assert len(read(record(**asked(temperature=0.0)))) == 2


# What is printed.


def printed(**metrics: Any) -> Any:  # noqa: ANN401 - a record
    listed = measured()
    return record(*listed, iterations=[block(listed, **metrics)])


def test_T34_statistics_that_are_those_of_the_requests_are_kept() -> None:
    found = printed(
        requests_total=4,
        requests_ok=4,
        requests_failed=0,
        success_rate=1.0,
        input_tokens_total=800,
        output_tokens_total=516,
        output_tok_s=45.399,
        total_tok_s=115.784,
        req_s=0.352,
        ttft_ms={"mean": 501.5, "p50": 501.5, "p90": 502.7, "min": 500.0, "max": 503.0},
        e2e_ms={"p99": 3680.83},
        tpot_ms={"mean": 18.281, "p90": 23.5, "max": 25.0},
        decode_tok_s_per_request={"mean": 58.5, "p50": 57.0},
        itl_ms={"p50": None},
    )
    assert read(found)[0].reported["ttft_ms.p90"] == "502.7"


@pytest.mark.parametrize(
    ("metrics", "place"),
    [
        ({"requests_ok": 3}, "requests_ok"),
        ({"success_rate": 0.99}, "success_rate"),
        ({"input_tokens_total": 801}, "input_tokens_total"),
        ({"output_tok_s": 45.405}, "output_tok_s"),
        ({"ttft_ms": {"p50": 501.503}}, "ttft_ms/p50"),
        ({"e2e_ms": {"max": 3700.003}}, "e2e_ms/max"),
        ({"tpot_ms": {"mean": 18.285}}, "tpot_ms/mean"),
        ({"decode_tok_s_per_request": {"mean": 58.502}}, "decode_tok_s_per_request/mean"),
    ],
)
def test_T34_a_statistic_that_is_not_that_of_the_requests_is_refused(metrics: Any, place: str) -> None:  # noqa: ANN401
    assert refused(printed(**metrics)) == ("E_REPORTED_MISMATCH", f"run.json/raw/payload/iterations/0/{place}")


def test_T34_the_rate_of_prefill_is_that_of_as_many_prompts_as_were_under_way() -> None:
    def of(rate: float, **params: Any) -> Any:  # noqa: ANN401 - a record
        listed = measured()
        return record(*listed, iterations=[block(listed, prefill_tok_s=rate)], **(asked(**params) if params else {}))

    assert codes(of(398.804, concurrency=1)) == codes(of(797.607, concurrency=2)) == []
    where = "run.json/raw/payload/iterations/0/prefill_tok_s"
    assert refused(of(398.807, concurrency=1)) == ("E_REPORTED_MISMATCH", where)
    assert codes(of(1.0)) == []


def test_T34_the_records_own_statistics_are_those_of_the_selected_iteration() -> None:
    listed = measured()
    both: dict[str, Any] = {
        "iterations": [block(listed, req_s=0.352)],
        "metrics": block(listed, req_s=0.352, power_avg_w=77.5),
    }
    assert len(read(record(*listed, **both))) == 2
    both["metrics"] = block(listed, req_s=0.351)
    assert refused(record(*listed, **both)) == ("E_REPORTED_MISMATCH", "run.json/metrics/req_s")
    assert refused(record(metrics={"requests_ok": 5})) == ("E_REPORTED_MISMATCH", "run.json/metrics/requests_ok")


def test_T35_a_percentile_between_ranks_is_flagged() -> None:
    between = printed(decode_tok_s_per_request={"p90": 75.2})
    assert codes(between) == ["F_PERCENTILE_METHOD"]
    assert codes(printed(decode_tok_s_per_request={"mean": 58.5})) == []
    assert codes(printed(decode_tok_s_per_request=None)) == []


# Flags.


def test_T04_tokens_in_bursts_are_flagged() -> None:
    step = {"tpot_ms": {"p50": 17.8}}
    assert codes(printed(itl_ms={"p50": 3.55}, **step)) == ["F_CHUNKED"]
    assert codes(printed(itl_ms={"p50": 3.56}, **step)) == []
    assert codes(printed(itl_ms={"p50": 3.55})) == []


def test_T06_short_answers_are_flagged_from_more_than_a_tenth_on() -> None:
    def of(short: int) -> list[str]:
        return codes(record(*(request(at, completion_tokens=127 if at < short else 128) for at in range(10))))

    assert of(1) == []
    assert of(2) == ["F_SHORT_OUTPUT"]


def test_T25_an_answer_that_ended_for_its_length_at_another_is_flagged() -> None:
    cap = asked(output_tokens=129)
    assert codes(record(*measured(finish_reason="length"), **cap)) == []
    assert codes(record(*measured(finish_reason="length", completion_tokens=128), **cap)) == ["F_FINISH_CAP"]
    assert codes(record(*measured(completion_tokens=130), **cap)) == ["F_FINISH_CAP"]
    assert codes(record(*measured(completion_tokens=128), **cap)) == []


def test_T28_requests_one_after_the_other_add_up_to_their_run() -> None:
    def of(seconds: float, **changes: int) -> list[str]:
        listed = measured()
        return codes(record(*listed, iterations=[block(listed, duration_s=seconds)], **asked(**changes)))

    assert of(11.366) == []
    assert of(11.48) == []
    assert of(11.481) == ["F_CLOCK_GAP"]
    assert of(11.25) == ["F_CLOCK_GAP"]
    assert of(20.0, concurrency=2) == []


def test_T29_a_prompt_that_came_before_and_is_answered_at_once_is_flagged() -> None:
    again = {"prompt_id": "w-0"}
    assert codes(record(*measured(**again, ttft_ms=352.0), args={"enable-prefix-caching": False})) == []
    assert codes(record(*measured(**again, ttft_ms=351.0))) == ["F_PREFIX_CACHE"]
    assert codes(record(*measured(**again), args={"enable-prefix-caching": True})) == ["F_PREFIX_CACHE"]
    assert codes(record(args={"enable-prefix-caching": True})) == []


def test_T30_one_prompt_with_two_answers_is_flagged_and_with_two_lengths_it_is_another_prompt() -> None:
    assert codes(record(*measured(prompt_id="w-0"))) == []
    assert codes(record(*measured(prompt_id="w-0", completion_tokens=131))) == ["F_NONDETERMINISTIC"]
    assert codes(record(*measured(prompt_id="w-0", completion_tokens=131, prompt_tokens=201))) == ["F_PROMPT_DRIFT"]


def test_T19_a_mean_that_a_few_answers_lift_is_flagged() -> None:
    def of(ms: float) -> list[str]:
        return codes(
            record(*(request(0, id=f"i0-r{at}", prompt_id=f"q{at}") for at in range(1, 4)), request(0, e2e_ms=ms))
        )

    assert of(500.0 + 2_000.0) == []
    assert of(500.0 + 1_900.0) == ["F_MEAN_LIFTED"]


def test_T31_a_prompt_that_is_read_at_twice_the_median_rate_is_flagged() -> None:
    assert codes(record(*measured(prompt_tokens=398))) == []
    assert codes(record(*measured(prompt_tokens=399))) == ["F_PREFIX_CACHE"]


def test_T45_a_board_that_lowered_its_clocks_is_flagged() -> None:
    assert codes(printed(thermal_throttle_detected=True)) == ["F_THROTTLED"]
    assert codes(printed(thermal_throttle_detected=False)) == codes(printed(thermal_throttle_detected=None)) == []


def test_T55_a_row_that_ended_before_it_began_is_flagged() -> None:
    def of(end: object) -> list[str]:
        return codes(record(provenance={"started_at": "2026-09-01T06:48:08Z", "finished_at": end}))

    assert of("2026-09-01T06:48:07Z") == ["F_CLOCK_ORDER"]
    assert of("2026-09-01T06:48:08Z") == of(None) == of(7) == []
    assert of("2026-09-01T08:48:07+02:00") == ["F_CLOCK_ORDER"]  # later as a text
    for same_or_later in ("2026-09-01T06:48:08+00:00", "2026-09-01T06:48:08.500Z", "2026-09-01T05:48:08-01:00"):
        assert of(same_or_later) == []  # earlier as a text
    assert of("2026-09-01T06:48:07") == of("sooner") == []  # nobody knows where


def test_another_context_than_was_asked_for_is_flagged_from_2_percent_on() -> None:
    assert codes(record(**asked(input_tokens=204))) == []
    assert codes(record(**asked(input_tokens=205))) == ["F_CONTEXT_DECLARED"]


def test_one_sample_is_flagged() -> None:
    assert codes(record(request())) == ["F_N1"]


# What is no record.


@pytest.mark.parametrize(
    ("path", "value", "code", "where"),
    [
        ("raw/payload/requests", [], "E_EMPTY_RESULTS", "raw/payload/requests"),
        ("raw/payload/requests", {}, "E_EMPTY_RESULTS", "raw/payload/requests"),
        ("raw/payload/requests/0", [], "E_FORMAT", "raw/payload/requests/0"),
        ("raw/payload/requests/1/status", "cancelled", "E_FIELD", "raw/payload/requests/1"),
        ("raw/payload/requests/1/warmup", 0, "E_FIELD", "raw/payload/requests/1"),
        ("raw/payload/requests/1/ttft_ms", True, "E_FIELD", "raw/payload/requests/1/ttft_ms"),
        ("raw/payload/requests/1/ttft_ms", -1, "E_SAMPLE", "raw/payload/requests/1/ttft_ms"),
        ("raw/payload/requests/1/e2e_ms", 1e300, "E_SAMPLE", "raw/payload/requests/1/e2e_ms"),
        ("raw/payload/requests/1/completion_tokens", 12.0, "E_FIELD", "raw/payload/requests/1/completion_tokens"),
        ("raw/payload/requests/1/prompt_tokens", -2, "E_FIELD", "raw/payload/requests/1/prompt_tokens"),
        ("raw/payload/requests/1/prompt_id", 7, "E_FIELD", "raw/payload/requests/1/prompt_id"),
        ("raw/payload/iterations", [], "E_EMPTY_RESULTS", "raw/payload/iterations"),
        ("raw/payload/iterations/0/duration_s", 0.0, "E_ZERO_TIME", "raw/payload/iterations/0/duration_s"),
        ("raw/payload/iterations/0/duration_s", -1.0, "E_SAMPLE", "raw/payload/iterations/0/duration_s"),
        ("raw/payload/selected_iteration", None, "E_FIELD", "raw/payload/selected_iteration"),
        ("raw/payload/selected_iteration", 1, "E_FIELD", "raw/payload/selected_iteration"),
        ("hardware/count", 0, "E_FIELD", "hardware/gpus"),
        ("hardware/cuda", 13, "E_FIELD", "hardware/cuda"),
        ("provenance/started_at", "2026-09-01 06:48", "E_TIME", "provenance/started_at"),
        ("args/draft", [[1]], "E_FIELD", "args/draft"),
        ("args/ratio", "x" * 4097, "E_FIELD", "args/ratio"),
        ("workload/resolved_params/seed", -1, "E_FIELD", "workload/resolved_params/seed"),
    ],
)
def test_what_is_not_as_the_runner_writes_it_is_refused(path: str, value: Any, code: str, where: str) -> None:  # noqa: ANN401
    names = {name: item for name, item in named().items() if not name.endswith("_id")}
    found = record(**names, **asked())
    *steps, last = path.split("/")
    inner: Any = found
    for step in steps:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    inner[int(last) if isinstance(inner, list) else last] = value
    assert refused(seal(found)) == (code, f"run.json/{where}")


def test_the_real_records_have_the_statistics_that_others_worked_out() -> None:
    for letter in "AB":
        path = outside("tandem", f"real_runrecord_{letter}.json")
        row = TandemRecord().read(path.read_bytes(), path.name)[0]
        assert row.reported["decode_tok_s_per_request.mean"] == str(
            round(outside_json("tandem", "golden_expected.json")[path.name]["mean"], 3)
        )


CRASHES = {
    "one-token answer dropped together with its ttft": "E_UNUSABLE",
    "completion_tokens null counts as 0, dropped": "E_UNUSABLE",
    "non-positive decode time dropped": "E_UNUSABLE",
    "warm-up and failed requests dropped": "E_UNUSABLE",
    "all requests unusable": "E_UNUSABLE",
    "ttft_ms null with status ok (tool-call-only stream)": "E_TTFT_MISSING",
    "wall from selected iteration": "E_EMPTY_RESULTS",
}


def test_a_record_that_the_report_drops_requests_of_or_crashes_on_is_refused_and_the_others_are_read() -> None:
    found = {}
    for case in outside_json("tandem", "synthetic", "edge_cases.json"):
        made = case["record"]
        for at, item in enumerate(made["raw"]["payload"]["requests"]):
            item |= {"token_source": "usage", "id": item.get("id", f"i0-r{at}")}
        made["raw"]["truncated"] = False
        try:
            read(seal(made))
        except MalformedError as err:
            found[case["name"]] = err.code
    assert found == CRASHES
