"""``rungbook append`` with round JSON, and what holds for every append."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import ORIGIN, Desk
from tests.cli.program import OK, REFUSED, REFUTED, UNAVAILABLE, USAGE, Result, writing_elsewhere
from tests.cli.samples import NODE, SLOT, make_rep, make_round, write_round

if TYPE_CHECKING:
    from pathlib import Path


def append(desk: Desk, *words: str | Path, by: str = "scorer", status: int = OK) -> Result:
    return desk.run("append", *words, "--key", desk.key(by), status=status)


def sealed_body(desk: Desk, index: int) -> dict[str, Any]:
    body = json.loads(desk.receipt(index).read_bytes())["statement"]["predicate"]["round"]
    assert isinstance(body, dict)
    return body


def test_a_round_is_sealed_as_it_stands_in_the_file(desk: Desk) -> None:
    done = append(desk, write_round(desk.root), "--json").document("append")
    assert (done["tree_size"], done["origin"], done["notes"]) == (4, ORIGIN, [])
    assert [(item["index"], item["existed"]) for item in done["receipts"]] == [(3, False)]
    assert sealed_body(desk, 3) == make_round()
    desk.run("verify")


def test_the_outcome_is_one_line_per_receipt(desk: Desk) -> None:
    path = write_round(desk.root)
    first = append(desk, path)
    digest = desk.run("show", "3", "--json").document("show")["sha256"]
    assert (first.out, first.err) == (f"sealed receipt 3  {digest}\n", "")
    assert append(desk, path).out == f"already sealed as receipt 3  {digest}\n"


def test_a_second_run_returns_the_receipt_that_exists_and_writes_nothing(desk: Desk) -> None:
    path = write_round(desk.root)
    first = append(desk, path, "--json").document("append")
    before = {item: item.read_bytes() for item in (desk.root / "receipts").rglob("*") if item.is_file()}
    again = append(desk, path, "--json").document("append")
    assert again["receipts"] == [{**first["receipts"][0], "existed": True}]
    assert again["root_hash"] == first["root_hash"]
    assert {item: item.read_bytes() for item in (desk.root / "receipts").rglob("*") if item.is_file()} == before


def test_the_layout_of_the_file_does_not_matter(desk: Desk) -> None:
    append(desk, write_round(desk.root))
    flat = desk.root / "flat.json"
    flat.write_text(json.dumps(dict(reversed(make_round().items())), separators=(",", ":")))
    assert append(desk, flat, "--json").document("append")["receipts"][0]["existed"] is True


def test_the_same_id_with_other_contents_is_refused(desk: Desk) -> None:
    append(desk, write_round(desk.root))
    done = append(desk, write_round(desk.root, environment={"cpu": "another"}), status=REFUSED)
    assert done.code() == "E_ID_CONFLICT"
    assert "receipt 3" in done.err


def test_several_files_are_one_group_in_the_order_given(desk: Desk) -> None:
    paths = [write_round(desk.root, number) for number in (5, 2, 9)]
    done = append(desk, *paths, "--json").document("append")
    assert [item["index"] for item in done["receipts"]] == [3, 4, 5]
    assert [sealed_body(desk, index)["id"] for index in (3, 4, 5)] == ["round-5", "round-2", "round-9"]
    desk.run("verify")


def test_of_a_group_all_or_none_is_sealed_and_the_file_at_fault_is_named(desk: Desk) -> None:
    good = write_round(desk.root, 1)
    elsewhere = write_round(desk.root, 2, slot={**SLOT, "node": "elsewhere", "context": 512})
    done = append(desk, good, elsewhere, status=REFUSED)
    assert done.code() == "E_NODE"
    assert "round-2.json" in done.err
    assert desk.size == 3
    assert not desk.receipt(3).exists()


def test_a_group_that_is_too_large_is_refused_whole_and_no_file_is_blamed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.log.MAX_GROUP", 1)
    done = append(desk, *[write_round(desk.root, number) for number in (1, 2)], status=REFUSED)
    assert done.code() == "E_GROUP"
    assert "round-" not in done.err
    assert desk.size == 3


def test_a_file_given_twice_is_sealed_once(desk: Desk) -> None:
    path = write_round(desk.root)
    done = append(desk, path, path, "--json").document("append")
    assert [(item["index"], item["existed"]) for item in done["receipts"]] == [(3, False), (3, True)]
    assert desk.size == 4


def test_a_scorer_and_a_contributor_may_sign_together(desk: Desk) -> None:
    append(desk, write_round(desk.root), "--key", desk.key("contributor"))
    shown = desk.run("show", "3", "--json").document("show")
    assert (shown["standing"], len(shown["receipt"]["signatures"])) == ("attested", 2)
    desk.run("verify")


def test_one_key_given_twice_never_makes_a_ledger_that_does_not_verify(desk: Desk) -> None:
    append(desk, write_round(desk.root), "--key", desk.key("scorer"), status=REFUSED)
    assert desk.size == 3
    desk.run("verify")


@pytest.mark.parametrize(
    ("by", "code"), [("stranger", "E_KEY_UNKNOWN"), ("root", "E_ROLE"), ("ledger", "E_KEY_UNKNOWN")]
)
def test_only_scorers_and_contributors_append_rounds(desk: Desk, by: str, code: str) -> None:
    assert append(desk, write_round(desk.root), by=by, status=REFUSED).code() == code
    assert desk.size == 3


@pytest.mark.parametrize(
    ("change", "pointer", "hint"),
    [
        pytest.param({"purpose": "speed"}, "/purpose", "score", id="enum"),
        pytest.param({"slot": {**SLOT, "context": "512"}}, "/slot/context", "integer", id="type"),
        pytest.param({"slot": {**SLOT, "context": 512, "node": "a b"}}, "/slot/node", "a b", id="pattern"),
        pytest.param({"slot": None}, "", "slot", id="missing"),
        pytest.param({"note": "hello"}, "", "note", id="unknown"),
        pytest.param({"arms": []}, "/arms", "", id="empty"),
        pytest.param({"id": "line\n"}, "/id", "line", id="newline"),
    ],
)
def test_a_round_outside_its_schema_names_the_file_and_the_place(
    desk: Desk, change: dict[str, Any], pointer: str, hint: str
) -> None:
    done = append(desk, write_round(desk.root, **change), "--json", status=REFUSED).document("error")["error"]
    assert (done["class"], done["code"]) == ("MalformedError", "E_SCHEMA")
    assert done["where"] == f"{desk.root / 'round-0.json'} {pointer}".strip()
    assert hint in done["message"]
    assert desk.size == 3


def test_a_round_that_cannot_be_names_the_file_and_the_place(desk: Desk) -> None:
    reps = [make_rep(0, "main"), make_rep(1, "candidate", wall_ns=1)]
    done = append(desk, write_round(desk.root, reps=reps), "--json", status=REFUSED).document("error")["error"]
    assert (done["class"], done["code"]) == ("RefusedError", "E_WALL")
    assert done["where"] == f"{desk.root / 'round-0.json'} /reps/1/wall_ns"


@pytest.mark.parametrize("command", ["append", "attest"])
def test_an_impossible_parity_is_refused_before_it_is_signed(desk: Desk, command: str) -> None:
    parity = [{"arm": "main", "depth": 512, "trials": 64, "top1": "90"}]
    path = write_round(desk.root, parity=parity)
    error = desk.run(command, path, "--key", desk.key("scorer"), "--json", status=REFUSED).document("error")["error"]
    assert (error["class"], error["code"]) == ("RefusedError", "E_PARITY_RANGE")
    assert error["where"] == f"{path} /parity/0/top1"
    assert desk.size == 3
    assert not list(desk.root.glob("inbox/*"))


@pytest.mark.parametrize("text", ["[]", "3", '"round"', "null", "true"])
def test_a_file_that_is_no_object_is_refused(desk: Desk, text: str) -> None:
    path = desk.root / "round.json"
    path.write_text(text)
    assert append(desk, path, status=REFUSED).code() == "E_SCHEMA"


def test_an_empty_file_is_refused(desk: Desk) -> None:
    path = desk.root / "round.json"
    path.write_text("")
    done = append(desk, path, status=REFUSED)
    assert done.code() == "E_EMPTY_RESULTS"
    assert "round.json" in done.err


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"id": "a", "id": "b"}', "E_DUPLICATE_KEY"),
        ('{"id": 1.5}', "E_FRACTION"),
        ('{"id": "a"} {}', "E_JSON"),
        ("[" * 100_000, "E_DEPTH"),
        ('{"id": ' + "9" * 5000 + "}", "E_DOMAIN"),
    ],
    ids=["duplicate", "fraction", "two", "deep", "digits"],
)
def test_json_that_could_be_read_in_two_ways_is_refused(desk: Desk, text: str, code: str) -> None:
    path = desk.root / "round.json"
    path.write_text(text)
    done = append(desk, path, status=REFUSED)
    assert done.code() == code
    assert "round.json" in done.err


def test_a_file_that_is_not_utf_8_is_refused(desk: Desk) -> None:
    path = desk.root / "round.json"
    path.write_bytes(b'{"id": "\xff"}')
    assert append(desk, path, status=REFUSED).code() == "E_UTF8"


def test_a_control_character_in_text_is_refused_with_its_place(desk: Desk) -> None:
    path = write_round(desk.root, environment={"cpu": "red \x1b[31m"})
    done = append(desk, path, "--json", status=REFUSED).document("error")["error"]
    assert done["code"] == "E_DOMAIN"
    assert done["where"].endswith("/environment/cpu")


def test_text_outside_ascii_stays_what_it_is(desk: Desk) -> None:
    append(desk, write_round(desk.root, environment={"cpu": "é e\u0301 µ"}))
    assert sealed_body(desk, 3)["environment"]["cpu"] == "é e\u0301 µ"
    desk.run("verify")


@pytest.mark.parametrize("name", ["nothing.json", "."])
def test_a_file_that_cannot_be_read_is_unavailable(desk: Desk, name: str) -> None:
    assert append(desk, desk.root / name, status=UNAVAILABLE).code() == "E_IO"


def test_without_input_the_message_says_what_to_give(desk: Desk) -> None:
    done = append(desk, status=REFUSED)
    assert done.code() == "E_NO_INPUT"
    assert "--from" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("--arm", "main=a"), ("--row", "main=0"), ("--environment", "gpu=x"),
        ("--slot", "node=n"), ("--code", "main=x"), ("--commit", "main=x"), ("--weights", "x"),
        ("--harness", "x"), ("--round", "x"), ("--purpose", "noise"), ("--extra", "x"), ("--parity", "main=x"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_options_of_a_tools_files_are_refused_beside_round_json(desk: Desk, words: tuple[str, str]) -> None:
    done = append(desk, write_round(desk.root), *words, status=REFUSED)
    assert done.code() == "E_OPTION"
    assert words[0] in done.err


def test_a_signer_is_required(desk: Desk) -> None:
    done = desk.run("append", write_round(desk.root), status=USAGE)
    assert "--key" in done.err
    assert done.out == ""


def test_before_init_there_is_nothing_to_append_to(empty_desk: Desk) -> None:
    done = append(empty_desk, write_round(empty_desk.root), status=UNAVAILABLE)
    assert done.code() == "E_NO_LEDGER"
    assert "rungbook init" in done.err


# The ledger's key.


def test_without_the_ledgers_key_the_message_names_every_way_to_give_it(desk: Desk) -> None:
    (desk.root / ".rungbook" / "local.toml").unlink()
    done = append(desk, write_round(desk.root), status=UNAVAILABLE)
    assert done.code() == "E_LEDGER_KEY_MISSING"
    assert all(way in done.err for way in ("--ledger-key", "RUNGBOOK_LEDGER_KEY", "local.toml", "rungbook attest"))


def test_the_ledgers_key_comes_from_the_option_then_the_variable_then_the_local_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, wrong = write_round(desk.root), str(desk.key("stranger"))
    monkeypatch.setenv("RUNGBOOK_LEDGER_KEY", wrong)
    assert append(desk, path, status=UNAVAILABLE).code() == "E_LEDGER_KEY"
    append(desk, path, "--ledger-key", desk.key("ledger"))
    monkeypatch.setenv("RUNGBOOK_LEDGER_KEY", str(desk.key("ledger")))
    (desk.root / ".rungbook" / "local.toml").write_text(f'ledger_key = "{wrong}"\n')
    append(desk, write_round(desk.root, 1))
    monkeypatch.delenv("RUNGBOOK_LEDGER_KEY")
    assert append(desk, write_round(desk.root, 2), status=UNAVAILABLE).code() == "E_LEDGER_KEY"
    assert desk.size == 5


@pytest.mark.parametrize("text", ["", 'other = "x"\n', "ledger_key = 3\n", 'ledger_key = ""\n'])
def test_a_local_file_that_names_no_key_is_as_none(desk: Desk, text: str) -> None:
    (desk.root / ".rungbook" / "local.toml").write_text(text)
    assert append(desk, write_round(desk.root), status=UNAVAILABLE).code() == "E_LEDGER_KEY_MISSING"


def test_a_foreign_ledger_key_is_told_from_a_forged_checkpoint(desk: Desk) -> None:
    done = append(desk, write_round(desk.root), "--ledger-key", desk.key("stranger"), status=UNAVAILABLE)
    assert done.code() == "E_LEDGER_KEY"
    assert desk.size == 3


# Other writers, restored copies, damage.


def test_while_another_process_writes_the_lock_is_waited_for_and_then_given_up(desk: Desk) -> None:
    with writing_elsewhere(desk.root):
        done = append(desk, write_round(desk.root), "--lock-timeout", "0.05", "--json", status=UNAVAILABLE)
    error = done.document("error")["error"]
    assert (error["class"], error["code"]) == ("ConflictError", "E_LOCKED")
    append(desk, write_round(desk.root))


def test_a_restored_older_copy_is_not_extended(desk: Desk) -> None:
    checkpoint = desk.root / "receipts" / "checkpoint"
    old = checkpoint.read_bytes()
    append(desk, write_round(desk.root, 1))
    checkpoint.write_bytes(old)
    desk.receipt(3).unlink()
    done = append(desk, write_round(desk.root, 2), status=REFUTED)
    assert done.code() == "E_ROLLBACK"
    assert desk.size == 3


def test_an_altered_ledger_is_not_extended(desk: Desk) -> None:
    path = desk.receipt(1)
    path.write_bytes(path.read_bytes().replace(NODE.encode(), b"node-2"))
    append(desk, write_round(desk.root), status=REFUTED)
    assert desk.size == 3


def test_a_tail_of_a_writer_that_died_is_set_aside_with_a_note(desk: Desk) -> None:
    desk.receipt(3).write_text("half a receipt")
    done = append(desk, write_round(desk.root), "--json")
    assert done.document("append")["receipts"][0]["index"] == 3
    assert "note: receipt file 3 was never committed" in done.err
    (aside,) = (desk.root / ".rungbook" / "uncommitted").rglob("*.json")
    assert aside.read_text() == "half a receipt"
    desk.run("verify")


def test_the_memory_of_what_was_signed_must_be_writable(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    done = append(desk, write_round(desk.root), status=UNAVAILABLE)
    assert "XDG_STATE_HOME" in done.err
    assert desk.size == 3
