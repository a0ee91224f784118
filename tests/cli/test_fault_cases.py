"""Faults of data that people reported, by their number in the collection, on their way through the commands."""

# ruff: noqa: N802 - the names of cases have capitals

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from cli.inputs import read_round
from tests.cli.program import OK, REFUSED, run
from tests.cli.samples import CODE, NODE, SLOT, WEIGHTS, make_rep, write_round
from tests.support.outside import outside
from tests.support.scoring import PARITY, make_rule, parity_point, scored_body, verdict_of
from tests.support.serving import dump, sglang_run
from tests.support.timed import ASV, GOOGLE, HYPERFINE, PYTEST, changed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Desk

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 45810\n"
NAN = float("nan")


def write(folder: Path, name: str, contents: object) -> Path:
    path = folder / name
    raw = contents if isinstance(contents, bytes) else contents.encode() if isinstance(contents, str) else None
    path.write_bytes(json.dumps(contents).encode() if raw is None else raw)
    return path


def serving_words(*files: Path | str, **slot: str) -> list[Path | str]:
    """Options for files of SGLang's benchmark."""
    axes = {"project": "demo", "node": NODE, "quant": "F32", "context": "500", "metric": "output_tok_s"} | slot
    return [
        *files,
        *("--slot", ",".join(f"{name}={value}" for name, value in axes.items())),
        *("--code", f"main={CODE['main']}", "--weights", WEIGHTS, "--harness", WEIGHTS),
        *("--commit", "main=abc1234", "--environment", "gpu=H200", "--started-at", "main=2026-11-29T20:00:00Z"),
    ]


def error_of(desk: Desk, *words: Path | str) -> dict[str, Any]:
    error = desk.run(*words, "--json", status=REFUSED).document("error")["error"]
    assert isinstance(error, dict)
    return error


def sealed(desk: Desk) -> dict[str, Any]:
    """The round of the last receipt."""
    body = json.loads(desk.receipt(desk.size - 1).read_bytes())["statement"]["predicate"]["round"]
    assert isinstance(body, dict)
    return body


def faults_of(body: dict[str, Any]) -> list[str]:
    return [fault["code"] for fault in body.get("faults", ())]


# C03


@pytest.mark.parametrize("nothing", [NAN, None])
def test_C03_a_comparison_with_a_value_that_is_missing_does_not_pass(tmp_path: Path, nothing: float | None) -> None:
    cells = "results/bench.time_sum"
    without = changed(changed(ASV, f"{cells}/0/0", nothing), f"{cells}/11/0", None)
    done = run("compare", write(tmp_path, "a.json", ASV), "--", write(tmp_path, "b.json", without), "--json")
    error = done.document("error")["error"]
    assert (done.status, error["code"]) == (REFUSED, "E_UNPAIRED")
    assert error["message"].endswith("lacks context 0, benchmark bench.time_sum, arguments/0 8")


def test_C03_a_file_of_no_tool_with_nan_is_refused_with_the_place(desk: Desk) -> None:
    path = write(desk.root, "summary.json", {"kind": "serve", "completed": 2, "mean_tpot_ms": NAN})
    sound = write(desk.root, "runs.jsonl", dump(sglang_run()))
    report = desk.run("ingest", path, "--json", status=REFUSED).document("ingest")
    assert report["files"][0]["error"]["code"] == "E_NONFINITE"
    for words in (
        ("append", *serving_words(path), "--key", desk.key("scorer")),
        ("compare", path, "--", sound),
        ("compare", sound, "--", path),
    ):
        error = error_of(desk, *words)
        assert (error["code"], error["where"]) == ("E_NONFINITE", f"{path}/mean_tpot_ms"), words


def test_C03_a_round_with_nan_is_refused_with_the_place(desk: Desk) -> None:
    path = write_round(desk.root, reported=NAN)
    error = error_of(desk, "append", path, "--key", desk.key("scorer"))
    assert (error["code"], error["where"]) == ("E_NONFINITE", "/reported")
    assert str(path) in error["message"]


