"""``rungbook append --from llama-bench``: the files of a tool become one round."""

# ruff: noqa: N802 - the names of faults have capitals

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from cli.given import code_digest, digest_of
from ledger.errors import RefusedError
from tests.cli.program import OK, REFUSED, UNAVAILABLE, Result
from tests.cli.samples import BINARY, CODE, NODE, REAL_ROUND, RUNS, SLOT, WEIGHTS, slot_text, tool_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Desk

PAIR = REAL_ROUND[:2]
MAIN = RUNS / "noise_1a_main.jsonl"


def append(desk: Desk, *words: str | Path, status: int = OK) -> Result:
    return desk.run("append", *words, "--key", desk.key("scorer"), status=status)


def refusal(desk: Desk, *words: str | Path) -> dict[str, Any]:
    error = append(desk, *words, "--json", status=REFUSED).document("error")["error"]
    assert isinstance(error, dict)
    assert desk.size == 3
    return error


def sealed_body(desk: Desk, index: int = 3) -> dict[str, Any]:
    body = json.loads(desk.receipt(index).read_bytes())["statement"]["predicate"]["round"]
    assert isinstance(body, dict)
    return body


def edited(
    folder: Path, source: Path, edit: Callable[[list[dict[str, Any]]], object], name: str = "edited.json"
) -> Path:
    """A copy of a file of the tool, after `edit` has changed its rows."""
    rows = json.loads(source.read_bytes())
    edit(rows)
    path = folder / name
    path.write_text(json.dumps(rows))
    return path


def test_the_ten_files_of_a_real_round_become_one_receipt(desk: Desk) -> None:
    done = append(desk, *tool_words(*REAL_ROUND), "--json").document("append")
    assert [item["index"] for item in done["receipts"]] == [3]
    assert done["notes"] == []
    body = sealed_body(desk)
    assert body["slot"] == {**SLOT, "context": 512}
    assert body["weights"]["sha256"] == WEIGHTS
    assert body["harness"] == {"sha256": BINARY, "name": "llama-bench", "version": "build 11434"}
    assert [(arm["role"], arm["code_sha256"]) for arm in body["arms"]] == [
        ("main", CODE["main"]),
        ("candidate", CODE["candidate"]),
    ]
    assert [(rep["arm"], rep["order"]) for rep in body["reps"]] == [
        (role, order) for order, (role, _) in enumerate(REAL_ROUND) for _ in range(2)
    ]
    desk.run("verify")


