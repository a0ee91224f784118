"""``rungbook verify``: verdict, findings, pins, and what was not checked."""

from __future__ import annotations

import hashlib
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from ledger.keys import PrivateKey, parse_public_key_file
from ledger.note import NoteKey
from tests.cli.conftest import ORIGIN, Desk
from tests.cli.forge import seal_anything
from tests.cli.program import OK, REFUSED, REFUTED, UNAVAILABLE, run, run_on_terminal
from tests.cli.samples import NODE, make_round, write_round

if TYPE_CHECKING:
    from pathlib import Path


def verify(desk: Desk, *words: str | Path, status: int = OK) -> dict[str, Any]:
    return desk.run("verify", *words, "--json", status=status).document("verify")


def codes(items: list[dict[str, Any]]) -> list[str]:
    return [str(item["code"]) for item in items]


def vkey_of(desk: Desk, name: str = "ledger", origin: str = ORIGIN) -> str:
    return NoteKey(name=origin, public=parse_public_key_file(desk.pub(name).read_bytes())).vkey


def flip(path: Path, old: bytes, new: bytes) -> None:
    raw = path.read_bytes()
    assert old in raw
    path.write_bytes(raw.replace(old, new, 1))


@pytest.fixture
def full(desk: Desk) -> Desk:
    """The ledger with one round: four receipts."""
    desk.run("append", write_round(desk.root), "--key", desk.key("scorer"))
    return desk


def test_a_ledger_that_holds_is_verified(full: Desk) -> None:
    result = verify(full)
    assert (result["verdict"], result["mode"], result["origin"], result["tree_size"]) == ("verified", "full", ORIGIN, 4)
    assert (result["findings"], result["unknown"], result["flags"]) == ([], [], [])
    assert result["kinds"] == {"genesis": 1, "keys": 2, "round": 1}
    assert result["vkey"] == vkey_of(full)
    assert result["genesis"] == hashlib.sha256(full.receipt(0).read_bytes()).hexdigest()


def test_the_words_say_the_same_as_the_object(full: Desk) -> None:
    done, result = full.run("verify"), verify(full)
    lines = done.out.splitlines()
    assert lines[:5] == [
        f"ledger   {ORIGIN}",
        "size     4 receipts (1 genesis, 2 keys, 1 round)",
        f"root     {result['root_hash']}",
        f"genesis  {result['genesis']}",
        f"key      {result['vkey']}",
    ]
    assert lines[5:7] == ["verified", "not checked:"]
    assert lines[7:] == [f"  - {text}" for text in result["not_checked"]]
    assert done.err == ""


def test_quick_says_that_it_is_quick_and_what_that_leaves_out(full: Desk) -> None:
    done = full.run("verify", "--quick")
    assert "verified (quick)" in done.out.splitlines()
    assert "size     4 receipts\n" in done.out
    assert any("--quick" in text for text in verify(full, "--quick")["not_checked"])
    assert verify(full, "--quick")["mode"] == "quick"


# What was not checked.


