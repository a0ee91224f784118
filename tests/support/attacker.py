"""What somebody can do who holds keys: sign any statement, seal any receipt, chain and commit it all anew.

`Forgery` has no rules of its own. It numbers statements as an honest producer would unless it is told otherwise: each
test then makes exactly the defect that it names.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import orjson

from ledger.checkpoint import Checkpoint, sign_checkpoint
from ledger.merkle import Tree
from ledger.receipt import NO_PREV, Receipt, Seal, decode_receipt, encode_receipt, file_digest
from ledger.statement import Basis, Producer, SignedStatement, Statement, build_statement, sign_statement
from tests.support.files import checkpoint_path, read_receipts, write_receipts
from tests.support.ledgers import LEDGER, ORIGIN
from tests.support.rounds import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ledger.canonical import JsonObject
    from ledger.keys import PrivateKey

LATER = "2026-11-29T21:00:00Z"

__all__ = ["LATER", "Forgery", "chain_anew", "commit", "restate"]


def dump(value: object) -> bytes:
    """Sorted and compact, whatever the value: also floats, which the ledger's own encoder refuses."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def restate(statement: Statement, edit: Callable[[JsonObject], None]) -> Statement:
    """The statement with its value edited."""
    value = copy.deepcopy(statement.value)
    edit(value)
    return Statement(raw=dump(value), value=value)


_PREV = re.compile(rb'"prev":"[0-9a-f]{64}"')


def chain_anew(files: Sequence[bytes]) -> list[bytes]:
    """The receipt files with every `prev` made to fit, as anybody can do without a key."""
    chained: list[bytes] = []
    prev = NO_PREV
    for raw in files:
        chained.append(_PREV.sub(b'"prev":"%b"' % prev.encode(), raw, count=1))
        prev = file_digest(chained[-1]).hex()
    return chained


def commit(folder: Path, files: Sequence[bytes], *, key: PrivateKey = LEDGER, origin: str = ORIGIN) -> None:
    """Write receipt files and a checkpoint over exactly them."""
    write_receipts(folder, files)
    tree = Tree(file_digest(raw) for raw in files)
    checkpoint = Checkpoint(origin=origin, size=len(tree), root=tree.root())
    checkpoint_path(folder).write_bytes(sign_checkpoint(checkpoint, key))


@dataclass(slots=True)
class Forgery:
    """A ledger's receipts, without their seals: to be changed and sealed again.

    Attributes:
        folder: the ledger.
        signed: the statements in order.
        times: their times of sealing.
    """

    folder: Path
    signed: list[SignedStatement]
    times: list[str]

    @classmethod
    def of(cls, folder: Path) -> Forgery:
        """Read a ledger."""
        receipts = [decode_receipt(raw) for raw in read_receipts(folder)]
        return cls(folder, [each.signed for each in receipts], [each.seal.sealed_at for each in receipts])

    def files(self) -> list[bytes]:
        """The receipt files that these statements make."""
        files: list[bytes] = []
        prev = NO_PREV
        for index, (signed, time) in enumerate(zip(self.signed, self.times, strict=True)):
            seal = Seal(index=index, prev=prev, sealed_at=time)
            files.append(encode_receipt(Receipt(seal=seal, signed=signed)))
            prev = file_digest(files[-1]).hex()
        return files

    def seal(self, *, key: PrivateKey = LEDGER) -> None:
        """Write the ledger, with a checkpoint by its key."""
        commit(self.folder, self.files(), key=key)

    def basis(self, size: int | None = None) -> Basis:
        """The state after the first `size` receipts; after all when none is given."""
        files = self.files()[:size]
        return Basis(tree_size=len(files), root=Tree(file_digest(raw) for raw in files).root())

    def producer(self, key: PrivateKey) -> Producer:
        """The next number of a key."""
        keyid = key.public.keyid
        own = [each.statement for each in self.signed if each.statement.predicate["producer"]["keyid"] == keyid]
        return Producer(keyid=keyid, seq=len(own), prev=own[-1].identity if own else None)

    def state(
        self,
        kind: str,
        body: JsonObject,
        *signers: PrivateKey,
        basis: Basis | None = None,
        producer: Producer | None = None,
        edit: Callable[[JsonObject], None] = lambda _: None,
    ) -> SignedStatement:
        """Make and sign a statement: what an honest producer would say, but for what is given.

        Args:
            kind: kind of the statement.
            body: what it says.
            signers: who signs; the first is the producer.
            basis: the state that it names.
            producer: its number.
            edit: changes the value before it is signed.
        """
        if kind in ("round", "incident"):
            arm = body["arms"][0]
            subject = arm["role"], arm["code_sha256"]
        else:
            subject = "ledger", sha256_hex(ORIGIN)
        statement = build_statement(
            kind,
            body,
            subject=subject,
            basis=basis or self.basis(),
            producer=producer or self.producer(signers[0]),
        )
        return sign_statement(restate(statement, edit), signers)

    def add(self, signed: SignedStatement, *, at: str = LATER) -> None:
        """Put a statement at the end."""
        self.signed.append(signed)
        self.times.append(at)

    def drop(self, index: int) -> None:
        """Take a statement out."""
        del self.signed[index], self.times[index]

    def alter(self, index: int, edit: Callable[[JsonObject], None], *signers: PrivateKey) -> None:
        """Edit a statement; its old signatures stay unless somebody signs it again."""
        before = self.signed[index]
        after = restate(before.statement, edit)
        self.signed[index] = sign_statement(after, signers) if signers else replace(before, statement=after)
