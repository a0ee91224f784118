"""What any verifier must do with the same files: read them, hash them, verify one Ed25519 signature over each."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl.bindings import crypto_sign_open

from ledger.dsse import statement_pae
from ledger.receipt import decode_receipt
from tests.bench.rounds import ROOT_KEY, SCORER_KEY, receipt_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class Signed(NamedTuple):
    """A receipt file, and what is needed to verify its signature without parsing it."""

    path: str
    start: int
    signature: bytes
    key: Ed25519PublicKey
    raw_key: bytes


def prepare(folder: Path) -> list[Signed]:
    """Find in every receipt what the floors need; not measured."""
    keys = {key.public.keyid: key.public.raw for key in (ROOT_KEY, SCORER_KEY)}
    loaded = {keyid: Ed25519PublicKey.from_public_bytes(raw) for keyid, raw in keys.items()}
    found = []
    for path in receipt_files(folder):
        raw = path.read_bytes()
        receipt = decode_receipt(raw)
        (signature,) = receipt.signed.signatures
        start = len(raw) - len(b"}\n") - len(receipt.statement.raw)
        found.append(Signed(str(path), start, signature.sig, loaded[signature.keyid], keys[signature.keyid]))
    return found


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as handle:  # noqa: PTH123 - the floor pays for no Path
        return handle.read()


def read_and_hash(files: Sequence[Signed]) -> None:
    """SHA-256 of every file."""
    for item in files:
        hashlib.sha256(_read(item.path)).digest()


def read_hash_and_verify(files: Sequence[Signed]) -> None:
    """The same, and every signature by `cryptography`."""
    for item in files:
        raw = _read(item.path)
        hashlib.sha256(raw).digest()
        item.key.verify(item.signature, statement_pae(raw[item.start : -2]))


def read_hash_and_verify_fast(files: Sequence[Signed]) -> None:
    """The same, and every signature by libsodium."""
    for item in files:
        raw = _read(item.path)
        hashlib.sha256(raw).digest()
        crypto_sign_open(item.signature + statement_pae(raw[item.start : -2]), item.raw_key)
