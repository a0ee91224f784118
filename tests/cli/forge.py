"""What a ledger's holder could do without the program: seal anything at all, with all hashes and the root right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ledger.checkpoint import Checkpoint, sign_checkpoint
from ledger.keys import parse_private_key
from ledger.merkle import Tree
from ledger.receipt import Receipt, Seal, encode_receipt, file_digest
from ledger.statement import Basis, Producer, Statement, build_statement, sign_statement
from tests.cli.conftest import ORIGIN

if TYPE_CHECKING:
    from tests.cli.conftest import Desk


def seal_anything(
    desk: Desk,
    kind: str,
    body: Any,  # noqa: ANN401 - anything is the point
    *,
    by: str = "scorer",
    seq: int = 0,
    sealed_at: str = "2099-01-01T00:00:00Z",
    edit: dict[str, str] | None = None,
) -> int:
    """Seal a statement that nobody judged, and sign a checkpoint over it.

    Args:
        desk: the ledger.
        kind: kind of the statement.
        body: what it says.
        by: name of the key that signs it.
        seq: number that its producer gives it.
        sealed_at: time of the seal.
        edit: parts of the statement's text to replace before it is signed.

    Returns:
        Index of the receipt.
    """
    files = [desk.receipt(index).read_bytes() for index in range(desk.size)]
    tree = Tree(file_digest(raw) for raw in files)
    signer = parse_private_key(desk.key(by).read_bytes())
    statement = build_statement(
        kind,
        body,
        subject=("candidate", "b" * 64),
        basis=Basis(tree_size=desk.size, root=tree.root()),
        producer=Producer(keyid=signer.public.keyid, seq=seq, prev=None),
    )
    raw = statement.raw
    for old, new in (edit or {}).items():
        assert old.encode() in raw
        raw = raw.replace(old.encode(), new.encode())
    signed = sign_statement(Statement(raw=raw, value=json.loads(raw)), [signer])
    seal = Seal(index=desk.size, prev=file_digest(files[-1]).hex(), sealed_at=sealed_at)
    sealed = encode_receipt(Receipt(seal=seal, signed=signed))
    index = desk.size
    desk.receipt(index).write_bytes(sealed)
    tree.append(file_digest(sealed))
    checkpoint = Checkpoint(origin=ORIGIN, size=index + 1, root=tree.root())
    key = parse_private_key(desk.key("ledger").read_bytes())
    (desk.root / "receipts" / "checkpoint").write_bytes(sign_checkpoint(checkpoint, key))
    return index