# C13


def test_C13_a_round_by_hand_that_names_a_tool_is_quarantined_for_its_depth(desk: Desk) -> None:
    reps = [make_rep(at, arm, context=131_072, workload={"depth": 131_072}) for at, arm in enumerate(CODE) if at < 2]
    path = write_round(desk.root, reps=reps, slot=SLOT | {"context": 131_072}, protocol={"name": "llama-bench"})
    desk.run("append", path, "--key", desk.key("scorer"))
    assert faults_of(sealed(desk)) == ["F_DEPTH_UNPROVEN"]


# C14


@pytest.mark.parametrize("name", ["kl", "kl_max", "top1"])
def test_C14_null_at_a_depth_is_not_measured_and_the_gate_is_unresolved(tmp_path: Path, name: str) -> None:
    """The case's depths: 0.99 at 128, and null at 4096. Neither 0.495 nor 0.99 is its answer."""
    sound = parity_point(depth=128) | {"kl": "0.001", "kl_max": "0.02", "top1": "0.99"}
    points = [sound, sound | {"depth": 4096, name: None}]
    body = scored_body("r", [1300, 1300], [1000, 1000], parity=points)
    found = read_round(write(tmp_path, "round.json", body)).body
    assert found["parity"][0] == sound
    assert found["parity"][1] == {key: value for key, value in sound.items() if key != name} | {"depth": 4096}
    verdict = verdict_of(make_rule(parity=PARITY | {"depths": [128, 4096]}), "round", found)
    if name == "kl_max":  # no rule has a bar for it
        assert verdict.label == "xl"
    else:
        assert (verdict.label, verdict.code) == ("UNRESOLVED", "E_PARITY_INCOMPLETE")


def test_C14_the_literal_input_of_the_case_is_unresolved(tmp_path: Path) -> None:
    points = [
        {"arm": "candidate", "depth": depth, "trials": 100, "kl": "0.001", "top1": top1}
        for depth, top1 in ((128, "0.99"), (4096, None))
    ]
    path = write(tmp_path, "round.json", scored_body("r", [1300, 1300], [1000, 1000], parity=points))
    rule = make_rule(parity=PARITY | {"depths": [128, 4096]})
    assert verdict_of(rule, "round", read_round(path).body).label == "UNRESOLVED"
    points[1]["top1"] = "0"  # which is a measurement, and a bad one
    path = write(tmp_path, "bad.json", scored_body("r", [1300, 1300], [1000, 1000], parity=points))
    assert verdict_of(rule, "round", read_round(path).body).label == "REJECT"


def test_C14_null_for_anything_else_is_refused_as_before(tmp_path: Path, desk: Desk) -> None:
    for parity in ([{"arm": "main", "depth": None, "trials": 9}], [None], None, "none", [{"arm": "main", "kl": None}]):
        path = write(tmp_path, "r.json", json.loads(write_round(tmp_path).read_text()) | {"parity": parity})
        assert error_of(desk, "append", path, "--key", desk.key("scorer"))["code"] == "E_SCHEMA"


# C15


def test_C15_importing_twice_gives_one_receipt_and_other_contents_of_one_id_conflict(desk: Desk) -> None:
    one, other = sglang_run(), sglang_run(duration=19.5)
    path = write(desk.root, "runs.jsonl", dump(one, one, other))
    words = ("append", *serving_words(path), "--round", "r1", "--key", desk.key("scorer"), "--json")
    first = desk.run(*words).document("append")["receipts"]
    size = desk.size
    assert faults_of(sealed(desk)).count("F_ROWS_REPEATED") == 1
    assert [rep["source"]["row"] for rep in sealed(desk)["reps"]] == [0, 2]
    second = desk.run(*words).document("append")["receipts"]
    assert [item["sha256"] for item in first] == [item["sha256"] for item in second]
    assert [item["statement"] for item in first] == [item["statement"] for item in second]
    assert [item["existed"] for item in (*first, *second)] == [False, True]
    assert desk.size == size
    path.write_bytes(dump(one, sglang_run(duration=21.5)))
    assert error_of(desk, *words[:-1])["code"] == "E_ID_CONFLICT"
    assert desk.size == size


