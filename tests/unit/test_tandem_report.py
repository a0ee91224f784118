"""A report of row runs with its records and logs: rows, every refusal with its place, and every flag."""

# ruff: noqa: N802 - the names of traps have capitals

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import MalformedError, RefusedError
from ledger.ingest.build import build_round
from ledger.ingest.companions import Companion, attachment_name, leads_down, read_whole
from ledger.ingest.llama_bench import LlamaBench
from ledger.ingest.options import RoundOptions
from ledger.ingest.run import Run
from ledger.ingest.tandem.report import TandemReport, read_report
from tests.support.tandem import (
    asked,
    encode,
    files_of,
    log_line,
    log_of,
    named,
    record,
    report,
    request,
    run_record,
    seal,
    warm_up,
)

if TYPE_CHECKING:
    from ledger.ingest.adapter import Row

PATHS = [f"base/raw-{number}/run.json" for number in (1, 2, 3)]
PRINTED = ["n", "mean", "p50", "p90", "max", "ttft_p50_ms", "wall_s", "requests", "blocks", "tok_blk", "ms_blk"]
PRINTED += ["tok_blk_p50", "ms_blk_p50"]
LOGS = [f"base/server-slice-{number}.log" for number in (1, 2, 3)]


def read(found: Any, files: dict[str, bytes] | None = None) -> list[Row]:  # noqa: ANN401 - any JSON value
    return TandemReport().read_with(encode(found), files_of() if files is None else files, "row.json")


def refused(found: Any, files: dict[str, bytes] | None = None) -> tuple[str, str]:  # noqa: ANN401 - as above
    with pytest.raises(MalformedError) as caught:
        read(found, files)
    return caught.value.code, caught.value.where


def codes(found: Any, files: dict[str, bytes] | None = None) -> list[str]:  # noqa: ANN401 - as above
    return list(dict.fromkeys(note.partition(":")[0] for row in read(found, files) for note in row.notes))


def changed(number: int, **changes: Any) -> Any:  # noqa: ANN401 - a report
    """The report with changes to what it printed about a run."""
    found = report()
    found["runs"][number] |= changes
    return found


def with_log(*lines: str) -> dict[str, bytes]:
    """The files, with another log of the first run."""
    return files_of() | {LOGS[0]: "\n".join(lines).encode()}


# Rows.


def test_a_run_is_a_row_with_the_rounds_of_its_log_and_warm_ups_follow() -> None:
    rows = read(report())
    assert [(row.number, row.warmup) for row in rows] == [(0, False), (1, False), (2, False)] + [
        (number, True) for number in (3, 4, 5)
    ]
    assert rows[1].metrics == ("decode_tok_s", "ttft", "tokens_per_round", "ms_per_round")
    assert rows[1].records == {
        "prompt_tokens": [200] * 4,
        "completion_tokens": [129] * 4,
        "ttft_ns": [501_000_000, 502_000_000, 503_000_000, 504_000_000],
        "e2e_ns": [3_709_000_000, 3_070_000_000, 2_511_000_000, 2_112_000_000],
        "rounds": [32] * 4,
        "decode_ns": [3_208_000_000, 2_568_000_000, 2_008_000_000, 1_608_000_000],
    }
    assert (rows[1].context, rows[1].wall_ns, rows[1].notes) == (200, 11_402_000_000, ())
    assert (rows[4].metrics, "rounds" in rows[4].records) == (("decode_tok_s", "ttft"), False)
    assert rows[4].wall_ns == 4_001_250_000


def test_what_the_report_says_is_settings_commit_code_and_what_it_printed() -> None:
    rows = read(report())
    assert (rows[0].commit, rows[0].code_sha256) == ("d" * 40, "c0" * 32)
    assert rows[0].harness == {"name": "row3", "version": "atlas-bench 0.1.0"}
    assert rows[0].settings == {
        "args.max_len": "4096",
        "args.port": "8011",
        "args.runs": "3",
        "args.env": '["GRAPH=1"]',
        "args.no_server": "false",
        "env.GRAPH": "1",
        "server_arg": '["--drop-idle"]',
        "spec": "packets/row.json",
        "restart_each": "false",
        "suffix_store": "off",
        "server_cmd": '["python","server.py","--port","8011","--max-len","4096","--drop-idle"]',
        "record.kind": "serving",
    }
    assert rows[0].reported["label"] == "base"
    assert rows[0].reported["p50"] == "57.0"
    assert rows[0].reported["taken"] == "2026-11-29T10:05:00+0100"
    assert "label" not in rows[1].reported
    assert rows[1].reported["tag"] == "2"


