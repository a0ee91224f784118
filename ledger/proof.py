"""C2SP proof bundles (``.tlog-proof``): one file that proves one receipt, offline.

    c2sp.org/tlog-proof@v1
    extra <base64 of the receipt file>
    index 2
    <base64 hash, leaf sibling first>
    …

    <signed checkpoint>

``extra`` is not authenticated by the format; here it is, because the leaf is computed from it.

Source: github.com/C2SP/C2SP tlog-proof.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.checkpoint import Checkpoint, open_checkpoint, parse_checkpoint
from ledger.errors import MalformedError, ProofError
from ledger.merkle import HASH_SIZE, check_inclusion, leaf_hash
from ledger.receipt import Receipt, decode_receipt, file_digest
from ledger.strict import b64decode, b64encode, parse_decimal

if TYPE_CHECKING:
    from ledger.note import NoteKey

_HEAD = "c2sp.org/tlog-proof@v1"
_MAX_HASHES = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofBundle:
    """A receipt file, its index, the inclusion proof and the signed checkpoint."""

    receipt: bytes
    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes


def encode_proof(bundle: ProofBundle) -> bytes:
    """The bytes of a bundle."""
    lines = [_HEAD, f"extra {b64encode(bundle.receipt)}", f"index {bundle.index}"]
    lines += [b64encode(digest) for digest in bundle.hashes]
    return ("\n".join(lines) + "\n\n").encode() + bundle.checkpoint


def decode_proof(raw: bytes) -> ProofBundle:
    """Inverse of `encode_proof`; verifies nothing.

    Raises:
        MalformedError: ``E_PROOF_FILE``, or what the readers of its parts raise.
    """
    head, blank, checkpoint = raw.partition(b"\n\n")
    try:
        lines = head.decode("ascii").split("\n")
    except UnicodeDecodeError as err:
        raise MalformedError("E_PROOF_FILE", f"not ASCII at byte {err.start}") from err
    if not blank or lines[0] != _HEAD:
        raise MalformedError("E_PROOF_FILE", f"expected a file that starts with {_HEAD}")
    values = lines[1:]
    if len(values) < 2 or not values[0].startswith("extra ") or not values[1].startswith("index "):  # noqa: PLR2004
        raise MalformedError("E_PROOF_FILE", "expected a line 'extra …' with the receipt and a line 'index …'")
    if len(values) - 2 > _MAX_HASHES:
        raise MalformedError("E_PROOF_FILE", f"more than {_MAX_HASHES} hashes")
    parse_checkpoint(checkpoint)
    return ProofBundle(
        receipt=b64decode(values[0].removeprefix("extra "), what="extra"),
        index=parse_decimal(values[1].removeprefix("index "), what="index"),
        hashes=tuple(b64decode(line, length=HASH_SIZE, what="proof hash") for line in values[2:]),
        checkpoint=checkpoint,
    )


def check_proof(bundle: ProofBundle, key: NoteKey) -> tuple[Receipt, Checkpoint]:
    """Verify a bundle under the ledger's key.

    Proves that the ledger committed to this receipt at this index. It does not verify the producer's signature.

    Raises:
        MalformedError: the receipt or the checkpoint is not one.
        SignatureError: the checkpoint is not signed by `key`.
        ProofError: the receipt is not in the tree, or its seal names another index (``E_INDEX``).
    """
    checkpoint = open_checkpoint(bundle.checkpoint, key)
    receipt = decode_receipt(bundle.receipt)
    if receipt.seal.index != bundle.index:
        raise ProofError("E_INDEX", f"the proof is for index {bundle.index}, the seal says {receipt.seal.index}")
    leaf = leaf_hash(file_digest(bundle.receipt))
    check_inclusion(bundle.index, checkpoint.size, leaf, bundle.hashes, checkpoint.root)
    return receipt, checkpoint
