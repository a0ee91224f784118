"""The golden ledger: its files, its keys, and a check of all its bytes with the ledger's own functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger.checkpoint import Checkpoint, open_checkpoint
from ledger.errors import ChainError, RootMismatchError, SignatureError
from ledger.keys import PrivateKey
from ledger.merkle import Tree
from ledger.note import parse_vkey
from ledger.receipt import NO_PREV, decode_receipt, file_digest
from ledger.statement import SignedStatement, verify_signature

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parent / "golden"
FACTS: dict[str, Any] = json.loads((FOLDER / "golden.json").read_bytes())
KEYS = {who: PrivateKey.from_seed(bytes.fromhex(seed)) for who, seed in FACTS["seeds"].items()}
KNOWN = {key.public.keyid: key.public for key in KEYS.values()}
LEDGER_KEY = parse_vkey(FACTS["vkey"])
RECEIPTS = [f"receipts/000/000/{index:03d}.json" for index in range(3)]
CHECKPOINTS = ["receipts/checkpoint", "checkpoint.2"]
PROOFS = [f"{index}.tlog-proof" for index in range(3)]
ENVELOPES = [f"dsse/{index}.json" for index in range(3)]


def read(name: str) -> bytes:
    """One file of the golden ledger."""
    return (FOLDER / name).read_bytes()


def read_receipts() -> list[bytes]:
    """The receipt files in order."""
    return [read(name) for name in RECEIPTS]


def check_signatures(signed: SignedStatement) -> None:
    """Verify every signature under the known key of its key id.

    Raises:
        SignatureError: ``E_KEY_UNKNOWN`` when the key id is nobody's, ``E_SIGNATURE`` when a signature is wrong.
    """
    for item in signed.signatures:
        if item.keyid not in KNOWN:
            raise SignatureError("E_KEY_UNKNOWN", f"nobody has the key {item.keyid}")
        verify_signature(signed.statement, item, KNOWN[item.keyid])


def check_chain(files: Sequence[bytes]) -> list[SignedStatement]:
    """Decode the receipts and follow the seals.

    Raises:
        LedgerError: of the first layer that refuses.
    """
    prev, signed = NO_PREV, []
    for index, raw in enumerate(files):
        receipt = decode_receipt(raw)
        if (receipt.seal.index, receipt.seal.prev) != (index, prev):
            raise ChainError("E_CHAIN", "the seal does not follow", index=index)
        prev = file_digest(raw).hex()
        signed.append(receipt.signed)
    return signed


def check_ledger(files: Sequence[bytes], checkpoint: bytes) -> Checkpoint:
    """Verify the ledger end to end: signed checkpoint, receipts, seals, root, producers' signatures.

    Raises:
        LedgerError: of the first layer that refuses.
    """
    opened = open_checkpoint(checkpoint, LEDGER_KEY)
    statements = check_chain(files)
    tree = Tree(file_digest(raw) for raw in files)
    if (len(tree), tree.root()) != (opened.size, opened.root):
        raise RootMismatchError("E_ROOT", "the receipts do not give the signed root")
    for signed in statements:
        check_signatures(signed)
    return opened