def test_an_older_report_says_less_and_is_read_all_the_same() -> None:
    found = report()
    for name in ("suffix_store", "args", "server_cmd", "code_sha256", "git_head", "accept_curve", "first_miss"):
        del found[name]
    for run in found["runs"]:
        for name in ("requests", "blocks", "tok_blk", "ms_blk", "tok_blk_p50", "ms_blk_p50", "accept", "matched"):
            del run[name]
    files = {name: raw for name, raw in files_of().items() if name in PATHS}
    rows = read(found, files)
    assert (rows[0].code_sha256, rows[0].commit) == (None, None)
    assert rows[0].metrics == ("decode_tok_s", "ttft")
    assert codes(found, files) == ["F_STORE_UNKNOWN"]


def test_facts_of_node_and_engine_are_those_of_the_records() -> None:
    made = seal(run_record(0) | {name: item for name, item in named().items() if name in {"engine", "hardware"}})
    found = report(git_head=None)
    row = read(found, files_of() | {PATHS[0]: encode(made)})[0]
    assert (row.commit, row.environment["gpu"]) == ("abc1234", "gb10")
    assert row.settings["record.engine.version"] == "0.3.24"


def test_the_context_is_the_mean_of_all_prompts_and_a_spread_of_it_is_flagged() -> None:
    def of(tokens: int) -> tuple[int | None, list[str]]:
        made = run_record(2)
        for item in made["raw"]["payload"]["requests"]:
            item["prompt_tokens"] = tokens
        files = files_of() | {PATHS[2]: encode(seal(made)), LOGS[2]: log_of(made)}
        return read(report(), files)[0].context, codes(report(), files)

    assert of(204) == (201, ["F_PROMPT_DRIFT"])
    assert of(205) == (202, ["F_PROMPT_DRIFT", "F_CONTEXT_SPREAD"])


# Companions.


def test_a_report_names_its_records_and_the_logs_beside_them() -> None:
    adapter = TandemReport()
    assert adapter.companions(encode(report()), "row.json") == [
        *(Companion(name=name, needed=True) for name in PATHS),
        *(Companion(name=name, needed=False) for name in LOGS),
    ]
    reading = read_whole(adapter, encode(report()), "row.json", files_of().get)
    assert reading.companions == files_of()
    assert len(reading.rows) == 6
    records = {name: raw for name, raw in files_of().items() if name in PATHS}
    assert read_whole(adapter, encode(report()), "row.json", records.get).companions == records


def test_a_record_that_is_not_there_is_named() -> None:
    files = {name: raw for name, raw in files_of().items() if name != PATHS[1]}
    with pytest.raises(MalformedError, match=f"E_COMPANION.*{PATHS[1]}"):
        read_whole(TandemReport(), encode(report()), "row.json", files.get)
    assert refused(report(), files) == ("E_COMPANION", "row.json/runs/1")
    with pytest.raises(MalformedError, match="E_COMPANION"):
        TandemReport().read(encode(report()), "row.json")


def test_a_tool_whose_files_name_no_others_fetches_nothing() -> None:
    with pytest.raises(MalformedError, match="E_EMPTY_RESULTS"):
        read_whole(LlamaBench(), b"[]", "a file", lambda _: pytest.fail("nothing is to be fetched"))


@pytest.mark.parametrize(
    ("name", "called"),
    [("a/b.json", "a/b.json"), ("../a/./b.json", "a/b.json"), ("/home/me/b.json", "home/me/b.json")],
)
def test_an_attachment_is_called_as_its_path_without_what_leads_out(name: str, called: str) -> None:
    assert attachment_name(name) == called


