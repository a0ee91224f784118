"""``rungbook key``."""

from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.cli.program import OK, REFUSED, UNAVAILABLE, USAGE, Result, run, run_on_terminal
from tests.vectors.outside_tools import need

if TYPE_CHECKING:
    from pathlib import Path


def new_key(folder: Path, *words: str | Path, name: str = "key") -> Path:
    done = run("key", "new", name, *words, cwd=folder)
    assert done.status == OK, done
    return folder / name


def make_lock(monkeypatch: pytest.MonkeyPatch, words: str = "open sesame") -> None:
    monkeypatch.setenv("RUNGBOOK_PASSPHRASE", words)


def test_new_writes_a_private_file_that_only_its_owner_reads_and_a_public_one(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        path = new_key(tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("key.pub").stat().st_mode) == 0o644
    assert path.read_bytes().startswith(b"-----BEGIN OPENSSH PRIVATE KEY-----\n")


def test_the_public_file_and_the_id_are_those_of_ssh_keygen(tmp_path: Path) -> None:
    need("ssh-keygen")
    made = run("key", "new", "key", "--json", cwd=tmp_path).document("key")
    listed = subprocess.run(["ssh-keygen", "-lf", "key.pub"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert made["keyid"] == listed.stdout.split()[1]
    derived = subprocess.run(["ssh-keygen", "-yf", "key"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert derived.stdout.split()[:2] == (tmp_path / "key.pub").read_text().split()
    assert made["openssh"].split() == derived.stdout.split()[:2]
    assert (made["file"], made["private_file"]) == ("key.pub", "key")


def test_a_key_of_ssh_keygen_signs_and_shows_like_one_of_ours(tmp_path: Path) -> None:
    need("ssh-keygen")
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a comment", "-f", "theirs"]
    subprocess.run(words, cwd=tmp_path, check=True)
    shown = [run("key", "show", name, "--json", cwd=tmp_path).document("key") for name in ("theirs", "theirs.pub")]
    assert shown[0]["keyid"] == shown[1]["keyid"]
    assert shown[0]["openssh"] == " ".join((tmp_path / "theirs.pub").read_text().split()[:2])


def test_new_never_overwrites_either_file(tmp_path: Path) -> None:
    path = new_key(tmp_path)
    before = path.read_bytes(), path.with_name("key.pub").read_bytes()
    done = run("key", "new", "key", cwd=tmp_path)
    assert (done.status, done.code()) == (REFUSED, "E_EXISTS")
    assert (path.read_bytes(), path.with_name("key.pub").read_bytes()) == before
    path.unlink()
    assert run("key", "new", "key", cwd=tmp_path).status == REFUSED
    assert not path.exists()
    assert path.with_name("key.pub").read_bytes() == before[1]


def test_new_does_not_write_through_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "key").symlink_to(tmp_path / "elsewhere")
    done = run("key", "new", "key", cwd=tmp_path)
    assert (done.status, done.code()) == (UNAVAILABLE, "E_IO")
    assert not (tmp_path / "elsewhere").exists()


def test_two_keys_are_never_the_same(tmp_path: Path) -> None:
    assert (
        new_key(tmp_path, name="a").with_name("a.pub").read_bytes()
        != new_key(tmp_path, name="b").with_name("b.pub").read_bytes()
    )


def test_new_says_what_must_stay_private_on_stderr_and_prints_the_id_on_stdout(tmp_path: Path) -> None:
    done = run("key", "new", "key", cwd=tmp_path)
    openssh = (tmp_path / "key.pub").read_text()
    keyid = run("key", "show", "key.pub", "--json", cwd=tmp_path).document("key")["keyid"]
    assert done.out == f"{keyid}  key.pub\n{openssh}"
    assert "never publish it" in done.err


def test_new_in_a_folder_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    done = run("key", "new", "no/key", cwd=tmp_path)
    assert (done.status, done.code()) == (UNAVAILABLE, "E_IO")
    assert "no/key" in done.err


def test_show_gives_the_same_for_both_halves_and_never_the_private_one(tmp_path: Path) -> None:
    path = new_key(tmp_path)
    private, public = (run("key", "show", name, cwd=tmp_path) for name in ("key", "key.pub"))
    assert private.out.replace("  key\n", "  key.pub\n") == public.out
    assert "PRIVATE" not in private.out
    assert path.read_text().splitlines()[1] not in private.out


@pytest.mark.parametrize("form", [pytest.param((), id="text"), pytest.param(("--json",), id="json")])
def test_show_of_something_else_names_the_file_and_what_was_expected(tmp_path: Path, form: tuple[str, ...]) -> None:
    (tmp_path / "notes.txt").write_text("ssh-rsa AAAA me\n")
    done = run("key", "show", "notes.txt", *form, cwd=tmp_path)
    assert done.status == REFUSED
    assert "ssh-ed25519" in done.err
    assert "notes.txt" in done.err


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("empty", "", "E_KEY"),
        ("two-lines", "ssh-ed25519 AAAA\nssh-ed25519 AAAA\n", "E_KEY"),
        ("no-base64", "ssh-ed25519 ???\n", "E_BASE64"),
        ("cut-private", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNza\n", "E_KEY"),
    ],
)
def test_show_refuses_a_damaged_key(tmp_path: Path, name: str, text: str, code: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    path.chmod(0o600)
    done = run("key", "show", path)
    assert (done.status, done.code()) == (REFUSED, code)


def test_show_refuses_a_public_file_that_is_not_text(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_bytes(b"ssh-ed25519 \xff\xfe\n")
    assert run("key", "show", "key.pub", cwd=tmp_path).code() == "E_KEY"


def test_show_refuses_a_private_key_of_another_kind(tmp_path: Path) -> None:
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = tmp_path / "other"
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    path.chmod(0o600)
    done = run("key", "show", path)
    assert (done.status, done.code()) == (REFUSED, "E_KEY")
    assert "Ed25519" in done.err


def test_show_of_a_missing_file_is_unavailable(tmp_path: Path) -> None:
    done = run("key", "show", "none.pub", cwd=tmp_path)
    assert (done.status, done.code()) == (UNAVAILABLE, "E_IO")
    assert "none.pub" in done.err


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o644, 0o660, 0o610])
def test_a_private_key_that_others_could_read_is_not_used(tmp_path: Path, mode: int) -> None:
    path = new_key(tmp_path)
    path.chmod(mode)
    done = run("key", "show", path)
    assert (done.status, done.code()) == (UNAVAILABLE, "E_KEY_MODE")
    assert "chmod 600" in done.err


def test_an_encrypted_key_opens_with_its_passphrase_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_lock(monkeypatch)
    path = new_key(tmp_path, "--encrypt")
    opened = run("key", "show", path, "--json").document("key")
    assert opened["openssh"] == path.with_name("key.pub").read_text().strip()
    make_lock(monkeypatch, "something else")
    wrong = run("key", "show", path)
    assert (wrong.status, wrong.code()) == (UNAVAILABLE, "E_PASSPHRASE")
    monkeypatch.delenv("RUNGBOOK_PASSPHRASE")
    none = run("key", "show", path)
    assert (none.status, none.code()) == (UNAVAILABLE, "E_PASSPHRASE")
    assert str(path) in none.err


def test_an_encrypted_key_opens_with_ssh_keygen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("ssh-keygen")
    make_lock(monkeypatch)
    path = new_key(tmp_path, "--encrypt")
    words = ["ssh-keygen", "-y", "-P", "open sesame", "-f", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split()[:2] == path.with_name("key.pub").read_text().split()


def test_encrypt_without_a_terminal_and_without_a_passphrase_makes_nothing(tmp_path: Path) -> None:
    done = run("key", "new", "key", "--encrypt", cwd=tmp_path)
    assert (done.status, done.code()) == (UNAVAILABLE, "E_PASSPHRASE")
    assert "RUNGBOOK_PASSPHRASE" in done.err
    assert not list(tmp_path.glob("key*"))


def show_on_terminal(folder: Path, answer: str) -> Result:
    return run_on_terminal("key", "show", "key", "--json", cwd=folder, answers=[("Passphrase for key: ", answer)])


def test_at_a_terminal_the_passphrase_of_a_key_is_asked_for_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_lock(monkeypatch)
    new_key(tmp_path, "--encrypt")
    monkeypatch.delenv("RUNGBOOK_PASSPHRASE")
    opened = show_on_terminal(tmp_path, "open sesame")
    assert opened.document("key")["openssh"] == (tmp_path / "key.pub").read_text().strip()
    assert "sesame" not in opened.err
    wrong = show_on_terminal(tmp_path, "shut")
    assert (wrong.status, wrong.document("error")["error"]["code"]) == (UNAVAILABLE, "E_PASSPHRASE")


def test_at_a_terminal_a_new_passphrase_is_asked_for_twice_and_stdout_stays_the_result(tmp_path: Path) -> None:
    asked = [("Passphrase", "open sesame"), ("onfirm", "open sesame")]
    made = run_on_terminal("key", "new", "key", "--encrypt", "--json", cwd=tmp_path, answers=asked)
    assert made.status == OK, made
    assert "sesame" not in made.err
    assert show_on_terminal(tmp_path, "open sesame").document("key")["keyid"] == made.document("key")["keyid"]


@pytest.mark.parametrize("answers", [("open sesame", "open sesamo"), ("",)], ids=["not-repeated", "empty"])
def test_a_passphrase_that_is_empty_or_not_repeated_makes_no_key(tmp_path: Path, answers: tuple[str, ...]) -> None:
    asked = [("assphrase", answer) for answer in answers]
    made = run_on_terminal("key", "new", "key", "--encrypt", "--json", cwd=tmp_path, answers=asked)
    assert (made.status, made.document("error")["error"]["code"]) == (UNAVAILABLE, "E_PASSPHRASE")
    assert not list(tmp_path.glob("key*"))


def test_key_without_a_command_shows_what_there_is(tmp_path: Path) -> None:
    done = run("key", cwd=tmp_path)
    assert done.status == USAGE
    assert all(name in done.out + done.err for name in ("new", "show"))
