"""The shell script that checks one receipt with openssl and jq: good receipts pass, altered ones do not."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

import pytest

from ledger.keys import PrivateKey
from ledger.receipt import Receipt, Seal, decode_receipt, encode_receipt, file_digest
from ledger.statement import sign_statement
from tests.vectors import golden_ledger as golden
from tests.vectors.outside_tools import need, status

SCRIPT = Path(__file__).parents[1] / "tools" / "check_with_openssl.sh"
SIGNERS = ["root", "scorer", "scorer"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the golden ledger that a test may alter, with the public keys beside it."""
    for tool in ("sh", "jq", "openssl", "sha256sum", "base64", "cmp"):
        need(tool)
    shutil.copytree(golden.FOLDER / "receipts", tmp_path / "receipts")
    for who, key in golden.KEYS.items():
        (tmp_path / f"{who}.pub").write_text(f"{key.public.openssh} {who}@example\n")
    return tmp_path


def check(folder: Path, index: int | str, who: str) -> int:
    return status("sh", SCRIPT, folder, str(index), folder / f"{who}.pub")


def edit(folder: Path, index: int, old: bytes, new: bytes) -> None:
    path = folder / golden.RECEIPTS[index]
    raw = path.read_bytes()
    assert raw.count(old) == 1
    path.write_bytes(raw.replace(old, new))


@pytest.mark.parametrize("index", range(3))
def test_the_script_accepts_a_golden_receipt_with_its_signers_key_and_with_no_other(folder: Path, index: int) -> None:
    assert {who: check(folder, index, who) for who in golden.KEYS} == {
        who: 0 if who == SIGNERS[index] else 1 for who in golden.KEYS
    }


@pytest.mark.parametrize(
    ("index", "old", "new"),
    [
        (0, b'"text":"first"', b'"text":"First"'),
        (1, b'"n":9007199254740991', b'"n":9007199254740990'),
        (1, b'"0.000064"', b'"0.000065"'),
        (2, b'"name":"candidate"', b'"name":"candidatf"'),
        (2, b"golden-c", b"golden-d"),
    ],
)
def test_the_script_refuses_an_altered_statement(folder: Path, index: int, old: bytes, new: bytes) -> None:
    edit(folder, index, old, new)
    assert check(folder, index, SIGNERS[index]) == 1


@pytest.mark.parametrize(
    ("index", "old", "new"), [(0, b'"prev":"0', b'"prev":"1'), (1, b'"prev":"5', b'"prev":"6'), (2, b"8630f", b"8630e")]
)
def test_the_script_refuses_an_altered_prev(folder: Path, index: int, old: bytes, new: bytes) -> None:
    edit(folder, index, old, new)
    assert check(folder, index, SIGNERS[index]) == 1


@pytest.mark.parametrize("index", [1, 2])
def test_the_script_refuses_a_receipt_whose_predecessor_was_altered_or_dropped(folder: Path, index: int) -> None:
    before = folder / golden.RECEIPTS[index - 1]
    before.write_bytes(before.read_bytes().replace(b"2026-11-29", b"2026-11-28"))
    assert check(folder, index, SIGNERS[index]) == 1
    before.unlink()
    assert check(folder, index, SIGNERS[index]) == 1


def test_the_script_refuses_an_altered_index_and_signature(folder: Path) -> None:
    edit(folder, 2, b'"index":2', b'"index":3')
    assert check(folder, 2, "scorer") == 1
    edit(folder, 2, b'"index":3', b'"index":2')
    assert check(folder, 2, "scorer") == 0
    edit(folder, 2, b'"sig":"p', b'"sig":"q')
    assert check(folder, 2, "scorer") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'{"n":2,"text":"third"}', b'{"text":"third","n":2}'),
        (b'{"n":2,', b'{"n":2, '),
        (b'{"n":2,', b'{"n":1,"n":2,'),
        (b'"text":"third"', b'"text":"\\u0074hird"'),
    ],
)
def test_the_script_refuses_a_file_whose_bytes_are_not_the_signed_ones_though_they_mean_the_same(
    folder: Path, old: bytes, new: bytes
) -> None:
    edit(folder, 2, old, new)
    assert check(folder, 2, "scorer") == 1


def test_the_script_finds_one_signature_among_several(folder: Path) -> None:
    previous = golden.read(golden.RECEIPTS[2])
    keys = [golden.KEYS["root"], golden.KEYS["scorer"]]
    signed = sign_statement(decode_receipt(previous).statement, keys)
    seal = Seal(index=3, prev=file_digest(previous).hex(), sealed_at="2026-11-29T20:33:00Z")
    (folder / "receipts/000/000/003.json").write_bytes(encode_receipt(Receipt(seal=seal, signed=signed)))
    assert [check(folder, 3, who) for who in ("root", "scorer", "ledger")] == [0, 0, 1]


def test_the_script_accepts_only_an_intact_ed25519_key(folder: Path) -> None:
    public = golden.KEYS["scorer"].public
    blob = base64.b64decode(public.openssh.split()[1])
    for bad in (blob + b"\x00", blob[:-1], blob[:19] + PrivateKey.from_seed(bytes(32)).public.raw, b"", blob[4:]):
        (folder / "scorer.pub").write_text(f"ssh-ed25519 {base64.b64encode(bad).decode()}\n")
        assert check(folder, 1, "scorer") == 1
    (folder / "scorer.pub").write_text(f"{public.openssh}\n")
    assert check(folder, 1, "scorer") == 0


@pytest.mark.parametrize("index", ["", "x", "01", "-1", "1x", "0x1"])
def test_the_script_calls_a_wrong_index_wrong_usage(folder: Path, index: str) -> None:
    assert check(folder, index, "root") == 2


def test_the_script_refuses_a_receipt_that_is_not_there_or_not_json(folder: Path) -> None:
    assert check(folder, 3, "scorer") == 1
    (folder / golden.RECEIPTS[2]).write_bytes(b"not JSON\n")
    assert check(folder, 2, "scorer") == 1
