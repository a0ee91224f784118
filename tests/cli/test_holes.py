"""Ways in which a number came to look better than it was, elsewhere: here the door refuses them.

``k3`` and a letter with a number is a hole that another benchmark's bot had, ``C`` and a number is a fault of a data
file that people reported; both are named as in the project's collections of them.
"""

# ruff: noqa: N802 - the names of holes and faults have capitals

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.forge import seal_anything
from tests.cli.program import OK, REFUSED, REFUTED, run, run_process
from tests.cli.samples import CODE, REAL_ROUND, RUNS, SLOT, make_rep, make_round, slot_text, tool_words, write_round
from tests.support.timed import ASV

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Desk

MAIN = RUNS / "round1_1a_main.json"
JSONL = RUNS / "noise_1a_main.jsonl"
REPS = [make_rep(0, "main"), make_rep(1, "candidate")]


def refusal(desk: Desk, *words: str | Path, by: str = "scorer") -> dict[str, Any]:
    """The error of an append that must be refused whole."""
    done = desk.run("append", *words, "--key", desk.key(by), "--json", status=REFUSED)
    error = done.document("error")["error"]
    assert isinstance(error, dict)
    assert desk.size == 3
    assert not desk.receipt(3).exists()
    return error


def append(desk: Desk, *words: str | Path) -> dict[str, Any]:
    """The sealed round of an append that must succeed."""
    desk.run("append", *words, "--key", desk.key("scorer"))
    body = json.loads(desk.receipt(desk.size - 1).read_bytes())["statement"]["predicate"]["round"]
    assert isinstance(body, dict)
    return body


def edited(desk: Desk, text: str, name: str = "edited.json") -> Path:
    path = desk.root / name
    path.write_text(text)
    return path


def with_records(**records: list[Any]) -> list[dict[str, Any]]:
    """Two repetitions with these columns, beside or in place of their own."""
    return [{**rep, "records": {**rep["records"], **records}} for rep in REPS]


# A, B: parity, tiers, slots.


def test_k3_A5_agreement_without_the_number_of_trials_is_refused(desk: Desk) -> None:
    parity = [{"arm": "main", "depth": 512, "top1": "0.90"}]
    error = refusal(desk, write_round(desk.root, parity=parity))
    assert "trials" in error["message"]
    error = refusal(desk, write_round(desk.root, parity=[{**parity[0], "trials": 0}]))
    assert error["where"].endswith("/parity/0/trials")


def test_k3_A7_a_rounded_binary_fraction_is_refused_and_the_decimal_is_kept_to_the_last_digit(desk: Desk) -> None:
    parity = [{"arm": "main", "depth": 512, "trials": 64, "kl": 0.0041}]
    assert refusal(desk, write_round(desk.root, parity=parity))["code"] == "E_FRACTION"
    exact = "0.00404612345678901234567890"
    assert append(desk, write_round(desk.root, parity=[{**parity[0], "kl": exact}]))["parity"][0]["kl"] == exact


def test_k3_B1_a_slot_that_lacks_an_axis_is_refused_and_never_filled_with_a_default(desk: Desk) -> None:
    for axis in SLOT:
        slot = {name: value for name, value in {**SLOT, "context": 512}.items() if name != axis}
        assert axis in refusal(desk, write_round(desk.root, slot=slot))["message"]
        assert f"--slot {axis}=" in refusal(desk, *tool_words(("main", MAIN), slot=slot_text(**{axis: ""})))["message"]


@pytest.mark.parametrize("context", [128, 131072, 0])
def test_k3_B9_the_context_of_the_slot_must_be_the_one_that_was_measured(desk: Desk, context: int) -> None:
    error = refusal(desk, write_round(desk.root, slot={**SLOT, "context": context}))
    assert (error["code"], error["where"].split()[-1]) == ("E_CONTEXT_MISMATCH", "/slot")
    assert "prefill_tok_s at 512" in error["message"]
    error = refusal(desk, *tool_words(("main", MAIN), slot=slot_text(context=str(context))))
    assert error["code"] == "E_CONTEXT_MISMATCH"