@pytest.mark.parametrize(
    "name",
    [
        "../a/run.json",
        "a/../../b/run.json",
        "a/..",
        "/etc/passwd",
        "//host/share/run.json",
        "." * 256 + "run.json",
        "C:/a/run.json",
        "C:run.json",
    ],
)
def test_a_path_that_does_not_lead_down_is_refused_before_anything_is_fetched(name: str) -> None:
    def fetch(asked: str) -> bytes | None:
        assert asked != name
        return files_of().get(asked)

    with pytest.raises(MalformedError, match=r"E_COMPANION.*no root, drive") as caught:
        read_whole(TandemReport(), encode(changed(1, record=name)), "row.json", fetch)
    assert caught.value.where == "row.json"


@pytest.mark.parametrize("name", ["run.json", "./a/run.json", "a/b/c/run.json", "a/..b/run..json", ".hidden/run.json"])
def test_a_path_that_leads_down_is_fetched(name: str) -> None:
    assert leads_down(name)


@pytest.mark.parametrize("name", ["", ".", "..\\a", "\\a", "a\\..\\b", "d:\\a", "a/" + "b" * 256])
def test_what_leads_nowhere_or_up_on_some_system_does_not_lead_down(name: str) -> None:
    assert not leads_down(name)


@pytest.mark.parametrize("name", ["a b/run.json", "", "../", "a=b", "a,b", "ä"])
def test_a_path_that_cannot_be_recorded_is_refused(name: str) -> None:
    assert refused(changed(1, record=name)) == ("E_FIELD", "row.json/runs/1/record")


# Copies.


def test_T37_one_path_for_two_runs_is_refused_before_anything_is_fetched() -> None:
    assert refused(changed(2, record=PATHS[0]), {}) == ("E_COPIED_SAMPLES", "row.json/runs/2/record")


def test_T02_a_record_that_is_another_one_is_refused() -> None:
    copy = files_of() | {PATHS[1]: files_of()[PATHS[0]], LOGS[1]: files_of()[LOGS[0]]}
    found = report()
    found["runs"][1] = found["runs"][0] | {"tag": "2", "record": PATHS[1]}
    assert refused(found | {"summary": {}}, copy) == ("E_COPIED_SAMPLES", "row.json/runs/1")


def test_T02_records_of_one_name_are_one_run() -> None:
    files = files_of() | {path: encode(run_record(at) | {"run_id": "x"}) for at, path in enumerate(PATHS[:2])}
    assert refused(report(), files) == ("E_COPIED_SAMPLES", "row.json/runs/1")


def plain_report(*made: Any) -> tuple[Any, dict[str, bytes]]:  # noqa: ANN401 - a report and its files
    """A report of any records, which prints nothing of them."""
    runs = [{"tag": str(at), "record": f"r{at}.json", "bench_wall_s": 1.0} for at in range(len(made))]
    files = {f"r{at}.json": encode(each) for at, each in enumerate(made)}
    return report(size=0, accept_curve=[], args={}) | {"runs": runs}, files


def test_T02_half_of_the_times_of_another_run_are_a_copy() -> None:
    def of(shared: int) -> str:
        other = [
            request(at) if at < shared else request(at, ttft_ms=510.5 + at, e2e_ms=3800.5 - 300 * at) for at in range(4)
        ]
        found, files = plain_report(record(), record(warm_up(), *other[::-1]))
        return refused(found, files)[0] if shared > 1 else str(codes(found, files))

    assert of(2) == "E_COPIED_SAMPLES"
    assert of(1) == "[]"


def test_T02_means_that_agree_to_six_decimals_are_a_copy() -> None:
    later = [request(at, ttft_ms=600.0 + at, e2e_ms=request(at)["e2e_ms"] + 100) for at in range(4)]
    found, files = plain_report(record(), record(warm_up(), *later))
    assert refused(found, files) == ("E_COPIED_SAMPLES", "row.json/runs/1")