# C17


def test_C17_the_table_of_the_case_is_refused_for_its_columns(desk: Desk) -> None:
    text = 'n_prompt,repack,avg_ts,stddev_ts\n"512","7285.676949","100.064434"\n'
    path = write(desk.root, "short.csv", text)
    for words in (("append", path, "--key", desk.key("scorer")), ("append", *serving_words(path), "--key", "k")):
        error = error_of(desk, *words)
        assert (error["code"], error["message"]) == ("E_COLUMN_COUNT", "row 1 has 3 values for 4 names")
    report = desk.run("ingest", path, "--json", status=REFUSED)
    assert report.document("ingest")["files"][0]["error"]["code"] == "E_COLUMN_COUNT"
    assert "100.064434" not in report.out
    whole = write(desk.root, "whole.csv", text.replace("512", '512","0'))
    assert error_of(desk, "append", whole, "--key", desk.key("scorer"))["code"] == "E_NO_SAMPLES"


# C18


def test_C18_the_real_file_with_lines_of_a_log_has_six_rows_and_four_lines_are_read_past(desk: Desk) -> None:
    path = outside("tool-outputs", "llama-bench", "quick-test_stderr-mixed.jsonl")
    (report,) = desk.run("ingest", path, "--skip-log-lines", "--json").document("ingest")["files"]
    assert len(report["rows"]) == 6
    (note,) = {note for row in report["rows"] for note in row["notes"] if note.startswith("F_SKIPPED_LINES")}
    assert note == "F_SKIPPED_LINES: 4 lines of a log read past, as asked for"
    assert desk.run("ingest", path, status=REFUSED).status == REFUSED
    row = report["rows"][0]
    figure, slot = row["figures"][0], {"context": str(row["context"]), "quant": "Q4"}
    words = serving_words(path, **slot, metric=figure["metric"])
    words = [*words[: words.index("--commit")], "--skip-log-lines", "--row", "main=0", "--key", desk.key("scorer")]
    desk.run("append", *words)
    (attachment,) = sealed(desk)["attachments"]
    assert attachment["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert attachment["size"] == path.stat().st_size


# C20


def single(at: int, arm: str, ns: int) -> dict[str, Any]:
    return make_rep(at, arm, records={"wall_ns": [ns], "prompt_tokens": [512]}, wall_ns=ns)


def test_C20_one_sample_an_arm_is_said_of_a_round_by_hand(desk: Desk) -> None:
    reps = [single(0, "main", 1_000_000_000), single(1, "candidate", 965_000_000)]
    desk.run("append", write_round(desk.root, reps=reps), "--key", desk.key("scorer"))
    (fault,) = sealed(desk)["faults"]
    assert fault == {"code": "F_N1", "message": "one sample, which has no deviation (at /reps/0 and 1 more)"}
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    assert {fact["spread_pct"] for fact in facts} == {None}


def test_C20_who_says_it_himself_is_not_told_again_and_two_samples_have_a_deviation(desk: Desk) -> None:
    reps = [single(0, "main", 1_000_000_000), single(1, "candidate", 965_000_000)]
    mine = [{"code": "F_N1", "message": "one each"}]
    desk.run("append", write_round(desk.root, 1, reps=reps, faults=mine), "--key", desk.key("scorer"))
    assert sealed(desk)["faults"] == mine
    twice = [*reps, single(2, "main", 1_000_000_001), single(3, "candidate", 966_000_000)]
    desk.run("append", write_round(desk.root, 2, reps=twice), "--key", desk.key("scorer"))
    assert faults_of(sealed(desk)) == []


# C22


def google(unit: str, time: float, date: str) -> dict[str, Any]:
    row = {"name": "BM_x", "iterations": 1000, "real_time": time, "cpu_time": time, "time_unit": unit}
    return {"context": GOOGLE["context"] | {"date": date}, "benchmarks": [row | {"repetition_index": 0}]}


def test_C22_one_time_in_two_units_is_a_ratio_of_1_and_nothing_worse(tmp_path: Path) -> None:
    ns = write(tmp_path, "ns.json", google("ns", 1500, "2027-01-15T10:00:00+02:00"))
    us = write(tmp_path, "us.json", google("us", 1.5, "2027-01-15T11:00:00+02:00"))
    done = run("compare", ns, "--", us, "--json")
    (pair,) = done.document("compare")["pairs"]
    assert (pair["base_exact"], pair["other_exact"], pair["pairs"]) == ("1500", "1500", ["1"])
    assert pair["change_pct_exact"] == "0"
    assert "worse" not in json.dumps(pair).lower().replace('"better"', "")
    assert "0.000" in run("compare", ns, "--", us).out
    ticks = write(tmp_path, "ticks.json", google("ticks", 1500, "2027-01-15T11:00:00+02:00"))
    assert run("compare", ns, "--", ticks).code() == "E_UNIT"


# C23


@pytest.mark.parametrize("member", ["higher_is_better", "lower_is_better", "smaller_is_better", "direction", "better"])
@pytest.mark.parametrize(
    ("document", "places"),
    [
        pytest.param(HYPERFINE, ("", "results/0/"), id="hyperfine"),
        pytest.param(PYTEST, ("", "benchmarks/0/", "benchmarks/0/extra_info/"), id="pytest-benchmark"),
        pytest.param(GOOGLE, ("", "benchmarks/1/", "benchmarks/3/"), id="google-benchmark"),
    ],
)
def test_C23_a_file_that_says_which_direction_is_better_is_refused(
    tmp_path: Path, document: dict[str, Any], places: Sequence[str], member: str
) -> None:
    for place in places:
        path = write(tmp_path, "run.json", changed(document, f"{place}{member}", value=True))
        done = run("compare", path, "--", write(tmp_path, "other.json", document), "--json")
        error = done.document("error")["error"]
        assert (done.status, error["code"]) == (REFUSED, "E_DIRECTION")
        assert error["where"] == f"{path}/{place}{member}"


def test_C23_a_parameter_of_what_is_measured_may_have_such_a_name(tmp_path: Path) -> None:
    for document, place in ((HYPERFINE, "results/0/parameters/direction"), (PYTEST, "benchmarks/0/params/direction")):
        assert run("ingest", write(tmp_path, "run.json", changed(document, place, "up"))).status == OK


# C37


def test_C37_a_pointer_is_named_as_one_wherever_a_file_is_read(desk: Desk) -> None:
    pointer, key = write(desk.root, "run.json", POINTER), ("--key", desk.key("scorer"))
    sound = write(desk.root, "runs.jsonl", dump(sglang_run()))
    for words in (
        ("append", pointer, *key),
        ("append", *serving_words(pointer), *key),
        ("append", *serving_words("--arm", f"main={pointer}"), *key),
        ("append", *serving_words(sound), "--parity", f"main={pointer}", *key),
        *(("append", *serving_words(pointer), "--from", tool, *key) for tool in ("hyperfine", "asv", "llama-bench")),
        ("compare", pointer, "--", sound),
        ("compare", sound, "--", pointer),
    ):
        assert error_of(desk, *words)["code"] == "E_LFS_POINTER", words
    report = desk.run("ingest", pointer, "--json", status=REFUSED).document("ingest")
    assert report["files"][0]["error"]["code"] == "E_LFS_POINTER"
    assert desk.size == 3