def test_k3_B9_every_arm_must_have_run_at_the_context_of_the_slot(desk: Desk) -> None:
    reps = [make_rep(0, "main"), make_rep(1, "candidate", context=64)]
    error = refusal(desk, write_round(desk.root, reps=reps))
    assert error["code"] == "E_CONTEXT_MISMATCH"
    assert "candidate" in error["message"]


def test_k3_B10_a_guard_that_was_not_measured_in_the_round_is_refused(desk: Desk) -> None:
    error = refusal(desk, write_round(desk.root, guards=[{"metric": "gen_tok_s", "context": 512}]))
    assert (error["code"], error["where"].split()[-1]) == ("E_GUARD_UNMEASURED", "/guards/0")


@pytest.mark.parametrize(
    "guards",
    ["none", {}, None, ["gen_tok_s"], [{}], [{"metric": "gen_tok_s"}], [{"metric": "speed", "context": 512}]],
    ids=json.dumps,
)
def test_k3_B12_malformed_guards_are_refused_and_are_not_no_guards(desk: Desk, guards: object) -> None:
    path = edited(desk, json.dumps({**make_round(), "guards": guards}))
    error = refusal(desk, path)
    assert error["code"] == "E_SCHEMA"
    assert "/guards" in error["where"]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("place", ['"kl": "0.1"', '"depth": 512', "100000000"])
def test_k3_B14_a_number_that_is_not_finite_is_refused_wherever_it_stands(desk: Desk, text: str, place: str) -> None:
    parity = [{"arm": "main", "depth": 512, "trials": 64, "kl": "0.1"}]
    whole = json.dumps(make_round(parity=parity))
    assert place in whole
    path = edited(desk, whole.replace(place, f"{place.rpartition(' ')[0]} {text}", 1))
    assert refusal(desk, path)["code"] == "E_NONFINITE"


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "NaN", "Infinity", "1e400", ""])
def test_k3_B14_text_that_is_not_a_finite_decimal_is_refused_too(desk: Desk, text: str) -> None:
    parity = [{"arm": "main", "depth": 512, "trials": 64, "kl": text}]
    error = refusal(desk, write_round(desk.root, parity=parity))
    assert (error["code"], error["where"].split()[-1]) == ("E_SCHEMA", "/parity/0/kl")


# D, E, F: provenance, claims, timing.


@pytest.mark.parametrize("member", ["label", "verdict", "tier", "frontier", "reference", "tps", "speed_label", "pin"])
def test_k3_D4_a_verdict_or_a_denominator_inside_the_payload_is_refused(desk: Desk, member: str) -> None:
    error = refusal(desk, edited(desk, json.dumps({**make_round(), member: "xl"})))
    assert error["code"] == "E_SCHEMA"
    assert member in error["message"]


@pytest.mark.parametrize("part", ["slot", "arms", "reps", "weights", "harness", "protocol", "environment"])
def test_k3_D4_nor_in_any_of_its_parts(desk: Desk, part: str) -> None:
    body = make_round()
    target = body[part][0] if isinstance(body[part], list) else body[part]
    target["label"] = "xl"
    assert "label" in refusal(desk, edited(desk, json.dumps(body)))["message"]


@pytest.mark.parametrize("value", ["", "0", "A" * 64, "a" * 63, None])
@pytest.mark.parametrize("place", ["/arms/0/code_sha256", "/weights/sha256", "/harness/sha256"])
def test_k3_D8_an_empty_or_cut_digest_is_refused(desk: Desk, place: str, value: str | None) -> None:
    body: Any = make_round()
    target = body
    *steps, last = place[1:].split("/")
    for step in steps:
        target = target[int(step)] if step.isdecimal() else target[step]
    target[last] = value
    error = refusal(desk, edited(desk, json.dumps(body)))
    assert (error["code"], error["where"].split()[-1]) == ("E_SCHEMA", place)