def test_pins_and_an_older_checkpoint_shorten_the_list_of_what_was_not_checked(full: Desk, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copy(full.root / "receipts" / "checkpoint", old)
    bare = verify(full)["not_checked"]
    pinned = verify(full, "--vkey", vkey_of(full))["not_checked"]
    since = verify(full, "--vkey", vkey_of(full), "--since", old)["not_checked"]
    assert len(bare) == len(pinned) + 1
    assert any("--vkey" in text for text in bare)
    assert not any("--vkey" in text for text in pinned)
    assert any("--since" in text for text in pinned)
    assert not any("--since" in text for text in since)
    assert any("witness" in text for text in since)
    assert any("clock" in text for text in since)


def test_a_tail_and_strays_are_named_and_do_not_refute(full: Desk) -> None:
    full.receipt(4).write_text("half")
    (full.root / "receipts" / "notes.txt").write_text("hello")
    said = " ".join(verify(full)["not_checked"])
    assert "from index 4 on" in said
    assert "receipts/notes.txt" in said


# Pins.


def test_pins_that_fit_are_reported(full: Desk) -> None:
    genesis = verify(full)["genesis"]
    assert verify(full, "--vkey", vkey_of(full), "--genesis", genesis)["verdict"] == "verified"


def test_a_pinned_genesis_that_differs_refutes(full: Desk) -> None:
    result = verify(full, "--genesis", "0" * 64, status=REFUTED)
    assert (result["verdict"], codes(result["findings"])) == ("refuted", ["E_PIN_GENESIS"])
    assert result["findings"][0]["index"] == 0


def test_a_pinned_key_that_differs_refutes(full: Desk) -> None:
    result = verify(full, "--vkey", vkey_of(full, "stranger"), status=REFUTED)
    assert "E_PIN_VKEY" in codes(result["findings"])
    assert result["vkey"] == vkey_of(full, "stranger")


def test_a_pinned_key_of_another_origin_refutes(full: Desk) -> None:
    assert "E_PIN_VKEY" in codes(
        verify(full, "--vkey", vkey_of(full, origin="example.org/x"), status=REFUTED)["findings"]
    )


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--vkey", "nonsense", "E_VKEY"),
        ("--vkey", "a+12345678+AAAA", "E_VKEY"),
        ("--vkey", "a+12345678+??", "E_BASE64"),
        ("--genesis", "0" * 63, "E_DIGEST"),
        ("--genesis", "G" * 64, "E_DIGEST"),
    ],
)
def test_a_pin_that_is_no_pin_is_refused_and_is_no_verdict(full: Desk, option: str, value: str, code: str) -> None:
    error = full.run("verify", option, value, "--json", status=REFUSED).document("error")["error"]
    assert error["code"] == code


# An older checkpoint.


