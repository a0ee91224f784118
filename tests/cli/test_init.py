"""``rungbook init``."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest

from ledger.note import parse_vkey
from tests.cli.conftest import ORIGIN, Desk
from tests.cli.program import OK, REFUSED, REFUTED, UNAVAILABLE, USAGE, Result, run
from tests.vectors.outside_tools import need

if TYPE_CHECKING:
    from pathlib import Path


def init(desk: Desk, *words: str | Path, origin: str = ORIGIN, roots: tuple[str, ...] = ("root",)) -> Result:
    root_words = [word for name in roots for word in ("--root-key", desk.key(name))]
    return run("init", "--origin", origin, *root_words, "--ledger-key", desk.key("ledger"), *words, cwd=desk.root)


def read_genesis(desk: Desk) -> dict[str, object]:
    body = json.loads(desk.receipt(0).read_bytes())["statement"]["predicate"]["genesis"]
    assert isinstance(body, dict)
    return body


def test_init_makes_receipt_checkpoint_configuration_attributes_and_local_files(empty_desk: Desk) -> None:
    assert init(empty_desk).status == OK
    root = empty_desk.root
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert files - {".rungbook/lock"} == {
        ".gitattributes", ".rungbook/.gitignore", ".rungbook/local.toml",
        "receipts/000/000/000.json", "receipts/checkpoint", "rungbook.toml",
    }  # fmt: skip
    assert tomllib.loads((root / "rungbook.toml").read_text()) == {"origin": ORIGIN}
    assert (root / ".gitattributes").read_text() == "receipts/** -text\n"
    local = tomllib.loads((root / ".rungbook" / "local.toml").read_text())
    assert local == {"ledger_key": str(empty_desk.key("ledger"))}


def test_init_prints_key_and_digest_that_verify_takes_as_pins(empty_desk: Desk) -> None:
    made = init(empty_desk, "--json").document("init")
    assert made["genesis"] == hashlib.sha256(empty_desk.receipt(0).read_bytes()).hexdigest()
    assert (made["root"], made["origin"]) == (str(empty_desk.root), ORIGIN)
    assert parse_vkey(made["vkey"]).public.openssh == empty_desk.pub("ledger").read_text().strip()
    verified = empty_desk.run("verify", "--vkey", made["vkey"], "--genesis", made["genesis"], "--json")
    assert verified.document("verify")["verdict"] == "verified"


def test_init_says_on_stdout_what_to_publish_and_on_stderr_what_comes_next(empty_desk: Desk) -> None:
    done = init(empty_desk)
    assert [line.split()[0] for line in done.out.splitlines()] == ["new", "verification", "genesis"]
    assert "rungbook grant" in done.err


def test_git_tracks_the_ledger_and_nothing_that_is_local(empty_desk: Desk) -> None:
    need("git")
    assert init(empty_desk).status == OK
    subprocess.run(["git", "init", "-q"], cwd=empty_desk.root, check=True)
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    listed = subprocess.run(words, cwd=empty_desk.root, capture_output=True, text=True, check=True)
    names = sorted(line.split()[1] for line in listed.stdout.splitlines())
    assert names == [".gitattributes", "receipts/000/000/000.json", "receipts/checkpoint", "rungbook.toml"]


def test_the_genesis_names_the_given_keys_and_thresholds(empty_desk: Desk) -> None:
    desk = empty_desk
    maintainers = ("--maintainer", desk.pub("scorer"), "--maintainer", desk.pub("stranger"))
    thresholds = ("--threshold", "2", "--maintainer-threshold", "2")
    assert init(desk, *maintainers, *thresholds, roots=("root", "root-2")).status == OK
    lines = {name: desk.pub(name).read_text().strip() for name in ("root", "root-2", "ledger", "scorer", "stranger")}
    assert read_genesis(desk) == {
        "origin": ORIGIN,
        "ledger_key": lines["ledger"],
        "root": {"keys": [lines["root"], lines["root-2"]], "threshold": 2},
        "maintainers": {"keys": [lines["scorer"], lines["stranger"]], "threshold": 2},
    }
    assert len(json.loads(desk.receipt(0).read_bytes())["signatures"]) == 2
    assert desk.run("verify").status == OK


def test_without_maintainers_the_root_keys_maintain(empty_desk: Desk) -> None:
    assert init(empty_desk, roots=("root", "root-2")).status == OK
    body = read_genesis(empty_desk)
    assert body["maintainers"] == body["root"]


def test_init_makes_the_folder_that_is_named(empty_desk: Desk) -> None:
    assert init(empty_desk, "deep/er").status == OK
    assert run("verify", "--quick", "-C", empty_desk.root / "deep" / "er").status == OK


def test_init_keeps_a_configuration_and_adds_to_the_attributes(empty_desk: Desk) -> None:
    (empty_desk.root / "rungbook.toml").write_text(f'origin = "{ORIGIN}"\n[slot]\nnode = "n"\n')
    (empty_desk.root / ".gitattributes").write_text("*.png binary\n")
    assert init(empty_desk).status == OK
    assert "[slot]" in (empty_desk.root / "rungbook.toml").read_text()
    assert (empty_desk.root / ".gitattributes").read_text() == "*.png binary\nreceipts/** -text\n"


def test_init_does_not_add_the_attributes_twice(empty_desk: Desk) -> None:
    (empty_desk.root / ".gitattributes").write_text("receipts/** -text\n")
    assert init(empty_desk).status == OK
    assert (empty_desk.root / ".gitattributes").read_text() == "receipts/** -text\n"


def test_init_refuses_a_folder_that_holds_a_ledger_and_leaves_it(desk: Desk) -> None:
    before = {path: path.read_bytes() for path in desk.root.rglob("*") if path.is_file()}
    done = init(desk, origin="example.org/other")
    assert (done.status, done.code()) == (REFUSED, "E_LEDGER_EXISTS")
    assert {path: path.read_bytes() for path in desk.root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("missing", ["rungbook.toml", ".gitattributes", ".rungbook/local.toml"])
def test_init_that_was_interrupted_behind_its_commit_is_finished_by_the_same_command(
    empty_desk: Desk, missing: str
) -> None:
    first = init(empty_desk)
    whole = {path: path.read_bytes() for path in empty_desk.root.rglob("*") if path.is_file()}
    (empty_desk.root / missing).unlink()
    again = init(empty_desk)
    assert (again.status, again.out) == (OK, first.out)
    assert {path: path.read_bytes() for path in empty_desk.root.rglob("*") if path.is_file()} == whole
    assert init(empty_desk).code() == "E_LEDGER_EXISTS"


def test_another_ledger_is_not_finished(desk: Desk) -> None:
    (desk.root / "rungbook.toml").unlink()
    assert init(desk, origin="example.org/other").code() == "E_LEDGER_EXISTS"
    desk.receipt(0).write_bytes(b"{}\n")
    assert init(desk).code() == "E_LEDGER_EXISTS"
    assert not (desk.root / "rungbook.toml").exists()


def test_one_key_cannot_be_root_and_ledger(empty_desk: Desk) -> None:
    done = init(empty_desk, roots=("root", "ledger"))
    assert (done.status, done.code()) == (REFUSED, "E_SAME_KEY")
    assert not list(empty_desk.root.iterdir())


def test_a_second_ledger_of_one_key_and_origin_would_be_a_fork(new_desk: Desk, tmp_path: Path) -> None:
    second = init(new_desk, tmp_path / "second")
    assert (second.status, second.code()) == (REFUTED, "E_ROLLBACK")
    assert not (tmp_path / "second" / "receipts").exists()
    assert init(new_desk, tmp_path / "third", origin="example.org/third").status == OK


@pytest.mark.parametrize("origin", ["", "two words", "a+b", "tab\there", "bench\n"])
def test_an_origin_that_no_checkpoint_can_carry_is_refused(empty_desk: Desk, origin: str) -> None:
    done = init(empty_desk, origin=origin)
    assert (done.status, done.code()) == (REFUSED, "E_NAME")
    assert not list(empty_desk.root.iterdir())


@pytest.mark.parametrize("origin", ['quo"te', "back\\slash", "{brace}", "#hash", "'single'"])
def test_an_origin_that_is_accepted_gives_a_ledger_that_every_command_can_open(empty_desk: Desk, origin: str) -> None:
    done = init(empty_desk, origin=origin)
    assert done.status in (OK, REFUSED), done
    if done.status == OK:
        assert empty_desk.run("verify", "--json").document("verify")["origin"] == origin


def test_an_origin_outside_ascii_is_refused(empty_desk: Desk) -> None:
    assert init(empty_desk, origin="bénch").status == REFUSED
    assert not (empty_desk.root / "receipts").exists()


def test_a_key_given_twice_does_not_count_twice(empty_desk: Desk) -> None:
    done = init(empty_desk, "--threshold", "2", roots=("root", "root"))
    assert (done.status, done.code()) == (REFUSED, "E_DUPLICATE_SIGNER")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--threshold", "2"), id="root"),
        pytest.param(("--maintainer-threshold", "2"), id="maintainers"),
    ],
)
def test_a_threshold_that_the_keys_cannot_meet_is_refused_and_nothing_is_written(
    empty_desk: Desk, words: tuple[str, ...]
) -> None:
    done = init(empty_desk, *words)
    assert (done.status, done.code()) == (REFUSED, "E_THRESHOLD")
    assert not (empty_desk.root / "receipts").exists()
    assert not (empty_desk.root / "rungbook.toml").exists()


@pytest.mark.parametrize("words", [("--threshold", "0"), ("--maintainer-threshold", "0"), ("--lock-timeout", "-1")])
def test_numbers_out_of_range_are_usage_errors(empty_desk: Desk, words: tuple[str, ...]) -> None:
    assert init(empty_desk, *words).status == USAGE


@pytest.mark.parametrize("left_out", ["--origin", "--root-key", "--ledger-key"])
def test_every_key_and_the_name_are_required(empty_desk: Desk, left_out: str) -> None:
    options: dict[str, str | Path]
    options = {"--origin": ORIGIN, "--root-key": empty_desk.key("root"), "--ledger-key": empty_desk.key("ledger")}
    words = [word for name, value in options.items() if name != left_out for word in (name, value)]
    done = run("init", *words, cwd=empty_desk.root)
    assert done.status == USAGE
    assert left_out in done.err


def test_a_key_file_that_is_missing_is_unavailable(empty_desk: Desk) -> None:
    done = init(empty_desk, roots=("nobody",))
    assert (done.status, done.code()) == (UNAVAILABLE, "E_IO")
    assert "nobody" in done.err


def test_a_public_key_file_that_is_no_key_is_named(empty_desk: Desk) -> None:
    path = empty_desk.root / "notes.txt"
    path.write_text("hello\n")
    done = init(empty_desk, "--maintainer", path)
    assert done.status == REFUSED
    assert "notes.txt" in done.err


def test_a_folder_below_a_file_is_unavailable(empty_desk: Desk) -> None:
    (empty_desk.root / "file").write_text("")
    done = init(empty_desk, "file/ledger")
    assert (done.status, done.code()) == (UNAVAILABLE, "E_IO")


def test_an_encrypted_ledger_key_is_opened_with_its_own_passphrase(
    empty_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, sealing = empty_desk, tmp_path / "sealing"
    monkeypatch.setenv("RUNGBOOK_PASSPHRASE", "one")
    assert run("key", "new", sealing, "--encrypt").status == OK
    words = ("--origin", ORIGIN, "--root-key", desk.key("root"), "--ledger-key", sealing)
    desk.run("init", *words)
    grant = ("grant", desk.pub("contributor"), "--role", "contributor", "--key", desk.key("root"))
    monkeypatch.setenv("RUNGBOOK_PASSPHRASE", "of another key")
    assert desk.run(*grant, status=UNAVAILABLE).code() == "E_PASSPHRASE"
    monkeypatch.setenv("RUNGBOOK_LEDGER_PASSPHRASE", "one")
    desk.run(*grant)
    assert desk.size == 2


def test_init_opens_an_encrypted_ledger_key_with_the_ledgers_passphrase(
    empty_desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, sealing = empty_desk, tmp_path / "sealing"
    monkeypatch.setenv("RUNGBOOK_PASSPHRASE", "one")
    assert run("key", "new", sealing, "--encrypt").status == OK
    monkeypatch.delenv("RUNGBOOK_PASSPHRASE")
    monkeypatch.setenv("RUNGBOOK_LEDGER_PASSPHRASE", "one")
    desk.run("init", "--origin", ORIGIN, "--root-key", desk.key("root"), "--ledger-key", sealing)
