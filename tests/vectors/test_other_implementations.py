"""What this ledger writes is judged by programs that others wrote, and an altered copy is refused by them too."""

from __future__ import annotations

import base64
import copy
import importlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError as ThresholdError

from ledger.dsse import statement_pae
from ledger.errors import LedgerError, MalformedError, PolicyError, SignatureError
from ledger.keys import PublicKey, parse_private_key, parse_public_key_file
from ledger.receipt import decode_receipt, file_digest
from ledger.statement import export_envelope, sign_statement
from tests.vectors import golden_ledger as golden
from tests.vectors.outside_tools import missing, need, output, status

if TYPE_CHECKING:
    from collections.abc import Callable

GO_SOURCE = Path(__file__).parent / "go" / "main.go"
GO_ENVIRONMENT = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOFLAGS": ""}  # where Debian puts Go packages


# DSSE, by securesystemslib

SIGNER: Any = importlib.import_module("securesystemslib.signer")  # exports its names, but not to type checkers


def accepted_by_securesystemslib(document: dict[str, Any], *keys: PublicKey, threshold: int = 1) -> bool:
    # `from_dict` alters its argument.
    envelope = Envelope.from_dict(copy.deepcopy(document))
    known = [SIGNER.SSlibKey.from_crypto(Ed25519PublicKey.from_public_bytes(key.raw), keyid=key.keyid) for key in keys]
    try:
        envelope.verify(known, threshold)
    except ThresholdError:
        return False
    return True


def exported(index: int, *signers: str) -> dict[str, Any]:
    statement = decode_receipt(golden.read(golden.RECEIPTS[index])).statement
    signed = sign_statement(statement, [golden.KEYS[who] for who in signers])
    document: dict[str, Any] = json.loads(export_envelope(signed))
    return document


@pytest.mark.parametrize("index", range(3))
def test_an_exported_envelope_verifies_with_securesystemslib(index: int) -> None:
    document = exported(index, "scorer")
    assert accepted_by_securesystemslib(document, golden.KEYS["scorer"].public)
    assert not accepted_by_securesystemslib(document, golden.KEYS["root"].public)


def test_an_envelope_of_two_signers_meets_a_threshold_of_two_with_securesystemslib() -> None:
    known = [golden.KEYS[who].public for who in ("root", "scorer", "ledger")]
    assert accepted_by_securesystemslib(exported(1, "root", "scorer"), *known, threshold=2)
    assert not accepted_by_securesystemslib(exported(1, "root"), *known, threshold=2)


@pytest.mark.parametrize("index", range(3))
def test_an_altered_envelope_is_refused_by_securesystemslib(index: int) -> None:
    document = exported(index, "scorer")
    payload = bytearray(base64.b64decode(document["payload"]))
    payload[-2] ^= 1
    signature = bytearray(base64.b64decode(document["signatures"][0]["sig"]))
    signature[0] ^= 1
    entry = {"keyid": document["signatures"][0]["keyid"], "sig": base64.b64encode(signature).decode()}
    for change in (
        {"payload": base64.b64encode(payload).decode()},
        {"payloadType": "application/vnd.in-toto+jsoN"},
        {"signatures": [entry]},
    ):
        assert not accepted_by_securesystemslib({**document, **change}, golden.KEYS["scorer"].public)


# Canonical JSON, by rfc8785


@pytest.mark.parametrize("index", range(3))
def test_the_receipt_and_its_statement_have_the_bytes_that_rfc8785_gives(index: int) -> None:
    raw = golden.read(golden.RECEIPTS[index])
    value = json.loads(raw)
    assert rfc8785.dumps(value) + b"\n" == raw
    assert rfc8785.dumps(value["statement"]) == decode_receipt(raw).statement.raw


# Checkpoints and proofs, by Go's golang.org/x/mod


@pytest.fixture(scope="session")
def go_checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("go")
    if not (Path(GO_ENVIRONMENT["GOPATH"]) / "src/golang.org/x/mod/sumdb/note").is_dir():
        missing("the Go package golang.org/x/mod")
    folder = tmp_path_factory.mktemp("go")
    shutil.copy(GO_SOURCE, folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**GO_ENVIRONMENT, "GOCACHE": str(folder / "cache")}.items():
            patch.setitem(os.environ, name, value)
        assert status("go", "build", "-o", folder / "checker", "main.go", cwd=folder) == 0
    return folder / "checker"