def test_every_file_is_named_with_the_digest_and_the_size_of_its_bytes(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    body = sealed_body(desk)
    assert body["attachments"] == [
        {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size}
        for _, path in PAIR
    ]
    assert [rep["source"] for rep in body["reps"]] == [
        {"attachment": path.name, "row": row} for _, path in PAIR for row in range(2)
    ]


def test_what_the_tool_printed_is_kept_beside_the_raw_samples(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    body, rows = sealed_body(desk), json.loads(PAIR[0][1].read_bytes())
    assert body["reps"][0]["records"]["wall_ns"] == rows[0]["samples_ns"]
    assert body["reported"][0]["values"]["avg_ns"] == rows[0]["avg_ns"]
    assert body["reported"][0]["values"]["avg_ts"] == "9012.382953"
    assert body["reported"][0]["values"]["samples_ts"] == ["7537.6", "7628.83", "9588.86", 10163, "10143.6"]


def test_everything_else_that_was_measured_guards_the_slot(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    assert sealed_body(desk)["guards"] == [{"metric": "gen_tok_s", "context": 0}]


def test_jsonl_is_read_as_well(desk: Desk) -> None:
    append(desk, *tool_words(("main", MAIN)))
    rows = [json.loads(line) for line in MAIN.read_text().splitlines()]
    assert [rep["records"]["wall_ns"] for rep in sealed_body(desk)["reps"]] == [row["samples_ns"] for row in rows]


def test_json_and_jsonl_of_one_run_give_the_same_records(desk: Desk) -> None:
    rows = json.loads(PAIR[0][1].read_bytes())
    lines = desk.root / "lines.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    append(desk, *tool_words(("main", lines)), "--round", "lines")
    done = append(desk, *tool_words(PAIR[0]), "--round", "array", status=REFUSED)
    assert done.code() == "E_COPIED_SAMPLES"
    assert "receipt 3" in done.err


def test_files_without_a_role_are_runs_of_main_after_the_arms(desk: Desk) -> None:
    words = ("--code", f"main={CODE['main']}", REAL_ROUND[2][1], REAL_ROUND[4][1])
    append(desk, *tool_words(("candidate", REAL_ROUND[1][1])), *words)
    assert [(rep["arm"], rep["order"]) for rep in sealed_body(desk)["reps"][::2]] == [
        ("candidate", 0),
        ("main", 1),
        ("main", 2),
    ]


def test_the_same_files_again_are_the_same_round(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    again = append(desk, *tool_words(*PAIR), "--json").document("append")
    assert (again["tree_size"], again["receipts"][0]["existed"]) == (4, True)
    assert sealed_body(desk)["id"].startswith("llama-bench-")


def test_other_files_or_options_are_another_round(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    append(desk, *tool_words(*REAL_ROUND[2:4]))
    assert desk.size == 5


def test_one_measurement_is_no_second_round_under_another_name(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    for words in ([*tool_words(*PAIR, slot=slot_text(quant="mixed"))], [*tool_words(*PAIR), "--round", "again"]):
        assert append(desk, *words, status=REFUSED).code() == "E_COPIED_SAMPLES"
    assert desk.size == 4


def test_C16_samples_of_another_commit_are_refused_until_the_receipt_that_has_them_is_void(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR))
    other = [str(word).replace(CODE["main"], "f" * 64) for word in tool_words(*PAIR)]
    assert other != [*map(str, tool_words(*PAIR))]
    done = append(desk, *other, status=REFUSED)
    assert done.code() == "E_COPIED_SAMPLES"
    assert "receipt 3" in done.err
    desk.run("ruling", "void", "3", "--reason", "filed under the wrong commit", "--key", desk.key("root"))
    append(desk, *other)
    assert desk.size == 6
    desk.run("verify")


def test_a_given_id_names_the_round(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR), "--round", "nightly-7")
    assert sealed_body(desk)["id"] == "nightly-7"


# What must be given.


def test_everything_that_is_missing_is_named_in_one_message(desk: Desk) -> None:
    arms = [word for role, path in PAIR for word in ("--arm", f"{role}={path}")]
    error = refusal(desk, "--from", "llama-bench", *arms)
    assert error["code"] == "E_MISSING"
    slot = "--slot " + ",".join(f"{axis}=…" for axis in SLOT)
    wanted = [slot, "--code main=", "--code candidate=", "--weights", "--harness"]
    assert [option for option in wanted if option not in error["message"]] == []


@pytest.mark.parametrize("axis", SLOT)
def test_a_missing_axis_is_named(desk: Desk, axis: str) -> None:
    error = refusal(desk, *tool_words(*PAIR, slot=slot_text(**{axis: ""})))
    assert error["code"] == "E_MISSING"
    assert [name for name in SLOT if f"--slot {name}=" in error["message"]] == [axis]


@pytest.mark.parametrize("option", ["weights", "harness"])
def test_a_missing_digest_is_named(desk: Desk, option: str) -> None:
    error = refusal(desk, *tool_words(*PAIR, **{option: ""}))
    assert error["code"] == "E_MISSING"
    assert f"--{option}" in error["message"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param(slot_text(metric="speed"), "prefill_tok_s", id="unknown-metric"),
        pytest.param(slot_text(context="many"), "many", id="context-in-words"),
        pytest.param(slot_text(context="0512"), "0512", id="leading-zero"),
        pytest.param(slot_text(context="-1"), "-1", id="negative"),
        pytest.param(slot_text(context="²"), "²", id="superscript"),
        pytest.param(slot_text() + ",node=other", "node", id="axis-twice"),
        pytest.param(slot_text() + ",gpu=h200", "gpu", id="unknown-axis"),
    ],
)
def test_a_slot_that_is_wrong_in_one_axis_names_it(desk: Desk, text: str, hint: str) -> None:
    error = refusal(desk, *tool_words(*PAIR, slot=text))
    assert (error["code"], error["where"]) == ("E_SLOT", "--slot")
    assert hint in error["message"]


@pytest.mark.parametrize("text", ["node", "node=", "=n1", slot_text() + ","])
def test_a_slot_that_is_no_list_of_axes_shows_the_form(desk: Desk, text: str) -> None:
    error = refusal(desk, *tool_words(*PAIR, slot=text))
    assert error["code"] == "E_OPTION"
    assert "project=P" in error["message"]


def test_a_slot_may_be_given_in_parts(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR, slot=slot_text(node="")), "--slot", f"node={NODE}")
    assert sealed_body(desk)["slot"]["node"] == NODE


def test_a_slot_for_another_node_is_refused(desk: Desk) -> None:
    assert refusal(desk, *tool_words(*PAIR, slot=slot_text(node="elsewhere")))["code"] == "E_NODE"


@pytest.mark.parametrize("words", [("--arm", "a.json"), ("--arm", "main="), ("--arm", "=a.json")])
def test_an_arm_without_role_or_file_shows_the_form(desk: Desk, words: tuple[str, str]) -> None:
    error = refusal(desk, *tool_words(*PAIR), *words)
    assert (error["code"], error["where"]) == ("E_OPTION", "--arm")
    assert "ROLE=FILE" in error["message"]


def test_an_unknown_arm_is_refused_and_the_arms_are_named(desk: Desk) -> None:
    error = refusal(desk, *tool_words(*PAIR), "--arm", f"baseline={PAIR[0][1]}")
    assert error["code"] == "E_ARM"
    assert "main, candidate, reference" in error["message"]


@pytest.mark.parametrize("option", ["--code", "--commit"])
def test_a_role_is_given_its_code_and_commit_once(desk: Desk, option: str) -> None:
    error = refusal(desk, *tool_words(*PAIR), option, f"main={CODE['main']}", option, f"main={CODE['main']}")
    assert (error["code"], error["where"]) == ("E_OPTION", option)


@pytest.mark.parametrize("option", ["--code", "--commit"])
def test_code_or_commit_of_an_arm_that_is_not_there_is_refused(desk: Desk, option: str) -> None:
    error = refusal(desk, *tool_words(*PAIR), option, f"reference={CODE['reference']}")
    assert "reference" in error["message"]


def test_an_unknown_tool_is_refused_and_the_tools_are_named(desk: Desk) -> None:
    error = refusal(desk, "--from", "fast-bench", "--arm", f"main={MAIN}")
    assert error["code"] == "E_TOOL"
    assert "llama-bench" in error["message"]


def test_a_tool_without_files_is_refused(desk: Desk) -> None:
    assert refusal(desk, "--from", "llama-bench")["code"] == "E_NO_INPUT"


def test_an_unknown_purpose_is_refused(desk: Desk) -> None:
    error = refusal(desk, *tool_words(*PAIR), "--purpose", "speed")
    assert error["where"] == "round /purpose"


def test_a_file_that_is_missing_is_unavailable(desk: Desk) -> None:
    done = append(desk, *tool_words(PAIR[0], ("candidate", RUNS / "none.json")), status=UNAVAILABLE)
    assert done.code() == "E_IO"
    assert "none.json" in done.err


# Digests.


def test_digests_may_be_given_as_files_to_hash(desk: Desk) -> None:
    sums = {}
    for name in ("code", "weights", "harness"):
        path = desk.root / name
        path.write_text(f"contents of {name}")
        sums[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    words = tool_words(("main", MAIN), weights=str(desk.root / "weights"), harness=str(desk.root / "harness"))
    words[words.index(f"main={CODE['main']}")] = f"main={desk.root / 'code'}"
    append(desk, *words)
    body = sealed_body(desk)
    assert body["arms"][0]["code_sha256"] == sums["code"]
    assert (body["weights"]["sha256"], body["harness"]["sha256"]) == (sums["weights"], sums["harness"])


@pytest.mark.parametrize("value", ["A" * 64, "a" * 63, "a" * 65, "sha256:" + "a" * 64, "none.gguf", "empty"])
def test_what_is_neither_a_digest_nor_a_file_with_something_in_it_is_refused(desk: Desk, value: str) -> None:
    (desk.root / "empty").write_bytes(b"")
    error = refusal(desk, *tool_words(*PAIR, weights=value))
    assert (error["code"], error["where"]) == ("E_DIGEST_OR_PATH", "--weights")
    assert value in error["message"]


def test_weights_of_several_files_are_given_by_their_folder(desk: Desk) -> None:
    (desk.root / "model").mkdir()
    for name, data in (("a.safetensors", b"1"), ("b.safetensors", b"2")):
        (desk.root / "model" / name).write_bytes(data)
    append(desk, *tool_words(*PAIR, weights="model"))
    expected = hashlib.sha256(b"a.safetensors\x001\x00b.safetensors\x002\x00").hexdigest()
    assert sealed_body(desk)["weights"]["sha256"] == expected


@pytest.mark.parametrize("value", ["a" * 300, "a/" + "b" * 300, "engine:" + "b" * 300, "ä" * 150])
@pytest.mark.parametrize("read", [digest_of, code_digest])
def test_what_no_file_can_be_called_is_no_fault_of_the_disk(read: Callable[[str, str], str], value: str) -> None:
    with pytest.raises(RefusedError) as caught:
        read(value, "--weights")
    assert (caught.value.code, caught.value.where) == ("E_DIGEST_OR_PATH", "--weights")
    assert len(caught.value.message) < 300


def test_a_code_that_is_no_digest_names_its_arm(desk: Desk) -> None:
    words = tool_words(("main", MAIN))
    words[words.index(f"main={CODE['main']}")] = "main=v1.0"
    assert refusal(desk, *words)["where"] == "--code main"


def test_a_commit_replaces_what_the_tool_says(desk: Desk) -> None:
    append(desk, *tool_words(*PAIR), "--commit", "candidate=deadbeef")
    assert {arm["role"]: arm["commit"] for arm in sealed_body(desk)["arms"]} == {
        "main": "b11434",
        "candidate": "deadbeef",
    }


# Defaults of the ledger.


def test_defaults_of_the_ledger_fill_what_the_command_does_not_say(desk: Desk) -> None:
    config = desk.root / "rungbook.toml"
    slot = "".join(f'{axis} = "{value}"\n' for axis, value in SLOT.items() if axis != "context")
    digests = f'weights = "{WEIGHTS}"\nharness = "{BINARY}"\n'
    config.write_text(config.read_text() + f"[slot]\n{slot}context = 512\n[round]\n{digests}")
    append(desk, *tool_words(("main", MAIN), slot="", weights="", harness=""))
    body = sealed_body(desk)
    assert body["slot"] == {**SLOT, "context": 512}
    assert (body["weights"]["sha256"], body["harness"]["sha256"]) == (WEIGHTS, BINARY)


def test_the_command_overrides_a_default(desk: Desk) -> None:
    config = desk.root / "rungbook.toml"
    config.write_text(config.read_text() + f'[slot]\nquant = "Q4"\n[round]\nweights = "{"d" * 64}"\n')
    append(desk, *tool_words(("main", MAIN)))
    assert (sealed_body(desk)["slot"]["quant"], sealed_body(desk)["weights"]["sha256"]) == ("F32", WEIGHTS)


def test_a_default_that_is_no_digest_is_refused(desk: Desk) -> None:
    config = desk.root / "rungbook.toml"
    config.write_text(config.read_text() + '[round]\nharness = "the usual"\n')
    assert refusal(desk, *tool_words(("main", MAIN), harness=""))["code"] == "E_DIGEST_OR_PATH"


# --extra, --purpose.

EXTRA = {
    "parity": [{"arm": "main", "depth": 512, "trials": 64, "kl": "0.0001", "top1": "0.99"}],
    "overrides": [{"name": "margin", "value": "512", "default": "128"}],
    "shortcuts": [{name: name for name in ("name", "faithful", "unfaithful", "assertion", "observed")}],
    "protocol": {"name": "ab-alternated", "version": "2"},
}


def test_what_no_tool_says_is_added_from_a_file(desk: Desk) -> None:
    path = desk.root / "extra.json"
    path.write_text(json.dumps(EXTRA))
    append(desk, *tool_words(*PAIR), "--extra", path)
    assert {name: sealed_body(desk)[name] for name in EXTRA} == EXTRA


@pytest.mark.parametrize(
    ("text", "code"),
    [('{"reps": []}', "E_EXTRA"), ('{"guards": []}', "E_EXTRA"), ("[]", "E_EXTRA"), ("{", "E_JSON")],
)
def test_nothing_else_can_be_added(desk: Desk, text: str, code: str) -> None:
    path = desk.root / "extra.json"
    path.write_text(text)
    error = refusal(desk, *tool_words(*PAIR), "--extra", path)
    assert error["code"] == code
    assert "extra.json" in error["where"] + error["message"]


def test_a_noise_round_takes_one_code_in_both_arms(desk: Desk) -> None:
    pairs = [
        (role, RUNS / f"noise_{n}{x}_main.jsonl") for n in "12345" for x, role in (("a", "main"), ("b", "candidate"))
    ]
    words = tool_words(*pairs)
    words[words.index(f"candidate={CODE['candidate']}")] = f"candidate={CODE['main']}"
    append(desk, *words, "--purpose", "noise")
    assert sealed_body(desk)["purpose"] == "noise"


def test_a_noise_round_of_two_codes_is_refused(desk: Desk) -> None:
    pair = [("main", MAIN), ("candidate", RUNS / "noise_1b_main.jsonl")]
    assert refusal(desk, *tool_words(*pair), "--purpose", "noise")["code"] == "E_NOISE_ARMS"


def test_a_noise_round_of_two_settings_is_refused(desk: Desk) -> None:
    words = tool_words(*PAIR)  # the candidate runs another micro-batch
    words[words.index(f"candidate={CODE['candidate']}")] = f"candidate={CODE['main']}"
    assert refusal(desk, *words, "--purpose", "noise")["code"] == "E_NOISE_ARMS"


# Notes: what is sealed all the same, but deserves a look.


def test_files_in_another_order_than_they_ran_are_noted(desk: Desk) -> None:
    done = append(desk, *tool_words(REAL_ROUND[9], REAL_ROUND[0]), "--json")
    (note,) = done.document("append")["notes"]
    assert note.startswith("F_ORDER_TIME: round1_1a_main.json is given after round1_5b_candidate.json")
    assert f"note: {note}" in done.err


def test_an_average_that_was_edited_is_noted_and_never_used(desk: Desk) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        rows[0]["avg_ts"] = 99999.0

    path = edited(desk.root, PAIR[0][1], edit)
    done = append(desk, *tool_words(("main", path)), "--json")
    assert [note.split(":")[1].strip() for note in done.document("append")["notes"]] == ["F_REPORTED_MISMATCH"]
    assert "edited.json, row 0" in done.err
    facts = desk.run("show", "3", "--json").document("show")["facts"]
    assert float(facts[-1]["median"]) == pytest.approx(9588.9, abs=0.1)


# Runs that do not belong together.


@pytest.mark.parametrize(
    ("column", "value", "hint"),
    [
        ("cpu_info", "another", "node"),
        ("model_size", 1, "weights"),
    ],
)
def test_runs_that_differ_in_what_a_round_has_once_are_refused(
    desk: Desk, column: str, value: object, hint: str
) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row[column] = value

    error = refusal(desk, *tool_words(PAIR[0], ("candidate", edited(desk.root, PAIR[1][1], edit))))
    assert error["code"] == "E_MIXED"
    assert hint in error["message"]


def test_two_builds_of_the_engine_are_two_arms_of_one_round(desk: Desk) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["build_number"], row["build_commit"] = 9999, "fedcba9"

    append(desk, *tool_words(PAIR[0], ("candidate", edited(desk.root, PAIR[1][1], edit))))
    main, candidate = sealed_body(desk)["arms"]
    assert candidate["commit"] == "fedcba9"
    assert candidate["settings"]["harness_version"] == "build 9999"
    assert main["settings"]["harness_version"] != "build 9999"


@pytest.mark.parametrize("column", ["n_ubatch", "build_commit", "build_number", "a_new_column"])
def test_runs_of_one_arm_that_differ_in_code_or_settings_are_refused(desk: Desk, column: str) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row[column] = "another"

    error = refusal(desk, *tool_words(PAIR[0], ("main", edited(desk.root, REAL_ROUND[2][1], edit))))
    assert error["code"] == "E_MIXED"
    assert "main" in error["message"]


def test_two_files_of_one_name_are_refused_and_the_name_is_given(desk: Desk) -> None:
    other = desk.root / "again"
    other.mkdir()
    copy = other / PAIR[0][1].name
    copy.write_bytes(REAL_ROUND[2][1].read_bytes())
    error = refusal(desk, *tool_words(PAIR[0], ("main", copy)))
    assert copy.name in error["message"]


def test_letters_of_a_file_name_that_no_attachment_has_are_replaced(desk: Desk) -> None:
    path = desk.root / "my run=1.json"
    path.write_bytes(PAIR[0][1].read_bytes())
    append(desk, *tool_words(("main", path)))
    body = sealed_body(desk)
    assert [item["name"] for item in body["attachments"]] == ["my-run-1.json"]
    assert {rep["source"]["attachment"] for rep in body["reps"]} == {"my-run-1.json"}


# Some rows of a file.


def test_rows_are_selected_for_each_arm(desk: Desk) -> None:
    done = append(desk, *tool_words(*PAIR), "--row", "main=0", "--row", "candidate=0", "--json").document("append")
    assert [note.partition(":")[0] for note in done["notes"]] == ["F_ROWS_LEFT", "F_ROWS_LEFT"]
    body = sealed_body(desk)
    assert [rep["metrics"] for rep in body["reps"]] == [["prefill_tok_s"]] * 2
    assert body["attachments"][0]["size"] == PAIR[0][1].stat().st_size


def test_one_file_for_two_arms_needs_their_rows(desk: Desk) -> None:
    assert refusal(desk, *tool_words(PAIR[0], ("candidate", PAIR[0][1])))["code"] == "E_COPIED_SAMPLES"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (["main=9"], "E_ROW"),
        (["main="], "E_OPTION"),
        (["main=first"], "E_OPTION"),
        (["main=-1"], "E_OPTION"),
        (["main=0,"], "E_OPTION"),
        (["0"], "E_OPTION"),
        (["reference=0"], "E_OPTION"),
        (["main=0", "main=1"], "E_OPTION"),
    ],
)
def test_rows_that_cannot_be_selected_are_refused(desk: Desk, rows: list[str], code: str) -> None:
    words = [word for each in rows for word in ("--row", each)]
    assert refusal(desk, *tool_words(*PAIR), *words)["code"] == code