def test_T02_two_reports_with_one_record_are_no_round() -> None:
    runs = [
        Run(role=role, name=f"{role}.json", raw=role.encode(), rows=read(report()), companions=files_of())
        for role in ("main", "candidate")
    ]
    options = RoundOptions(
        tool="tandem-report",
        slot={"project": "p", "node": "n", "quant": "q", "context": "200", "metric": "decode_tok_s"},
        code={},
        weights="0" * 64,
        harness="0" * 64,
        environment={"gpu": "x"},
        started_at={"main": ["2026-11-29T10:00:00Z"], "candidate": ["2026-11-29T10:10:00Z"]},
    )
    with pytest.raises(RefusedError) as caught:
        build_round(runs, options)
    assert caught.value.code == "E_COPIED_SAMPLES"


# The log.


def test_T22_a_log_of_some_of_the_requests_leaves_the_others_without_rounds() -> None:
    requests = [item | {"completion_tokens": 140 - at} for at, item in enumerate([warm_up(), *map(request, range(4))])]
    made = record(*requests)
    found, files = plain_report(made)
    found["runs"][0] |= {"blocks": 128, "tok_blk": 4.0}
    files["server-slice-0.log"] = "\n".join(log_line(item) for at, item in enumerate(requests) if at != 2).encode()
    found["runs"][0]["record"] = "x/r0.json"
    files = {"x/r0.json": files["r0.json"], "server-slice-0.log": files["server-slice-0.log"]}
    rows = read(found, files)
    assert rows[0].records["rounds"] == [32, None, 32, 32]
    assert rows[0].records["decode_ns"][:2] == [3_200_000_000, None]
    assert codes(found, files) == ["F_LOG_MISMATCH"]


def test_T22_lines_that_could_be_of_several_requests_are_of_none() -> None:
    lines = [log_line(item) for item in run_record(0)["raw"]["payload"]["requests"]]
    rows = read(report(), with_log(*lines[1:]))
    assert rows[0].metrics == ("decode_tok_s", "ttft")
    assert rows[1].metrics[2:] == ("tokens_per_round", "ms_per_round")
    assert codes(report(), with_log(*lines[1:])) == ["F_LOG_MISMATCH"]


@pytest.mark.parametrize("line", ["[req] cut", log_line(request(0, completion_tokens=130)), log_line(request())])
def test_T22_a_line_too_few_or_too_many_does_not_fit(line: str) -> None:
    lines = [log_line(item) for item in run_record(0)["raw"]["payload"]["requests"]]
    assert codes(report(), with_log(*lines, line)) == ([] if line == "[req] cut" else ["F_LOG_MISMATCH"])


def test_T22_rounds_that_committed_other_tokens_than_the_answer_has_are_flagged() -> None:
    requests = run_record(0)["raw"]["payload"]["requests"]
    lines = [log_line(item, committed=127) for item in requests]
    assert codes(report(), with_log(*lines)) == ["F_LOG_MISMATCH"]


def test_T23_a_log_without_a_request_is_flagged() -> None:
    assert codes(report(), with_log("server: up")) == ["F_LOG_EMPTY"]
    assert codes(report(), files_of() | {LOGS[0]: b""}) == ["F_LOG_EMPTY"]
    assert codes(report(), files_of() | {LOGS[0]: b"\xff\xfe[req] "}) == ["F_LOG_EMPTY"]


def test_figures_of_rounds_without_their_log_are_flagged() -> None:
    files = {name: raw for name, raw in files_of().items() if name in PATHS}
    assert codes(report(), files) == ["F_LOG_ABSENT"]


def test_T43_a_line_that_was_sampled_is_refused() -> None:
    lines = [log_line(item) for item in run_record(0)["raw"]["payload"]["requests"]]
    assert refused(report(), with_log(*lines, log_line(request(), end=" temp=0.7"))) == ("E_SAMPLING", f"{LOGS[0]}/5")
    greedy = [line + " temp=0.0" for line in lines]
    assert codes(report(), with_log(*greedy)) == []


def test_an_answer_without_rounds_has_none_and_the_report_does_not_count_it() -> None:
    requests = run_record(0)["raw"]["payload"]["requests"]
    lines = [log_line(item, blocks=0 if at == 1 else 32) for at, item in enumerate(requests)]
    told = changed(0, requests=3, blocks=96, accept={"15": {"3": 96}}, ms_blk=None, tok_blk_p50=None, ms_blk_p50=None)
    told |= {"summary": {}, "accept_curve": [], "first_miss": {}}
    rows = read(told, with_log(*lines))
    assert rows[0].records["rounds"] == [None, 32, 32, 32]
    assert rows[0].notes == ("F_FACTORS: tokens a round over time a round is more than 3 % from the clients' rate",)