@pytest.fixture
def go(go_checker: Path, tmp_path: Path) -> Callable[..., int]:
    """Run the checker with the golden verifier key on byte strings; gives its exit status."""
    (tmp_path / "vkey").write_text(golden.LEDGER_KEY.vkey + "\n")

    def run(question: str, *inputs: bytes) -> int:
        paths = [tmp_path / f"input{at}" for at in range(len(inputs))]
        for path, raw in zip(paths, inputs, strict=True):
            path.write_bytes(raw)
        return status(go_checker, tmp_path / "vkey", question, *paths)

    return run


def altered(raw: bytes, at: int, bit: int = 0) -> bytes:
    copied = bytearray(raw)
    copied[at] ^= 1 << bit
    return bytes(copied)


@pytest.mark.parametrize("name", golden.CHECKPOINTS)
def test_go_accepts_a_checkpoint_and_refuses_an_altered_one(go: Callable[..., int], name: str) -> None:
    raw = golden.read(name)
    assert go("checkpoint", raw) == 0
    for at in (0, raw.index(b"\n") + 1, raw.index(b"=\n"), raw.rindex(b" ") + 1, raw.rindex(b" ") + 9):
        assert go("checkpoint", altered(raw, at)) == 1


@pytest.mark.parametrize("index", range(3))
def test_go_accepts_a_proof_bundle_and_refuses_an_altered_one(go: Callable[..., int], index: int) -> None:
    raw = golden.read(golden.PROOFS[index])
    lines = raw.split(b"\n")
    assert go("inclusion", raw) == 0
    position = raw.index(b"\nindex ")
    for at in (raw.index(b"extra ") + 40, position + 9, position + 20, raw.rindex(b" ") + 20):
        assert go("inclusion", altered(raw, at)) == 1
    other = b"index %d" % ((index + 1) % 3)
    assert go("inclusion", b"\n".join([*lines[:2], other, *lines[3:]])) == 1
    assert go("inclusion", b"\n".join([*lines[:3], *lines[4:]])) == 1
    assert go("inclusion", b"\n".join([*lines[:3], lines[3], *lines[3:]])) == 1


def test_go_refuses_the_proof_of_one_receipt_for_another(go: Callable[..., int]) -> None:
    first, second = (golden.read(name).split(b"\n") for name in golden.PROOFS[:2])
    assert go("inclusion", b"\n".join([first[0], second[1], *first[2:]])) == 1


def test_go_accepts_the_growth_of_the_ledger_and_refuses_another_proof(go: Callable[..., int]) -> None:
    old, new = golden.read("checkpoint.2"), golden.read("receipts/checkpoint")
    proof = "\n".join(golden.FACTS["consistency_2_3"]).encode() + b"\n"
    assert go("growth", old, new, proof) == 0
    assert go("growth", new, old, proof) == 1
    assert go("growth", old, new, b"") == 1
    assert go("growth", old, new, proof + proof) == 1
    assert go("growth", old, new, base64.b64encode(bytes(32)) + b"\n") == 1


def test_the_go_checker_itself_tells_wrong_usage_from_a_refusal(go: Callable[..., int]) -> None:
    assert go("neither") == 2


# Keys, by ssh-keygen; signatures, by openssl


@pytest.mark.parametrize("who", ["root", "scorer", "ledger"])
def test_ssh_keygen_shows_the_same_key_id_and_derives_the_same_public_key(who: str, tmp_path: Path) -> None:
    need("ssh-keygen")
    key = golden.KEYS[who]
    private, public = tmp_path / "key", tmp_path / "key.pub"
    public.write_text(f"{key.public.openssh} a comment\n")
    private.write_bytes(key.to_openssh())
    private.chmod(0o600)
    assert output("ssh-keygen", "-lf", public).split()[:2] == ["256", key.public.keyid]
    assert output("ssh-keygen", "-yf", private).split()[:2] == key.public.openssh.split()