@pytest.mark.parametrize("option", ["--weights", "--harness"])
def test_k3_D8_an_empty_option_is_no_digest(desk: Desk, option: str) -> None:
    words = tool_words(("main", MAIN), **{option[2:]: ""})
    assert refusal(desk, *words, option, "")["code"] == "E_MISSING"
    words[words.index(f"main={CODE['main']}")] = "main="
    assert refusal(desk, *words)["code"] == "E_OPTION"


def test_k3_D11_a_statement_about_other_code_than_its_round_is_refuted(desk: Desk) -> None:
    seal_anything(
        desk,
        "round",
        make_round(),
        edit={f'[{{"digest":{{"sha256":"{"b" * 64}"': f'[{{"digest":{{"sha256":"{"d" * 64}"'},
    )
    findings = desk.run("verify", "--json", status=REFUTED).document("verify")["findings"]
    assert [item["code"] for item in findings] == ["E_SUBJECT"]


@pytest.mark.parametrize("by", ["stranger", "root"])
def test_k3_E10_nobody_appends_without_a_role(desk: Desk, by: str) -> None:
    assert refusal(desk, write_round(desk.root), by=by)["code"] in {"E_KEY_UNKNOWN", "E_ROLE"}


def test_k3_E11_records_from_a_source_that_is_not_attached_are_refused(desk: Desk) -> None:
    reps = [make_rep(0, "main", source={"attachment": "log.txt", "row": 0}), make_rep(1, "candidate")]
    error = refusal(desk, write_round(desk.root, reps=reps))
    assert (error["code"], error["where"].split()[-1]) == ("E_ATTACHMENT", "/reps/0/source/attachment")


def test_k3_F3_a_sample_longer_than_the_repetition_that_it_is_part_of_is_refused(desk: Desk) -> None:
    reps = [make_rep(0, "main", wall_ns=124_999_999), make_rep(1, "candidate")]
    assert refusal(desk, write_round(desk.root, reps=reps))["code"] == "E_WALL"


# K: receipts.


def test_k3_K1_a_statement_without_a_signature_is_refused(desk: Desk) -> None:
    desk.run("attest", write_round(desk.root), "--key", desk.key("scorer"), "-o", "round.json")
    envelope = json.loads((desk.root / "round.json").read_bytes())
    for text in ("[]", "null"):
        path = edited(desk, json.dumps({**envelope, "signatures": json.loads(text)}))
        assert desk.run("seal", path, status=REFUSED).code() == "E_ENVELOPE"
    assert desk.size == 3


def test_k3_K3_a_sealed_round_is_never_replaced(desk: Desk) -> None:
    append(desk, write_round(desk.root))
    before = desk.receipt(3).read_bytes()
    better = [make_rep(0, "main"), make_rep(1, "candidate", records={"wall_ns": [1], "prompt_tokens": [512]})]
    words = ("append", write_round(desk.root, reps=better), "--key", desk.key("scorer"))
    assert desk.run(*words, status=REFUSED).code() == "E_ID_CONFLICT"
    assert desk.receipt(3).read_bytes() == before


def test_k3_K13_two_rounds_with_equal_figures_are_two_receipts(desk: Desk) -> None:
    append(desk, write_round(desk.root, 1))
    append(desk, write_round(desk.root, 2))
    rows = desk.run("log", "--last", "2", "--json").document("log")["receipts"]
    assert len({row["sha256"] for row in rows} | {row["statement"] for row in rows}) == 4


def test_k3_K14_every_receipt_names_its_index_and_its_predecessor(desk: Desk) -> None:
    append(desk, write_round(desk.root))
    seals = [json.loads(desk.receipt(index).read_bytes())["seal"] for index in range(4)]
    assert [seal["index"] for seal in seals] == [0, 1, 2, 3]
    assert len({seal["prev"] for seal in seals}) == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("a" * 64, "d" * 64, id="code"),
        pytest.param('"context":512', '"context":513', id="context"),
        pytest.param("125000000", "125000001", id="sample"),
        pytest.param('"id":"round-0"', '"id":"round-1"', id="id"),
        pytest.param('"seq":0', '"seq":1', id="number"),
        pytest.param('"tree_size":3', '"tree_size":2', id="basis"),
        pytest.param('"warmup":false', '"warmup":true', id="warm-up"),
    ],
)
def test_k3_K15_the_signature_covers_every_part_of_what_is_said(desk: Desk, old: str, new: str) -> None:
    append(desk, write_round(desk.root))
    raw = desk.receipt(3).read_bytes()
    assert old.encode() in raw
    desk.receipt(3).write_bytes(raw.replace(old.encode(), new.encode(), 1))
    findings = desk.run("verify", "--json", status=REFUTED).document("verify")["findings"]
    assert ("E_SIGNATURE", 3) in {(item["code"], item["index"]) for item in findings}