def test_T20_factors_that_are_not_the_rate_are_flagged() -> None:
    def of(share: float) -> list[str]:
        requests = run_record(0)["raw"]["payload"]["requests"]
        lines = [log_line(item, decode_ms=round((item["e2e_ms"] - item["ttft_ms"]) * share, 3)) for item in requests]
        told = changed(0, ms_blk=None, ms_blk_p50=None) | {"summary": {}}
        return codes(told, with_log(*lines))

    assert of(0.975) == []
    assert of(0.965) == ["F_FACTORS"]
    assert of(0.0) == []


# What is printed.


@pytest.mark.parametrize("name", PRINTED)
def test_T34_a_statistic_of_a_run_that_is_not_that_of_its_requests_is_refused(name: str) -> None:
    value = report()["runs"][1][name]
    assert refused(changed(1, **{name: value * (1 + 2e-9)})) == ("E_REPORTED_MISMATCH", f"row.json/runs/1/{name}")
    assert codes(changed(1, **{name: value * (1 + 2e-10)})) == []


@pytest.mark.parametrize("end", ["median", "min", "max", "spread_pct"])
@pytest.mark.parametrize("name", ["mean", "wall_s", "ms_blk"])
def test_T34_a_summary_that_is_not_that_of_its_runs_is_refused(name: str, end: str) -> None:
    found = report()
    found["summary"][name][end] += 1e-6
    assert refused(found) == ("E_REPORTED_MISMATCH", f"row.json/summary/{name}/{end}")


@pytest.mark.parametrize(
    ("member", "value", "place"),
    [
        ("accept_curve", [{"slot": 4, "rate": 0.001, "n": 384}], "accept_curve/0/rate"),
        ("accept_curve", [{"slot": 5, "rate": None, "n": 1}], "accept_curve/0/n"),
        ("first_miss", {"4": 383}, "first_miss/4"),
    ],
)
def test_T34_acceptance_that_is_not_that_of_the_logs_is_refused(member: str, value: Any, place: str) -> None:  # noqa: ANN401
    assert refused(report(**{member: value})) == ("E_REPORTED_MISMATCH", f"row.json/{place}")
    assert refused(changed(0, accept={"15": {"3": 127}})) == ("E_REPORTED_MISMATCH", "row.json/runs/0/accept")


def test_a_place_in_the_draft_is_one_of_fifteen() -> None:
    assert refused(report(accept_curve=[{"slot": 16}])) == ("E_FIELD", "row.json/accept_curve/0")


def test_T35_a_percentile_by_another_rank_is_flagged() -> None:
    requests = [request(at % 4, id=f"i0-r{at}", prompt_id=f"p{at}", e2e_ms=3000.5 + 100 * at) for at in range(6)]
    found, files = plain_report(record(*requests))
    assert codes(found, files) == []
    rates = sorted(128_000 / (item["e2e_ms"] - item["ttft_ms"]) for item in requests)
    found["runs"][0]["p90"] = rates[4]  # the rank 4.5 from 0, half to even
    assert codes(found, files) == ["F_PERCENTILE_METHOD"]
    found["runs"][0]["p90"] = rates[5]
    assert refused(found, files) == ("E_REPORTED_MISMATCH", "row.json/runs/0/p90")


# The rest.


def test_T10_a_report_that_was_stopped_early_is_flagged() -> None:
    found = report(size=2)
    assert codes(found) == []
    found["args"]["runs"] = 3
    assert codes(found) == ["F_RUNS_FEWER"]
    assert refused(report() | {"runs": []}) == ("E_EMPTY_RESULTS", "row.json/runs")


def test_T07_a_store_that_takes_in_answers_is_refused_and_an_unknown_one_flagged() -> None:
    assert refused(report(suffix_store="live-rw")) == ("E_STORE", "row.json/suffix_store")
    for store in ("off", "clean", "live"):
        assert codes(report(suffix_store=store)) == []
    assert codes(report(suffix_store="other")) == ["F_STORE_UNKNOWN"]