@pytest.mark.parametrize(
    "cipher", ["none", "aes256-ctr", "aes256-cbc", "aes256-gcm@openssh.com"], ids=["plain", "ctr", "cbc", "gcm"]
)
def test_a_key_of_ssh_keygen_is_read_with_the_right_passphrase_only(cipher: str, tmp_path: Path) -> None:
    need("ssh-keygen")
    secret = "" if cipher == "none" else "correct"
    options = [] if cipher == "none" else ["-Z", cipher, "-a", "1"]
    path = tmp_path / "key"
    assert status("ssh-keygen", "-q", "-t", "ed25519", "-C", "me@here", "-N", secret, *options, "-f", path) == 0
    key = parse_private_key(path.read_bytes(), secret.encode)
    assert key.public == parse_public_key_file(path.with_suffix(".pub").read_bytes())
    if secret:
        for wrong in (lambda: b"wrong", lambda: b"", lambda: None, None):
            with pytest.raises(PolicyError) as caught:
                parse_private_key(path.read_bytes(), wrong)
            assert caught.value.code == "E_PASSPHRASE"


def test_a_cipher_that_cannot_be_opened_is_not_blamed_on_the_passphrase(tmp_path: Path) -> None:
    need("ssh-keygen")
    path = tmp_path / "key"
    options = ["-Z", "chacha20-poly1305@openssh.com", "-a", "1"]
    assert status("ssh-keygen", "-q", "-t", "ed25519", "-N", "correct", *options, "-f", path) == 0
    with pytest.raises(LedgerError) as caught:
        parse_private_key(path.read_bytes(), lambda: b"correct")
    assert "chacha20-poly1305@openssh.com" in str(caught.value)


@pytest.mark.parametrize("kind", [["ecdsa"], ["rsa", "-b", "1024"]], ids=["ecdsa", "rsa"])
def test_a_key_of_another_kind_is_refused(kind: list[str], tmp_path: Path) -> None:
    need("ssh-keygen")
    path = tmp_path / "key"
    assert status("ssh-keygen", "-q", "-t", *kind, "-N", "", "-f", path) == 0
    with pytest.raises(MalformedError):
        parse_private_key(path.read_bytes())
    with pytest.raises(MalformedError):
        parse_public_key_file(path.with_suffix(".pub").read_bytes())


@pytest.mark.parametrize("index", range(3))
def test_openssl_verifies_the_signature_of_a_receipt_and_refuses_an_altered_one(index: int, tmp_path: Path) -> None:
    need("openssl")
    receipt = decode_receipt(golden.read(golden.RECEIPTS[index]))
    item = receipt.signed.signatures[0]
    public = Ed25519PublicKey.from_public_bytes(golden.KNOWN[item.keyid].raw)
    (tmp_path / "key.pem").write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    message = statement_pae(receipt.statement.raw)

    def verify(message: bytes, signature: bytes) -> int:
        (tmp_path / "message").write_bytes(message)
        (tmp_path / "signature").write_bytes(signature)
        options = ["-verify", "-pubin", "-inkey", "key.pem", "-rawin", "-in", "message", "-sigfile", "signature"]
        return status("openssl", "pkeyutl", *options, cwd=tmp_path)

    assert verify(message, item.sig) == 0
    assert verify(altered(message, len(message) - 1), item.sig) == 1
    assert verify(altered(message, 7), item.sig) == 1
    assert verify(message, altered(item.sig, 5)) == 1


def test_openssl_signs_what_the_ledger_accepts(tmp_path: Path) -> None:
    need("openssl")
    assert status("openssl", "genpkey", "-algorithm", "ed25519", "-out", "key.pem", cwd=tmp_path) == 0
    der = ["-pubout", "-outform", "DER", "-out", "key.der"]
    assert status("openssl", "pkey", "-in", "key.pem", *der, cwd=tmp_path) == 0
    (tmp_path / "message").write_bytes(b"any message")
    options = ["-sign", "-inkey", "key.pem", "-rawin", "-in", "message", "-out", "signature"]
    assert status("openssl", "pkeyutl", *options, cwd=tmp_path) == 0
    public = PublicKey((tmp_path / "key.der").read_bytes()[-32:])
    signature = (tmp_path / "signature").read_bytes()
    public.verify(signature, b"any message")
    with pytest.raises(SignatureError):
        public.verify(signature, b"another message")


@pytest.mark.parametrize("index", range(3))
def test_sha256sum_gives_the_prev_of_the_next_receipt(index: int) -> None:
    need("sha256sum")
    found = output("sha256sum", golden.FOLDER / golden.RECEIPTS[index]).split()[0]
    assert found == file_digest(golden.read(golden.RECEIPTS[index])).hex()
    if index < 2:
        assert decode_receipt(golden.read(golden.RECEIPTS[index + 1])).seal.prev == found