def test_k3_K17_samples_are_kept_to_the_nanosecond(desk: Desk) -> None:
    body = append(desk, *tool_words(*REAL_ROUND[:2]))
    assert body["reps"][0]["records"]["wall_ns"] == json.loads(MAIN.read_bytes())[0]["samples_ns"]


# C: faults of data files.


def test_C01_a_first_token_after_the_end_is_refused(desk: Desk) -> None:
    reps = with_records(ttft_ns=[512, 1], e2e_ns=[498, 1])
    error = refusal(desk, write_round(desk.root, reps=reps))
    assert (error["code"], error["where"].split()[-1]) == ("E_TTFT_AFTER_END", "/reps/0/records/ttft_ns/0")


def test_C03_a_bare_nan_of_the_tool_is_refused_and_the_file_is_named(desk: Desk) -> None:
    text = MAIN.read_text()
    path = edited(desk, text.replace("9012.382953", "NaN", 1))
    error = refusal(desk, *tool_words(("main", path)))
    assert (error["code"], error["where"]) == ("E_NONFINITE", "/0/avg_ts")
    assert "edited.json" in error["message"]


def test_C05_a_round_in_which_every_request_failed_is_no_measurement(desk: Desk) -> None:
    error = refusal(desk, write_round(desk.root, reps=with_records(ok=[False, False])))
    assert error["code"] == "E_ALL_FAILED"


@pytest.mark.parametrize("column", ["wall_ns", "prompt_tokens"])
def test_C38_a_round_in_which_nothing_was_observed_is_no_measurement(desk: Desk, column: str) -> None:
    error = refusal(desk, write_round(desk.root, reps=with_records(**{column: [None, None]})))
    assert error["code"] == "E_EMPTY_RESULTS"


def test_C38_a_file_of_asv_whose_results_are_all_null_is_no_measurement(desk: Desk) -> None:
    nulls = {"result_columns": ["result", "params"], "results": {"a.time_x": [None, []], "b.time_y": [None, []]}}
    path = edited(desk, json.dumps(ASV | nulls))
    words: list[str | Path] = [path, "--slot", slot_text(context="0", metric="ns_per_iteration")]
    assert refusal(desk, *words)["code"] == "E_EMPTY_RESULTS"
    assert refusal(desk, *words, "--from", "asv")["code"] == "E_EMPTY_RESULTS"


def test_C15_appending_again_what_is_there_adds_nothing(desk: Desk) -> None:
    words = ("append", *tool_words(*REAL_ROUND), "--key", desk.key("scorer"))
    desk.run(*words)
    desk.run(*words)
    assert desk.size == 4


def test_C17_a_table_in_another_format_is_refused(desk: Desk) -> None:
    for name in ("sample.csv", "sample.md", "sample.sql"):
        error = refusal(desk, *tool_words(("main", RUNS / name)))
        assert error["code"] == "E_NO_SAMPLES"
        assert "-o json" in error["message"]


def test_C17_a_csv_row_that_is_shorter_than_its_header_is_refused_with_its_number(desk: Desk, tmp_path: Path) -> None:
    rows = (RUNS / "sample.csv").read_text().splitlines()
    path = tmp_path / "short.csv"
    path.write_text("\n".join([*rows[:-1], rows[-1].rpartition(",")[0]]))
    error = refusal(desk, *tool_words(("main", path)))
    assert error["code"] == "E_COLUMN_COUNT"
    assert f"row {len(rows) - 1} has" in error["message"]