def test_what_holds_for_the_whole_report_is_said_of_every_run() -> None:
    rows = read(report(suffix_store="other"))
    assert [len(row.notes) for row in rows] == [1, 1, 1, 0, 0, 0]


def test_T38_a_record_of_several_iterations_is_not_pooled() -> None:
    second = [request(at, id=f"i1-r{at:05}") for at in range(4)]
    first = [request(at) for at in range(4)]
    found, files = plain_report(record(*first, *second, iterations=[{"duration_s": 11.366}] * 2))
    assert refused(found, files) == ("E_ITERATIONS", "row.json/runs/0")


def test_T39_code_that_is_nothing_is_refused_and_that_of_another_server_is_not_tied() -> None:
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert refused(report(code_sha256=nothing)) == ("E_NO_CODE", "row.json/code_sha256")
    assert refused(report(code_sha256="c0"))[0] == "E_DIGEST"
    assert refused(report(code_sha256=7)) == ("E_FIELD", "row.json/code_sha256")
    found = report(args={"no_server": True})
    assert read(found)[0].code_sha256 is None
    assert codes(found) == ["F_CODE_UNTIED"]


@pytest.mark.parametrize(
    "members",
    [
        {"server_cmd": ["python", "--max-len", "2048", "--drop-idle"]},
        {"server_cmd": ["python", "--port", "8012", "--drop-idle"]},
        {"server_cmd": ["python"], "args": {"server_arg": ["--drop-idle"]}},
        {"env": {"GRAPH": "0"}},
        {"env": {}},
    ],
)
def test_T41_an_option_that_is_said_in_two_ways_is_flagged(members: Any) -> None:  # noqa: ANN401 - members of a report
    assert codes(report(**members)) == ["F_SETTINGS_DIFFER"]


def test_T41_what_is_said_once_contradicts_nothing() -> None:
    assert codes(report(server_cmd=None)) == []
    assert codes(report(server_cmd=["python", "--port"], args=None)) == []


def test_what_forbids_a_record_forbids_the_report() -> None:
    cut = run_record(1)
    cut["raw"]["truncated"] = True
    assert refused(report(), files_of() | {PATHS[1]: encode(cut)}) == ("E_TRUNCATED", f"{PATHS[1]}/raw")
    other = seal(run_record(1) | asked(temperature=1))
    assert refused(report(), files_of() | {PATHS[1]: encode(other)})[0] == "E_SAMPLING"


@pytest.mark.parametrize(
    ("member", "value", "code", "where"),
    [
        ("runs", {}, "E_EMPTY_RESULTS", "runs"),
        ("runs", [7], "E_FORMAT", "runs/0"),
        ("runs", [{"tag": "1"}], "E_FIELD", "runs/0/record"),
        ("runs", [{"tag": 1, "record": "a"}], "E_FIELD", "runs/0/tag"),
        ("label", 7, "E_FIELD", "label"),
        ("git_head", "a b", "E_FIELD", "git_head"),
        ("args", 7, "E_FORMAT", "args"),
        ("summary", [1], "E_FORMAT", "summary"),
        ("summary", {"mean": 7}, "E_FORMAT", "summary/mean"),
        ("env", {"A": [[1]]}, "E_FIELD", "env/A"),
    ],
)
def test_what_is_not_as_the_tool_writes_it_is_refused(member: str, value: Any, code: str, where: str) -> None:  # noqa: ANN401
    assert refused(report(**{member: value})) == (code, f"row.json/{where}")


def test_a_report_can_be_read_for_its_statistics() -> None:
    found = read_report(json.dumps(report()).encode(), files_of(), "row.json")
    assert (found.label, found.context, [run.tag for run in found.runs]) == ("base", 200, ["1", "2", "3"])
    assert found.runs[0].statistics["tok_blk"] == 4
    assert found.runs[0].statistics["wall_s"] * 1000 == 11366
    assert TandemReport().recognises(b" " + encode(report()))
    assert not TandemReport().recognises(encode([report()]))