def test_an_older_checkpoint_that_is_a_prefix_holds(desk: Desk, tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copy(desk.root / "receipts" / "checkpoint", old)
    desk.run("append", write_round(desk.root), "--key", desk.key("scorer"))
    assert verify(desk, "--since", old)["verdict"] == "verified"


def test_a_ledger_cut_off_behind_an_older_checkpoint_is_refuted(full: Desk, desk: Desk, tmp_path: Path) -> None:
    newer = tmp_path / "newer"
    shutil.copy(full.root / "receipts" / "checkpoint", newer)
    seal_anything(desk, "round", make_round(9))
    assert verify(desk, "--since", newer, "--quick")["verdict"] == "verified"
    shorter = Desk(root=tmp_path / "shorter", keys=desk.keys)
    shutil.copytree(full.root, shorter.root)
    shutil.copy(newer, tmp_path / "longest")
    shutil.copy(desk.root / "receipts" / "checkpoint", tmp_path / "longest")
    shutil.copy(newer, shorter.root / "receipts" / "checkpoint")
    shorter.receipt(4).unlink()
    result = verify(shorter, "--since", tmp_path / "longest", status=REFUTED)
    assert codes(result["findings"]) == ["E_ROLLBACK"]


def test_two_histories_under_one_key_are_refuted(desk: Desk, tmp_path: Path) -> None:
    other = Desk(root=tmp_path / "other", keys=desk.keys)
    shutil.copytree(desk.root, other.root)
    seal_anything(other, "round", make_round(1))
    seal_anything(desk, "round", make_round(2))
    result = verify(desk, "--since", other.root / "receipts" / "checkpoint", status=REFUTED)
    assert "E_FORK" in codes(result["findings"])


@pytest.mark.parametrize("text", ["", "nonsense", "example.org/bench\n1\n"])
def test_a_file_that_is_no_checkpoint_is_bad_input_and_says_nothing_of_the_ledger(
    full: Desk, tmp_path: Path, text: str
) -> None:
    (tmp_path / "old").write_text(text)
    done = full.run("verify", "--since", tmp_path / "old", "--json", status=REFUSED)
    error = done.document("error")["error"]
    assert (error["class"], error["where"]) == ("MalformedError", str(tmp_path / "old"))


def test_an_older_checkpoint_that_cannot_be_read_is_no_verdict(full: Desk, tmp_path: Path) -> None:
    done = full.run("verify", "--since", tmp_path / "none", status=UNAVAILABLE)
    assert done.code() == "E_IO"


# Findings: what, where, and status 3.


def test_an_altered_receipt_is_refuted_with_its_index(full: Desk) -> None:
    flip(full.receipt(3), b'"cpu":"one"', b'"cpu":"two"')
    result = verify(full, status=REFUTED)
    assert {item["index"] for item in result["findings"]} == {3}
    assert "E_SIGNATURE" in codes(result["findings"])
    done = full.run("verify", status=REFUTED)
    assert "REFUTED  receipt 3 " in done.out
    assert f"refuted: {len(result['findings'])} finding(s)" in done.out.splitlines()
    assert "verified" not in done.out.splitlines()


def test_a_missing_receipt_is_refuted(full: Desk) -> None:
    full.receipt(2).unlink()
    result = verify(full, status=REFUTED)
    assert ("E_RECEIPT_MISSING", 2) in {(item["code"], item["index"]) for item in result["findings"]}


def test_a_missing_checkpoint_beside_receipts_is_refuted(full: Desk) -> None:
    (full.root / "receipts" / "checkpoint").unlink()
    result = verify(full, status=REFUTED)
    assert codes(result["findings"]) == ["E_CHECKPOINT_MISSING"]
    assert (result["origin"], result["tree_size"], result["root_hash"]) == (None, None, None)
    assert "REFUTED  ledger checkpoint  E_CHECKPOINT_MISSING" in full.run("verify", status=REFUTED).out


def test_a_damaged_checkpoint_is_refuted_not_refused(full: Desk) -> None:
    (full.root / "receipts" / "checkpoint").write_text("nonsense")
    assert verify(full, status=REFUTED)["verdict"] == "refuted"


def test_a_missing_genesis_is_refuted(full: Desk) -> None:
    full.receipt(0).unlink()
    result = verify(full, status=REFUTED)
    assert (result["genesis"], result["vkey"]) == (None, None)


def test_a_checkpoint_by_another_key_is_refuted(full: Desk) -> None:
    forged = Desk(root=full.root, keys=full.keys)
    text = (forged.root / "receipts" / "checkpoint").read_text()
    key = NoteKey(name=ORIGIN, public=PrivateKey.generate().public)
    (forged.root / "receipts" / "checkpoint").write_text(text.replace(text.splitlines()[4], f"— {ORIGIN} {key.vkey}"))
    assert verify(full, status=REFUTED)["verdict"] == "refuted"


def test_a_swap_of_two_receipts_is_refuted(full: Desk) -> None:
    first, second = full.receipt(1).read_bytes(), full.receipt(2).read_bytes()
    full.receipt(1).write_bytes(second)
    full.receipt(2).write_bytes(first)
    assert {item["index"] for item in verify(full, status=REFUTED)["findings"]} >= {1, 2}


def test_a_round_by_a_key_without_a_role_is_refuted_although_all_hashes_are_right(desk: Desk) -> None:
    index = seal_anything(desk, "round", make_round(), by="stranger")
    assert verify(desk, "--quick")["verdict"] == "verified"
    result = verify(desk, status=REFUTED)
    assert [(item["code"], item["index"], item["class"]) for item in result["findings"]] == [
        ("E_KEY_UNKNOWN", index, "RefusedError")
    ]


def test_a_round_for_another_node_is_refuted(desk: Desk) -> None:
    body = make_round()
    body["slot"]["node"] = "elsewhere"
    seal_anything(desk, "round", body)
    assert codes(verify(desk, status=REFUTED)["findings"]) == ["E_NODE"]


def test_a_long_list_of_findings_is_cut_in_words_and_whole_in_the_object(desk: Desk) -> None:
    for number in range(25):
        seal_anything(desk, "round", make_round(number), by="stranger", seq=number)
    assert len(verify(desk, status=REFUTED)["findings"]) == 25
    done = desk.run("verify", status=REFUTED)
    assert done.out.count("REFUTED  receipt ") == 20
    assert "5 more" in done.out
    assert "refuted: 25 finding(s)" in done.out


# What this release cannot judge.


def test_a_kind_of_a_newer_release_is_unknown_and_neither_verified_nor_refuted(desk: Desk) -> None:
    index = seal_anything(desk, "ticket", {"node": NODE})
    result = verify(desk, status=UNAVAILABLE)
    assert (result["verdict"], result["findings"]) == ("unknown", [])
    assert [(item["code"], item["index"]) for item in result["unknown"]] == [("E_KIND_UNKNOWN", index)]
    done = desk.run("verify", status=UNAVAILABLE)
    assert f"UNKNOWN  receipt {index}" in done.out
    assert "could not tell: 1 receipt(s)" in done.out
    assert verify(desk, "--quick")["verdict"] == "verified"


def test_refuted_outweighs_unknown(desk: Desk) -> None:
    seal_anything(desk, "ticket", {"node": NODE})
    seal_anything(desk, "round", make_round(), by="stranger")
    assert verify(desk, status=REFUTED)["verdict"] == "refuted"


# Flags: what holds but deserves a look.


def test_a_clock_that_ran_back_is_flagged_and_verified(desk: Desk) -> None:
    index = seal_anything(desk, "round", make_round(), sealed_at="2001-01-01T00:00:00Z")
    result = verify(desk)
    assert (result["verdict"], codes(result["flags"])) == ("verified", ["F_CLOCK_BACK"])
    assert (result["flags"][0]["class"], result["flags"][0]["index"]) == (None, index)
    assert f"flag  receipt {index} /seal/sealed_at  F_CLOCK_BACK" in desk.run("verify").out


# Where there is nothing, and where the configuration says otherwise.


def test_an_empty_folder_is_no_ledger_and_no_verdict(empty_desk: Desk) -> None:
    for words in (("verify",), ("log",), ("show", "0"), ("export", "0")):
        done = empty_desk.run(*words, status=UNAVAILABLE)
        assert done.code() == "E_NO_LEDGER"
        assert str(empty_desk.root) in done.err


def test_a_folder_with_nothing_but_a_configuration_is_no_ledger(empty_desk: Desk) -> None:
    (empty_desk.root / "rungbook.toml").write_text(f'origin = "{ORIGIN}"\n')
    assert empty_desk.run("verify", status=UNAVAILABLE).code() == "E_NO_LEDGER"


def test_a_configuration_for_another_ledger_refutes(full: Desk) -> None:
    (full.root / "rungbook.toml").write_text('origin = "example.org/other"\n')
    result = verify(full, status=REFUTED)
    assert codes(result["findings"]) == ["E_ORIGIN"]
    assert "example.org/other" in result["findings"][0]["message"]


def test_a_ledger_without_a_configuration_is_verified_too(full: Desk) -> None:
    (full.root / "rungbook.toml").unlink()
    assert verify(full)["verdict"] == "verified"


def test_a_receipt_that_cannot_be_read_is_no_verdict(full: Desk) -> None:
    full.receipt(2).unlink()
    full.receipt(2).mkdir()
    done = full.run("verify", "--json", status=UNAVAILABLE).document("error")
    assert (done["error"]["code"], done["error"]["index"]) == ("E_IO", 2)


# Progress.


def test_on_a_terminal_progress_is_shown_and_never_runs_into_the_result(desk: Desk) -> None:
    paths = [write_round(desk.root, number) for number in range(520)]
    desk.run("append", *paths, "--key", desk.key("scorer"))
    done = run_on_terminal("verify", cwd=desk.root)
    assert done.status == OK
    assert done.out.startswith(f"ledger   {ORIGIN}\n")
    assert "verified 512 of 523 receipts" in done.err
    assert done.err.endswith("\n")


def test_no_progress_with_json_or_without_a_terminal(full: Desk) -> None:
    assert run("verify", cwd=full.root).err == ""
    assert run_on_terminal("verify", "--json", cwd=full.root).err == ""