LOG_LINE = "ggml_init: found 1 device\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(LOG_LINE + JSONL.read_text(), 1, id="first"),
        pytest.param(JSONL.read_text() + LOG_LINE, 3, id="last"),
        pytest.param(JSONL.read_text().replace("\n", "\n" + LOG_LINE, 1), 2, id="between"),
        pytest.param("\n\n" + JSONL.read_text() + "\n" + LOG_LINE, 6, id="behind-empty-lines"),
    ],
)
def test_C18_a_line_of_a_log_inside_jsonl_is_refused_with_its_number(desk: Desk, text: str, line: int) -> None:
    error = refusal(desk, *tool_words(("main", edited(desk, text, "mixed.jsonl"))))
    assert error["code"] == "E_JSON"
    assert "mixed.jsonl" in error["message"]
    assert f"line {line}" in error["message"]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("source", [MAIN, JSONL], ids=lambda path: path.suffix)
def test_C19_a_file_that_is_cut_off_is_refused_whole(desk: Desk, source: Path, share: float) -> None:
    text = source.read_text()
    path = edited(desk, text[: int(len(text) * share)], "cut" + source.suffix)
    assert refusal(desk, *tool_words(("main", MAIN), ("candidate", path)))["code"] == "E_JSON"


def test_C20_one_repetition_has_no_spread(desk: Desk) -> None:
    slot = slot_text(context="256")
    append(desk, *tool_words(("main", RUNS / "one_rep.json"), slot=slot))
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    assert {fact["spread_pct"] for fact in facts} == {None}


def test_C20_a_metric_listed_twice_does_not_make_two_repetitions_of_one(desk: Desk) -> None:
    twice = {"metrics": ["prefill_tok_s", "prefill_tok_s"]}
    path = write_round(desk.root, reps=[make_rep(0, "main", **twice), make_rep(1, "candidate", **twice)])
    if run("append", path, "--key", desk.key("scorer"), cwd=desk.root).status == OK:
        facts = desk.run("show", "3", "--json").document("show")["facts"]
        assert [(len(fact["reps"]), fact["spread_pct"]) for fact in facts] == [(1, None)] * 2


@pytest.mark.parametrize("member", ["higher_is_better", "direction", "unit"])
def test_C23_direction_and_unit_never_come_from_the_file(desk: Desk, member: str) -> None:
    slot = {**SLOT, "context": 512, member: "up"}
    assert member in refusal(desk, write_round(desk.root, slot=slot))["message"]


@pytest.mark.parametrize("column", ["wall_ns", "e2e_ns"])
def test_C24_a_duration_of_nothing_is_refused(desk: Desk, column: str) -> None:
    error = refusal(desk, write_round(desk.root, reps=with_records(**{column: [5, 0]})))
    assert (error["code"], error["where"].split()[-1]) == ("E_ZERO_TIME", f"/reps/0/records/{column}/1")
    rows = json.loads(MAIN.read_bytes())
    rows[0]["samples_ns"][2] = 0
    assert refusal(desk, *tool_words(("main", edited(desk, json.dumps(rows)))))["code"] == "E_ZERO_TIME"


def test_C37_a_pointer_to_a_large_file_is_not_its_contents(desk: Desk) -> None:
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 45810\n"
    for words in (tool_words(("main", edited(desk, text, "run.json"))), [edited(desk, text, "round.json")]):
        error = refusal(desk, *words)
        assert error["code"] == "E_LFS_POINTER"
        assert "LFS" in error["message"]


def test_C38_an_empty_result_is_no_round(desk: Desk) -> None:
    for text in ("", "[]", "\n\n"):
        assert refusal(desk, *tool_words(("main", edited(desk, text))))["code"] == "E_EMPTY_RESULTS"


def test_a_number_with_an_enormous_exponent_does_not_occupy_the_machine(desk: Desk) -> None:
    text = MAIN.read_text().replace("9012.382953", "1e50000000", 1)
    words = ("append", *tool_words(("main", edited(desk, text))), "--key", desk.key("scorer"))
    assert run_process(*words, cwd=desk.root, timeout_s=20).status in (OK, REFUSED)
